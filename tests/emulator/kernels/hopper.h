// Thin wrappers over the PTX of mbarriers, bulk copies and proxy fences.
__device__ __forceinline__ unsigned shared(const void* p) {
    return (unsigned)__cvta_generic_to_shared(p);
}
__device__ __forceinline__ void init(unsigned long long* b, int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(shared(b)), "r"(count)
                 : "memory");
}
__device__ __forceinline__ void expect(unsigned long long* b, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :: "r"(shared(b)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void arrive(unsigned long long* b) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(shared(b)) : "memory");
}
__device__ __forceinline__ void wait(unsigned long long* b, int parity) {
    asm volatile("{\n.reg .pred p;\nAGAIN:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
                 "@p bra DONE;\nbra AGAIN;\nDONE:\n}" :: "r"(shared(b)), "r"(parity) : "memory");
}
__device__ __forceinline__ void proxy_fence() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
__device__ __forceinline__ void bulk_load(void* to, const void* from, int bytes,
                                          unsigned long long* b) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1], %2, [%3];"
                 :: "r"(shared(to)), "l"(from), "r"(bytes), "r"(shared(b)) : "memory");
}
__device__ __forceinline__ void bulk_store(void* to, const void* from, int bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                 :: "l"(to), "r"(shared(from)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void bulk_commit() {
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
template <int N> __device__ __forceinline__ void bulk_wait_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" :: "n"(N) : "memory");
}
struct __align__(64) TensorMap { char bytes[128]; };
__device__ __forceinline__ void tensor_load(void* to, const TensorMap* map, int x, int y,
                                            unsigned long long* b) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%2, %3}], [%4];"
                 :: "r"(shared(to)), "l"(map), "r"(x), "r"(y), "r"(shared(b)) : "memory");
}
__device__ __forceinline__ void tensor_store(const TensorMap* map, int x, int y,
                                             const void* from) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];"
                 :: "l"(map), "r"(x), "r"(y), "r"(shared(from)) : "memory");
}
