/* The same text stands in every header that this version of prismc writes: it finds the driver,
   chooses an image for the device and checks a launch. Names that end in `_` are its own. */
#ifndef PRISM_RUNTIME
#define PRISM_RUNTIME 1

#ifndef __GNUC__
#error "the launch functions are written for gcc and clang"
#endif

#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef PRISM_USE_CUDART
#include <cuda_runtime_api.h>
#else
#include <dlfcn.h>
#endif
#ifdef __cplusplus
#include <type_traits>
#define PRISM_ASSERT_ static_assert
#else
#define PRISM_ASSERT_ _Static_assert
#endif

/* Arguments are checked at each launch, unless the program is built with NDEBUG. */
#ifndef PRISM_CHECKS
#ifdef NDEBUG
#define PRISM_CHECKS 0
#else
#define PRISM_CHECKS 1
#endif
#endif

/* One variable in the whole program, and functions of each unit, however many units there are. */
#define PRISM_ONE_(...) extern __VA_ARGS__; __attribute__((weak)) __VA_ARGS__
#define PRISM_INLINE_ static inline __attribute__((unused))

PRISM_ASSERT_(sizeof(void *) == 8 && sizeof(float) == 4 && sizeof(double) == 8, "a 64-bit host");
PRISM_ASSERT_(sizeof(bool) == 1, "a bool of one byte, as the kernels have it");

/* ------------------------------------------------------------------ what every program sees */

typedef enum prism_status {
    PRISM_OK = 0,
    PRISM_NO_DRIVER,      /* no CUDA driver on this machine, or one that is too old */
    PRISM_NO_CONTEXT,     /* no CUDA context is current in this thread */
    PRISM_NO_TARGET,      /* the kernel was not built for this device */
    PRISM_NO_IMAGE,       /* the file to load the kernel from is missing or is no image */
    PRISM_STALE,          /* the header is not of the same build as the image */
    PRISM_WRONG_GRID,     /* no blocks, too many, or no multiple of the cluster */
    PRISM_WRONG_BLOCK,    /* threads were named that are not the kernel's */
    PRISM_WRONG_ARGUMENT, /* a misaligned or shared pointer, an `@assume` that does not hold */
    PRISM_TOO_MUCH_SHARED,/* more shared memory than a block of this device may have */
    PRISM_CUDA_ERROR      /* the driver refused; `prism_message()` has its words */
} prism_status;

typedef struct CUstream_st *prism_stream; /* the type of CUstream and of cudaStream_t */

/* The blocks of a launch. A launch that also names the threads of a block is checked against the
   kernel's; 0 means "those of the kernel". */
typedef struct prism_grid {
    unsigned blocks;
    unsigned threads;
#ifdef __cplusplus
    prism_grid(unsigned blocks_, unsigned threads_ = 0) : blocks(blocks_), threads(threads_) {}
#endif
} prism_grid;

#ifndef __cplusplus
PRISM_INLINE_ prism_grid prism_blocks(unsigned blocks)
{
    prism_grid grid = {blocks, 0};
    return grid;
}
#endif

/* Floats that C lacks, as their bits. In C++ CUDA's own types are taken in their place. */
typedef struct prism_f16 { uint16_t bits; } prism_f16;
typedef struct prism_bf16 { uint16_t bits; } prism_bf16;
typedef struct prism_f8e4m3 { uint8_t bits; } prism_f8e4m3;
typedef struct prism_f8e5m2 { uint8_t bits; } prism_f8e5m2;

/* What cuTensorMapEncodeTiled writes; in C++ a CUtensorMap is taken in its place. */
typedef struct __attribute__((aligned(128))) prism_tensor_map { uint64_t opaque[16]; }
    prism_tensor_map;

PRISM_ONE_(__thread char prism_message_[640]);

/* What the last call of this thread that failed has to say. */
PRISM_INLINE_ const char *prism_message(void)
{
    return prism_message_;
}

__attribute__((format(printf, 2, 3)))
PRISM_INLINE_ prism_status prism_fail_(prism_status status, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(prism_message_, sizeof prism_message_, format, values);
    va_end(values);
    return status;
}

/* ------------------------------------------------------------------ arguments */

/* Each parameter has a type of its own, so that two of them cannot be swapped. */
#ifdef __cplusplus
template <class Ours, class Theirs> struct prism_same_ : std::false_type {};
template <class Ours, class Theirs>
struct prism_same_<const Ours, const Theirs> : prism_same_<Ours, Theirs> {};
template <class Ours, class Theirs>
struct prism_same_<const Ours, Theirs> : prism_same_<Ours, Theirs> {};
struct __half;
struct __nv_bfloat16;
struct __nv_fp8_e4m3;
struct __nv_fp8_e5m2;
struct CUtensorMap_st;
template <> struct prism_same_<prism_f16, __half> : std::true_type {};
template <> struct prism_same_<prism_bf16, __nv_bfloat16> : std::true_type {};
template <> struct prism_same_<prism_f8e4m3, __nv_fp8_e4m3> : std::true_type {};
template <> struct prism_same_<prism_f8e5m2, __nv_fp8_e5m2> : std::true_type {};
template <> struct prism_same_<prism_tensor_map, CUtensorMap_st> : std::true_type {};
template <class Ours, class Theirs>
using prism_if_same_ = typename std::enable_if<prism_same_<Ours, Theirs>::value>::type;

#define PRISM_VALUE_(name, type)                                                                  \
    struct name {                                                                                 \
        type value;                                                                               \
        explicit name(type given) : value(given) {}                                               \
        template <class Theirs, class = prism_if_same_<type, Theirs>>                             \
        explicit name(const Theirs &given) : value()                                              \
        {                                                                                         \
            static_assert(sizeof(Theirs) == sizeof(type), "another size");                        \
            memcpy(&value, &given, sizeof value);                                                 \
        }                                                                                         \
    };
#define PRISM_POINTER_(name, type)                                                                \
    struct name {                                                                                 \
        type *value;                                                                              \
        explicit name(type *given) : value(given) {}                                              \
        template <class Theirs, class = prism_if_same_<type, Theirs>>                             \
        explicit name(Theirs *given) : value(reinterpret_cast<type *>(given)) {}                  \
    };
#else
#define PRISM_VALUE_(name, type)                                                                  \
    struct name { type value; };                                                                  \
    PRISM_INLINE_ struct name name(type value)                                                    \
    {                                                                                             \
        struct name argument = {value};                                                           \
        return argument;                                                                          \
    }
#define PRISM_POINTER_(name, type) PRISM_VALUE_(name, type *)
#endif

/* ------------------------------------------------------------------ what a module is */

typedef struct prism_parameter_ {
    const char *name;
    unsigned size, alignment;
    unsigned points_to; /* the size and alignment of what a pointer points to; 0 for a value */
    unsigned is_written; /* whether the kernel may write it */
} prism_parameter_;

typedef struct prism_kernel_ {
    const char *name;
    unsigned threads, cluster, cooperative;
    unsigned parameter_count;
    const prism_parameter_ *parameters;
    const unsigned *dynamic_shared; /* bytes, for each target */
} prism_kernel_;

/* `kind` is 'a' or 'f' for code of one architecture or one family, else ' '. */
typedef struct prism_target_ {
    const char *name;
    int number;
    char kind;
} prism_target_;

/* Machine code, or PTX where `ptx_version` (95 for 9.5) is not 0, for target number `target`. */
typedef struct prism_image_ {
    int target;
    int ptx_version;
    const void *data;
} prism_image_;

typedef struct prism_images_ {
    const char *signature;
    int count;
    const prism_image_ *images;
} prism_images_;

enum { PRISM_CONTEXTS_ = 64 };

typedef struct prism_slot_ {
    struct CUctx_st *context;
    unsigned long long id;
    struct CUmod_st *module;
    int device;
    int target;
} prism_slot_;

typedef struct prism_state_ {
    int lock;
    unsigned next;
    void *file;
    prism_slot_ slots[PRISM_CONTEXTS_];
} prism_state_;

typedef struct prism_module_ {
    const char *name;
    const char *signature;
    int target_count;
    unsigned kernel_count;
    const prism_target_ *targets;
    const prism_kernel_ *kernels;
    const prism_images_ *images; /* null where they come from a file */
    prism_state_ *state;
    struct CUfunc_st **functions; /* of each kernel, for each slot */
} prism_module_;

/* ------------------------------------------------------------------ the driver */

/* Field, name, suffix of today's version, the CUDA version that brought it, parameters (cuda.h). */
#define PRISM_DRIVER_(X)                                                                          \
    X(init, "cuInit", "", 2000, (unsigned))                                                       \
    X(version, "cuDriverGetVersion", "", 2020, (int *))                                           \
    X(error, "cuGetErrorString", "", 6000, (int, const char **))                                  \
    X(device, "cuDeviceGet", "", 2000, (int *, int))                                              \
    X(device_name, "cuDeviceGetName", "", 2000, (char *, int, int))                               \
    X(device_attribute, "cuDeviceGetAttribute", "", 2000, (int *, int, int))                      \
    X(retain, "cuDevicePrimaryCtxRetain", "", 7000, (struct CUctx_st **, int))                    \
    X(context, "cuCtxGetCurrent", "", 4000, (struct CUctx_st **))                                 \
    X(set_context, "cuCtxSetCurrent", "", 4000, (struct CUctx_st *))                              \
    X(context_device, "cuCtxGetDevice", "", 2000, (int *))                                        \
    X(context_id, "cuCtxGetId", "", 12000, (struct CUctx_st *, unsigned long long *))             \
    X(load, "cuModuleLoadData", "", 2000, (struct CUmod_st **, const void *))                     \
    X(function, "cuModuleGetFunction", "", 2000,                                                  \
      (struct CUfunc_st **, struct CUmod_st *, const char *))                                     \
    X(attribute, "cuFuncGetAttribute", "", 2020, (int *, int, struct CUfunc_st *))                \
    X(set_attribute, "cuFuncSetAttribute", "", 9000, (struct CUfunc_st *, int, int))              \
    X(parameter, "cuFuncGetParamInfo", "", 12040,                                                 \
      (struct CUfunc_st *, size_t, size_t *, size_t *))                                           \
    X(occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor", "", 6050,                         \
      (int *, struct CUfunc_st *, int, size_t))                                                   \
    X(launch, "cuLaunchKernel", "", 4000,                                                         \
      (struct CUfunc_st *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,  \
       prism_stream, void **, void **))                                                           \
    X(launch_cooperative, "cuLaunchCooperativeKernel", "", 9000,                                  \
      (struct CUfunc_st *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,  \
       prism_stream, void **))                                                                    \
    X(allocate, "cuMemAlloc", "_v2", 3020, (unsigned long long *, size_t))                        \
    X(release, "cuMemFree", "_v2", 3020, (unsigned long long))                                    \
    X(upload, "cuMemcpyHtoD", "_v2", 3020, (unsigned long long, const void *, size_t))            \
    X(download, "cuMemcpyDtoH", "_v2", 3020, (void *, unsigned long long, size_t))                \
    X(synchronize, "cuStreamSynchronize", "", 2000, (prism_stream))                               \
    X(encode_map, "cuTensorMapEncodeTiled", "", 12000,                                            \
      (prism_tensor_map *, int, uint32_t, void *, const uint64_t *, const uint64_t *,             \
       const uint32_t *, const uint32_t *, int, int, int, int))

typedef struct prism_driver_ {
    int lock;
    int is_ready;
#define PRISM_FIELD_(field, name, suffix, since, parameters) int(*field) parameters;
    PRISM_DRIVER_(PRISM_FIELD_)
#undef PRISM_FIELD_
} prism_driver_;

PRISM_ONE_(prism_driver_ prism_the_driver_);

/* Values of enumerations in cuda.h. */
enum {
    PRISM_MULTIPROCESSORS_ = 16, /* CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT */
    PRISM_MAJOR_ = 75,           /* CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR */
    PRISM_MINOR_ = 76,           /* CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR */
    PRISM_SHARED_OPTIN_ = 97,    /* CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN */
    PRISM_DYNAMIC_SHARED_ = 8,   /* CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES */
    PRISM_LARGE_CLUSTER_ = 14,   /* CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED */
    PRISM_INVALID_IMAGE_ = 200,  /* CUDA_ERROR_INVALID_IMAGE */
    PRISM_NO_BINARY_ = 209,      /* CUDA_ERROR_NO_BINARY_FOR_GPU */
    PRISM_INVALID_PTX_ = 218,    /* CUDA_ERROR_INVALID_PTX */
    PRISM_NEWER_PTX_ = 222,      /* CUDA_ERROR_UNSUPPORTED_PTX_VERSION */
    PRISM_PROMOTE_L2_ = 2        /* CU_TENSOR_MAP_L2_PROMOTION_L2_128B */
};

PRISM_INLINE_ void prism_lock_(int *lock)
{
    while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
        sched_yield();
}

PRISM_INLINE_ void prism_unlock_(int *lock)
{
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

/* `function` is the address of a function pointer; it stays null where the driver lacks `name`. */
PRISM_INLINE_ void prism_find_(void *library, const char *name, int since, void *function)
{
    void *found = NULL;
#ifdef PRISM_USE_CUDART
    (void)library;
#if CUDART_VERSION >= 12050
    if (cudaGetDriverEntryPointByVersion(name, &found, (unsigned)since, cudaEnableDefault, NULL))
        found = NULL;
#else
    (void)since;
    if (cudaGetDriverEntryPoint(name, &found, cudaEnableDefault))
        found = NULL;
#endif
#else
    (void)since;
    found = dlsym(library, name);
#endif
    memcpy(function, &found, sizeof found);
}

PRISM_INLINE_ prism_status prism_open_driver_(prism_driver_ *driver)
{
    void *library = NULL;
    int failure;
#ifdef PRISM_USE_CUDART
#define PRISM_NAME_(name, suffix) name
    cudaError_t code = cudaFree(NULL); /* makes the runtime's context */
    if (code)
        return prism_fail_(PRISM_NO_DRIVER, "CUDA cannot be used: %s", cudaGetErrorString(code));
#else
#define PRISM_NAME_(name, suffix) name suffix
    library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library)
        return prism_fail_(PRISM_NO_DRIVER, "there is no CUDA driver here (%s)", dlerror());
#endif
#define PRISM_FIND_(field, name, suffix, since, parameters)                                       \
    prism_find_(library, PRISM_NAME_(name, suffix), since, &driver->field);
    PRISM_DRIVER_(PRISM_FIND_)
#undef PRISM_FIND_
#undef PRISM_NAME_
    if (!driver->set_attribute || !driver->launch_cooperative)
        return prism_fail_(PRISM_NO_DRIVER, "the CUDA driver is older than CUDA 9");
    failure = driver->init(0);
    if (failure)
        return prism_fail_(PRISM_NO_DRIVER, "the CUDA driver does not start (error %d)", failure);
    return PRISM_OK;
}

/* Set `*found` to the driver. */
PRISM_INLINE_ prism_status prism_need_driver_(prism_driver_ **found)
{
    prism_driver_ *driver = &prism_the_driver_;
    prism_status status = PRISM_OK;
    *found = driver;
    if (__atomic_load_n(&driver->is_ready, __ATOMIC_ACQUIRE))
        return PRISM_OK;
    prism_lock_(&driver->lock);
    if (!driver->is_ready) {
        status = prism_open_driver_(driver);
        __atomic_store_n(&driver->is_ready, status == PRISM_OK, __ATOMIC_RELEASE);
    }
    prism_unlock_(&driver->lock);
    return status;
}

PRISM_INLINE_ prism_status prism_cuda_(int code, const char *what)
{
    const char *text = NULL;
    if (!code)
        return PRISM_OK;
    if (prism_the_driver_.error(code, &text) || !text)
        text = "an error that the driver does not name";
    return prism_fail_(PRISM_CUDA_ERROR, "%s: %s (CUDA error %d)", what, text, code);
}

/* ------------------------------------------------------------------ memory, for programs that
   use neither the toolkit's driver API nor its runtime */

/* Make device number `number` the one of this thread. */
PRISM_INLINE_ prism_status prism_open(int number)
{
    prism_driver_ *driver;
    struct CUctx_st *context = NULL;
    int device = 0;
    prism_status status = prism_need_driver_(&driver);
    if (status == PRISM_OK)
        status = prism_cuda_(driver->device(&device, number), "cuDeviceGet");
    if (status == PRISM_OK)
        status = prism_cuda_(driver->retain(&context, device), "cuDevicePrimaryCtxRetain");
    if (status == PRISM_OK)
        status = prism_cuda_(driver->set_context(context), "cuCtxSetCurrent");
    return status;
}

/* `bytes` of device memory, aligned to 256. */
PRISM_INLINE_ prism_status prism_allocate(size_t bytes, void **memory)
{
    prism_driver_ *driver;
    unsigned long long address = 0;
    prism_status status = prism_need_driver_(&driver);
    if (status == PRISM_OK)
        status = prism_cuda_(driver->allocate(&address, bytes), "cuMemAlloc");
    *memory = (void *)(uintptr_t)address;
    return status;
}

PRISM_INLINE_ prism_status prism_free(void *memory)
{
    prism_driver_ *driver;
    prism_status status = prism_need_driver_(&driver);
    if (status == PRISM_OK && memory)
        status = prism_cuda_(driver->release((uintptr_t)memory), "cuMemFree");
    return status;
}

/* Copy `bytes` from the host to the device; done on return. */
PRISM_INLINE_ prism_status prism_upload(void *to, const void *from, size_t bytes)
{
    prism_driver_ *driver;
    prism_status status = prism_need_driver_(&driver);
    if (status == PRISM_OK && bytes)
        status = prism_cuda_(driver->upload((uintptr_t)to, from, bytes), "cuMemcpyHtoD");
    return status;
}

/* Copy `bytes` from the device to the host, after what the default stream has to do. */
PRISM_INLINE_ prism_status prism_download(void *to, const void *from, size_t bytes)
{
    prism_driver_ *driver;
    prism_status status = prism_need_driver_(&driver);
    if (status == PRISM_OK && bytes)
        status = prism_cuda_(driver->download(to, (uintptr_t)from, bytes), "cuMemcpyDtoH");
    return status;
}

/* Wait until `stream` has done all that it was given. */
PRISM_INLINE_ prism_status prism_synchronize(prism_stream stream)
{
    prism_driver_ *driver;
    prism_status status = prism_need_driver_(&driver);
    if (status == PRISM_OK)
        status = prism_cuda_(driver->synchronize(stream), "cuStreamSynchronize");
    return status;
}

/* ------------------------------------------------------------------ tensor maps */

/* What is fixed about a kernel's tensor map: `type` is a CUtensorMapDataType, `swizzle` a
   CUtensorMapSwizzle; the box counts elements from the outermost dimension on. */
typedef struct prism_map_ {
    const char *name;
    int type, swizzle;
    unsigned element, rank;
    uint32_t box[5];
} prism_map_;

/* The map for an array whose extents are given from the outermost dimension on, as C declares it.
   `strides` are the bytes between neighbours in all dimensions but the last, or null for an array
   without gaps. */
PRISM_INLINE_ prism_status prism_encode_map_(
    const prism_map_ *fixed, prism_tensor_map *map, const void *array, const uint64_t *extents,
    const uint64_t *strides)
{
    static const uint32_t steps[5] = {1, 1, 1, 1, 1};
    uint64_t sizes[5], gaps[5], dense = fixed->element;
    uint32_t box[5];
    unsigned i;
    prism_driver_ *driver = NULL;
    prism_status status = prism_need_driver_(&driver);
    if (status != PRISM_OK)
        return status;
    if (!driver->encode_map)
        return prism_fail_(
            PRISM_NO_DRIVER, "%s: the CUDA driver is older than CUDA 12", fixed->name);
    for (i = 0; i < fixed->rank; i++) {
        unsigned outer = fixed->rank - 1 - i; /* the driver counts from the innermost on */
        sizes[i] = extents[outer];
        box[i] = fixed->box[outer];
        dense *= sizes[i];
        gaps[i] = outer && strides ? strides[outer - 1] : dense;
    }
    return prism_cuda_(
        driver->encode_map(
            map, fixed->type, fixed->rank, (void *)(uintptr_t)array, sizes, gaps, box, steps, 0,
            fixed->swizzle, PRISM_PROMOTE_L2_, 0),
        fixed->name);
}

/* ------------------------------------------------------------------ loading */

/* How well code for `target` fits a device of compute capability `device` (90 for 9.0); 0: it does
   not run there. Machine code for exactly this device comes first, PTX last (CUDA C++ Programming
   Guide, "Application Compatibility"). */
PRISM_INLINE_ int prism_fit_(const prism_target_ *target, bool is_ptx, int device)
{
    bool is_line = target->number / 10 == device / 10 && target->number <= device;
    if (target->kind == 'a')
        return target->number != device ? 0 : is_ptx ? 1 : 3000;
    if (target->kind == 'f')
        return !is_line ? 0 : (is_ptx ? 1 : 2000) + target->number;
    if (is_ptx)
        return target->number <= device ? 1 + target->number : 0;
    return is_line ? 1000 + target->number : 0;
}

PRISM_INLINE_ prism_status prism_no_target_(
    const prism_module_ *module, int device, int number, int newer_ptx)
{
    char name[128] = "", targets[256] = "";
    size_t used = 0;
    int i, version = 0;
    prism_the_driver_.device_name(name, (int)sizeof name - 1, device);
    prism_the_driver_.version(&version);
    for (i = 0; i < module->target_count && used < sizeof targets; i++) {
        const char *before = i ? ", " : "";
        int more = snprintf(
            targets + used, sizeof targets - used, "%s%s", before, module->targets[i].name);
        used += (size_t)more;
    }
    if (newer_ptx)
        return prism_fail_(
            PRISM_NO_TARGET,
            "%s: the driver (CUDA %d.%d) does not know PTX %d.%d, and there is no machine code for "
            "the device (%s, sm_%d) beside it; build with --target sm_%d, or install a newer driver",
            module->name, version / 1000, version % 1000 / 10, newer_ptx / 10, newer_ptx % 10, name,
            number, number);
    return prism_fail_(
        PRISM_NO_TARGET,
        "%s was built for %s, which the device (%s, sm_%d) does not run; build with --target sm_%d",
        module->name, targets, name, number, number);
}

/* Load the image that fits the device best and that the driver takes. */
PRISM_INLINE_ prism_status prism_load_image_(
    const prism_module_ *module, prism_slot_ *slot, int number)
{
    const prism_images_ *images = module->images;
    int limit = 1 << 30, newer_ptx = 0;
    for (;;) {
        const prism_image_ *chosen = NULL;
        int best = 0, code, i;
        for (i = 0; i < images->count; i++) {
            const prism_image_ *image = &images->images[i];
            int fit = prism_fit_(&module->targets[image->target], image->ptx_version, number);
            if (fit > best && fit < limit) {
                best = fit;
                chosen = image;
            }
        }
        if (!chosen)
            return prism_no_target_(module, slot->device, number, newer_ptx);
        code = prism_the_driver_.load(&slot->module, chosen->data);
        slot->target = chosen->target;
        if (code == PRISM_NEWER_PTX_ || (code == PRISM_INVALID_PTX_ && chosen->ptx_version))
            newer_ptx = chosen->ptx_version;
        else if (code != PRISM_NO_BINARY_)
            return prism_cuda_(code, "cuModuleLoadData");
        limit = best;
    }
}

/* Load what `load_file` read; the driver itself chooses in a fatbin. */
PRISM_INLINE_ prism_status prism_load_file_image_(
    const prism_module_ *module, prism_slot_ *slot, int number)
{
    int code, i, best = 0;
    if (!module->state->file)
        return prism_fail_(
            PRISM_NO_IMAGE, "%s: call %s_load_file first", module->name, module->name);
    code = prism_the_driver_.load(&slot->module, module->state->file);
    if (code == PRISM_NO_BINARY_ || code == PRISM_INVALID_PTX_ || code == PRISM_NEWER_PTX_)
        return prism_no_target_(module, slot->device, number, 0);
    if (code == PRISM_INVALID_IMAGE_)
        return prism_fail_(
            PRISM_NO_IMAGE, "%s: the file is no cubin, fatbin or PTX", module->name);
    for (i = 0; i < module->target_count; i++) {
        int fit = prism_fit_(&module->targets[i], false, number);
        int late = prism_fit_(&module->targets[i], true, number);
        if ((fit ? fit : late) > best) {
            best = fit ? fit : late;
            slot->target = i;
        }
    }
    return prism_cuda_(code, "cuModuleLoadData");
}

/* Keep the content of `path` as the image of a module. */
PRISM_INLINE_ prism_status prism_read_file_(const prism_module_ *module, const char *path)
{
    FILE *file = fopen(path, "rb");
    char *content = NULL;
    size_t size = 0, more = 1;
    while (file && more) {
        char *longer = (char *)realloc(content, size + 65537);
        if (!longer)
            break;
        content = longer;
        more = fread(content + size, 1, 65536, file);
        size += more;
        content[size] = 0; /* PTX is a string */
    }
    if (file)
        fclose(file);
    if (!size) {
        free(content);
        return prism_fail_(PRISM_NO_IMAGE, "%s: `%s` cannot be read", module->name, path);
    }
    prism_lock_(&module->state->lock);
    module->state->file = content; /* an older one may be in use by a load: it stays */
    prism_unlock_(&module->state->lock);
    return PRISM_OK;
}

/* The slot of the current context, with the module loaded. */
PRISM_INLINE_ prism_status prism_need_slot_(const prism_module_ *module, prism_slot_ **found)
{
    prism_driver_ *driver = &prism_the_driver_;
    prism_state_ *state = module->state;
    struct CUctx_st *context = NULL;
    unsigned long long id = 0;
    prism_slot_ fresh = {NULL, 0, NULL, 0, 0};
    int i, major = 0, minor = 0;
    prism_status status;
    if (driver->context(&context) || !context)
        return prism_fail_(
            PRISM_NO_CONTEXT, "%s: this thread has no CUDA context; call prism_open, "
            "cuCtxSetCurrent or cudaSetDevice first", module->name);
    if (driver->context_id && driver->context_id(context, &id))
        id = 0;
    for (i = 0; i < PRISM_CONTEXTS_; i++) {
        *found = &state->slots[i];
        if ((*found)->module && (*found)->context == context && (*found)->id == id)
            return PRISM_OK;
    }
    fresh.context = context;
    fresh.id = id;
    driver->context_device(&fresh.device);
    driver->device_attribute(&major, PRISM_MAJOR_, fresh.device);
    driver->device_attribute(&minor, PRISM_MINOR_, fresh.device);
    if (module->images && strcmp(module->images->signature, module->signature))
        return prism_fail_(
            PRISM_STALE, "%s: the header and the linked image are of different builds; "
            "build both anew", module->name);
    status = module->images ? prism_load_image_(module, &fresh, 10 * major + minor)
                            : prism_load_file_image_(module, &fresh, 10 * major + minor);
    if (status != PRISM_OK)
        return status;
    i = (int)(state->next++ % PRISM_CONTEXTS_);
    *found = &state->slots[i];
    **found = fresh;
    memset(
        module->functions + (size_t)i * module->kernel_count, 0,
        module->kernel_count * sizeof *module->functions);
    return PRISM_OK;
}

/* Whether the driver sees the parameters that the header describes. */
PRISM_INLINE_ prism_status prism_compare_(const prism_kernel_ *kernel, struct CUfunc_st *function)
{
    size_t i, offset, size, expected = 0;
    if (!prism_the_driver_.parameter)
        return PRISM_OK;
    for (i = 0; i < kernel->parameter_count; i++) {
        size_t wanted = kernel->parameters[i].size, multiple = kernel->parameters[i].alignment;
        expected = (expected + multiple - 1) / multiple * multiple;
        if (prism_the_driver_.parameter(function, i, &offset, &size))
            break;
        if (offset != expected || size != wanted)
            return prism_fail_(
                PRISM_STALE, "%s: parameter `%s` has %zu bytes at %zu in the image, %zu at %zu in "
                "the header; build both anew", kernel->name, kernel->parameters[i].name, size,
                offset, wanted, expected);
        expected += wanted;
    }
    if (i < kernel->parameter_count || !prism_the_driver_.parameter(function, i, &offset, &size))
        return prism_fail_(
            PRISM_STALE, "%s: the image does not have %u parameters, as the header says; "
            "build both anew", kernel->name, kernel->parameter_count);
    return PRISM_OK;
}

/* A kernel's function in the current context, allowed to have its shared memory. */
PRISM_INLINE_ prism_status prism_prepare_(
    const prism_module_ *module, const prism_kernel_ *kernel, const prism_slot_ *slot,
    struct CUfunc_st **function)
{
    prism_driver_ *driver = &prism_the_driver_;
    unsigned shared = kernel->dynamic_shared[slot->target];
    int has = 0, limit = 0;
    prism_status status;
    status = prism_cuda_(driver->function(function, slot->module, kernel->name), kernel->name);
    if (status == PRISM_OK)
        status = prism_compare_(kernel, *function);
    if (status == PRISM_OK && kernel->cluster > 8)
        status = prism_cuda_(
            driver->set_attribute(*function, PRISM_LARGE_CLUSTER_, 1), "cuFuncSetAttribute");
    if (status != PRISM_OK || !shared)
        return status;
    driver->device_attribute(&limit, PRISM_SHARED_OPTIN_, slot->device);
    if (shared > (unsigned)limit)
        return prism_fail_(
            PRISM_TOO_MUCH_SHARED, "%s needs %u bytes of shared memory for %s, a block of this "
            "device has at most %d", kernel->name, shared, module->targets[slot->target].name,
            limit);
    /* Never lowered: another user of the function may need more. */
    driver->attribute(&has, PRISM_DYNAMIC_SHARED_, *function);
    if ((unsigned)has < shared)
        status = prism_cuda_(
            driver->set_attribute(*function, PRISM_DYNAMIC_SHARED_, (int)shared),
            "cuFuncSetAttribute");
    return status;
}

/* ------------------------------------------------------------------ launching */

PRISM_INLINE_ prism_status prism_check_grid_(const prism_kernel_ *kernel, prism_grid grid)
{
    if (grid.threads && grid.threads != kernel->threads)
        return prism_fail_(
            PRISM_WRONG_BLOCK, "%s has blocks of %u threads, not of %u", kernel->name,
            kernel->threads, grid.threads);
    if (grid.blocks < 1 || grid.blocks > 2147483647u)
        return prism_fail_(
            PRISM_WRONG_GRID, "%s: a grid of %u blocks; from 1 to 2147483647 are possible",
            kernel->name, grid.blocks);
    if (grid.blocks % kernel->cluster)
        return prism_fail_(
            PRISM_WRONG_GRID, "%s has clusters of %u blocks, and %u is no multiple of that",
            kernel->name, kernel->cluster, grid.blocks);
    return PRISM_OK;
}

PRISM_INLINE_ uintptr_t prism_address_(void **arguments, unsigned i)
{
    uintptr_t address;
    memcpy(&address, arguments[i], sizeof address);
    return address;
}

/* Whether each pointer is a multiple of the size of what it points to, and what is written has a
   first element of its own: how many follow, a launch does not know. */
PRISM_INLINE_ prism_status prism_check_pointers_(const prism_kernel_ *kernel, void **arguments)
{
    unsigned i, j;
    for (i = 0; i < kernel->parameter_count; i++) {
        const prism_parameter_ *one = &kernel->parameters[i];
        uintptr_t address = one->points_to ? prism_address_(arguments, i) : 0;
        if (!address)
            continue;
        if (address % one->points_to)
            return prism_fail_(
                PRISM_WRONG_ARGUMENT, "%s: `%s` (0x%llx) is not aligned to %u bytes", kernel->name,
                one->name, (unsigned long long)address, one->points_to);
        for (j = 0; one->is_written && j < kernel->parameter_count; j++) {
            const prism_parameter_ *other = &kernel->parameters[j];
            uintptr_t there = j != i && other->points_to ? prism_address_(arguments, j) : 0;
            if (there && there < address + one->points_to && address < there + other->points_to)
                return prism_fail_(
                    PRISM_WRONG_ARGUMENT, "%s: `%s` (0x%llx), which the kernel may write, shares "
                    "memory with `%s` (0x%llx)", kernel->name, one->name,
                    (unsigned long long)address, other->name, (unsigned long long)there);
        }
    }
    return PRISM_OK;
}

/* All blocks of a cooperative launch must be resident at once. */
PRISM_INLINE_ prism_status prism_check_resident_(
    const prism_kernel_ *kernel, const prism_slot_ *slot, struct CUfunc_st *function,
    unsigned blocks)
{
    int each = 0, processors = 0;
    prism_status status = prism_cuda_(
        prism_the_driver_.occupancy(
            &each, function, (int)kernel->threads, kernel->dynamic_shared[slot->target]),
        "cuOccupancyMaxActiveBlocksPerMultiprocessor");
    if (status != PRISM_OK)
        return status;
    prism_the_driver_.device_attribute(&processors, PRISM_MULTIPROCESSORS_, slot->device);
    if (blocks > (unsigned)(each * processors))
        return prism_fail_(
            PRISM_WRONG_GRID, "%s is cooperative: %d blocks are resident on this device at once, "
            "and the grid has %u", kernel->name, each * processors, blocks);
    return PRISM_OK;
}

/* An `@assume` that does not hold. */
PRISM_INLINE_ prism_status prism_refuse_(const char *kernel, const char *condition)
{
    return prism_fail_(
        PRISM_WRONG_ARGUMENT, "%s: the arguments do not keep to `%s`", kernel, condition);
}

/* A kernel's function in the current context, loaded if it is not, and a copy of its slot. */
PRISM_INLINE_ prism_status prism_need_function_(
    const prism_module_ *module, unsigned number, struct CUfunc_st **function, prism_slot_ *slot)
{
    prism_slot_ *place = NULL;
    prism_status status;
    prism_lock_(&module->state->lock);
    status = prism_need_slot_(module, &place);
    if (status == PRISM_OK) {
        size_t row = (size_t)(place - module->state->slots) * module->kernel_count;
        *slot = *place;
        *function = module->functions[row + number];
        if (!*function)
            status = prism_prepare_(module, &module->kernels[number], place, function);
        if (status == PRISM_OK)
            module->functions[row + number] = *function;
    }
    prism_unlock_(&module->state->lock);
    return status;
}

/* Load all kernels of a module, so that no launch has to. */
PRISM_INLINE_ prism_status prism_load_(const prism_module_ *module)
{
    prism_driver_ *driver = NULL;
    struct CUfunc_st *function = NULL;
    prism_slot_ slot;
    unsigned number;
    prism_status status = prism_need_driver_(&driver);
    for (number = 0; number < module->kernel_count && status == PRISM_OK; number++)
        status = prism_need_function_(module, number, &function, &slot);
    return status;
}

PRISM_INLINE_ prism_status prism_launch_(
    const prism_module_ *module, unsigned number, prism_grid grid, prism_stream stream,
    void **arguments)
{
    const prism_kernel_ *kernel = &module->kernels[number];
    struct CUfunc_st *function = NULL;
    prism_driver_ *driver = NULL;
    prism_slot_ slot = {NULL, 0, NULL, 0, 0};
    unsigned shared, threads = kernel->threads;
    prism_status status = prism_check_grid_(kernel, grid);
    if (status == PRISM_OK && PRISM_CHECKS)
        status = prism_check_pointers_(kernel, arguments);
    if (status == PRISM_OK)
        status = prism_need_driver_(&driver);
    if (status == PRISM_OK)
        status = prism_need_function_(module, number, &function, &slot);
    if (status != PRISM_OK)
        return status;
    shared = kernel->dynamic_shared[slot.target];
    if (!kernel->cooperative)
        return prism_cuda_(
            driver->launch(
                function, grid.blocks, 1, 1, threads, 1, 1, shared, stream, arguments, NULL),
            kernel->name);
    status = prism_check_resident_(kernel, &slot, function, grid.blocks);
    if (status != PRISM_OK)
        return status;
    return prism_cuda_(
        driver->launch_cooperative(
            function, grid.blocks, 1, 1, threads, 1, 1, shared, stream, arguments),
        kernel->name);
}

#endif

#if PRISM_RUNTIME != 1
#error "headers of different versions of prismc: build them anew"
#endif
