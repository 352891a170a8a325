/* The part of the CUDA driver API that launches need, for machines without a GPU.

   Device memory has addresses of its own, which the host cannot follow. A launch goes to a process
   of prismc (`server.py`), with the arguments and the memory that they point to: it executes the
   PTX, watches for faults, and sends the memory back. Machine code is refused, as on a device that
   it was not made for, so that programs fall back to PTX.

   PYTHON and DEVICE are given when this is compiled. The environment: PRISM_CPU_DEVICE (sm_90a),
   PRISM_CPU_CUDA (12.4) for the driver's version, PRISM_CPU_LOG for a file that lists the calls. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))

/* CUresult, cuda.h. */
enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    INVALID_DEVICE = 101,
    INVALID_CONTEXT = 201,
    NO_BINARY_FOR_GPU = 209,
    NOT_FOUND = 500,
    LAUNCH_OUT_OF_RESOURCES = 701,
    COOPERATIVE_LAUNCH_TOO_LARGE = 720,
    SYSTEM_NOT_READY = 802
};

/* CUdevice_attribute and CUfunction_attribute, cuda.h. */
enum {
    MAX_THREADS_PER_BLOCK = 1,
    WARP_SIZE = 10,
    MULTIPROCESSOR_COUNT = 16,
    COMPUTE_CAPABILITY_MAJOR = 75,
    COMPUTE_CAPABILITY_MINOR = 76,
    MAX_SHARED_MEMORY_PER_BLOCK = 8,
    COOPERATIVE_LAUNCH = 95,
    MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
    FUNC_MAX_THREADS = 0,
    FUNC_MAX_DYNAMIC_SHARED = 8
};

enum { STATIC_LIMIT = 48 * 1024, THREADS_PER_MULTIPROCESSOR = 2048, TENSOR_MAP = 128 };

typedef struct Context { int device; unsigned long long id; } Context;
typedef struct Module { uint32_t number; } Module;
typedef struct Parameter { uint64_t offset, size; } Parameter;

typedef struct Function {
    uint32_t number, threads, count;
    int dynamic_shared;
    char name[256];
    Parameter *parameters;
} Function;

typedef struct Memory {
    struct Memory *next;
    uint64_t address, size;
    char *content;
    uint32_t is_written;
} Memory;

static struct {
    pthread_mutex_t lock;
    int socket;
    int is_ready;
    int number, shared_limit, processors, max_threads; /* of the device; number 90 for 9.0 */
    Memory *memories;
    uint64_t next_address;
} driver = {PTHREAD_MUTEX_INITIALIZER, -1, 0, 0, 0, 0, 0, NULL, 0x700000000000};

static Context primary = {0, 1};
static __thread Context *current;

/* ------------------------------------------------------------------ the log */

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...)
{
    const char *path = getenv("PRISM_CPU_LOG");
    FILE *file = path ? fopen(path, "a") : NULL;
    va_list values;
    if (!file)
        return;
    va_start(values, format);
    vfprintf(file, format, values);
    va_end(values);
    fputc('\n', file);
    fclose(file);
}

/* ------------------------------------------------------------------ the other process */

typedef struct Bytes { char *data; size_t size; } Bytes;

static void append(Bytes *to, const void *data, size_t size)
{
    char *longer = realloc(to->data, to->size + size + 1);
    if (!longer)
        abort();
    to->data = longer;
    memcpy(to->data + to->size, data, size);
    to->size += size;
}

static void append_number(Bytes *to, uint64_t number, size_t size)
{
    append(to, &number, size);
}

static int transfer(ssize_t (*step)(int, void *, size_t, int), void *data, size_t size, int flags)
{
    char *at = data;
    while (size) {
        ssize_t done = step(driver.socket, at, size, flags);
        if (done <= 0)
            return 0;
        at += done;
        size -= (size_t)done;
    }
    return 1;
}

static ssize_t send_some(int socket, void *data, size_t size, int flags)
{
    return send(socket, data, size, flags);
}

/* Ask the other process; the answer is `*reply`, which the caller frees, and its status. */
static int ask(uint32_t kind, Bytes *request, Bytes *reply)
{
    uint64_t head[2] = {kind, request->size}, answer[2];
    int is_sent = transfer(send_some, head, sizeof head, MSG_NOSIGNAL)
                  && transfer(send_some, request->data, request->size, MSG_NOSIGNAL);
    free(request->data);
    reply->data = NULL;
    reply->size = 0;
    if (!is_sent || !transfer(recv, answer, sizeof answer, 0))
        return SYSTEM_NOT_READY;
    reply->size = answer[1];
    reply->data = calloc(1, reply->size + 1);
    if (!reply->data || !transfer(recv, reply->data, reply->size, 0))
        return SYSTEM_NOT_READY;
    if (answer[0] && reply->size)
        fprintf(stderr, "%s\n", reply->data);
    return (int)answer[0];
}

static uint32_t number_at(const Bytes *bytes, size_t index)
{
    uint32_t number;
    memcpy(&number, bytes->data + index * sizeof number, sizeof number);
    return number;
}

static int start(void)
{
    int ends[2];
    const char *device = getenv("PRISM_CPU_DEVICE");
    char number[16];
    Bytes request = {NULL, 0}, reply;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        return SYSTEM_NOT_READY;
    snprintf(number, sizeof number, "%d", ends[1]);
    pid_t child = fork();
    if (child < 0)
        return SYSTEM_NOT_READY;
    if (!child) {
        close(ends[0]);
        unsetenv("LD_PRELOAD");
        execl(PYTHON, PYTHON, "-m", "prismc.driver.cpu.server", number, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    driver.socket = ends[0];
    device = device ? device : DEVICE;
    append(&request, device, strlen(device));
    int status = ask(1, &request, &reply);
    if (!status) {
        driver.number = (int)number_at(&reply, 0);
        driver.shared_limit = (int)number_at(&reply, 1);
        driver.max_threads = (int)number_at(&reply, 2);
        driver.processors = 2;
        driver.is_ready = 1;
    }
    free(reply.data);
    return status;
}

/* ------------------------------------------------------------------ the driver and its device */

API int cuInit(unsigned flags)
{
    int status = flags ? INVALID_VALUE : SUCCESS;
    pthread_mutex_lock(&driver.lock);
    if (!status && !driver.is_ready)
        status = start();
    pthread_mutex_unlock(&driver.lock);
    return status;
}

/* This library as dlsym takes it. */
static void *own_library(void)
{
    Dl_info info;
    return dladdr(&driver, &info) ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
}

/* A function of this library by its name in the documentation, as cuda-bindings ask for all. The
   newest version of it is meant, which is there under a name of its own. */
API int cuGetProcAddress_v2(
    const char *symbol, void **function, int version, uint64_t flags, int *found)
{
    char newest[128];
    void *library = own_library();
    (void)version;
    (void)flags;
    snprintf(newest, sizeof newest, "%s_v2", symbol);
    *function = dlsym(library, newest);
    if (!*function)
        *function = dlsym(library, symbol);
    if (found)
        *found = *function ? 0 : 1; /* CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND */
    return *function ? SUCCESS : NOT_FOUND;
}

/* NVRTC, which looks for a driver, calls it unasked: it must be there to refuse. */
API int cuGetExportTable(const void **table, const void *id)
{
    (void)id;
    *table = NULL;
    return NOT_FOUND;
}

API int cuDriverGetVersion(int *version)
{
    const char *text = getenv("PRISM_CPU_CUDA");
    int major = 13, minor = 5;
    if (text && sscanf(text, "%d.%d", &major, &minor) != 2)
        return INVALID_VALUE;
    *version = 1000 * major + 10 * minor;
    return SUCCESS;
}

API int cuGetErrorString(int code, const char **text)
{
    switch (code) {
    case SUCCESS: *text = "no error"; break;
    case INVALID_VALUE: *text = "invalid argument"; break;
    case OUT_OF_MEMORY: *text = "out of memory"; break;
    case NOT_INITIALIZED: *text = "initialization error"; break;
    case INVALID_DEVICE: *text = "invalid device ordinal"; break;
    case INVALID_CONTEXT: *text = "invalid device context"; break;
    case NO_BINARY_FOR_GPU: *text = "no kernel image is available for execution on the device"; break;
    case 218: *text = "a PTX JIT compilation failed"; break;
    case 222: *text = "the provided PTX was compiled with an unsupported toolchain"; break;
    case NOT_FOUND: *text = "named symbol not found"; break;
    case LAUNCH_OUT_OF_RESOURCES: *text = "too many resources requested for launch"; break;
    case 719: *text = "unspecified launch failure"; break;
    case COOPERATIVE_LAUNCH_TOO_LARGE: *text = "too many blocks in cooperative launch"; break;
    default: *text = NULL; return INVALID_VALUE;
    }
    return SUCCESS;
}

API int cuDeviceGetCount(int *count)
{
    *count = 1;
    return driver.is_ready ? SUCCESS : NOT_INITIALIZED;
}

API int cuDeviceGet(int *device, int number)
{
    *device = 0;
    return !driver.is_ready ? NOT_INITIALIZED : number ? INVALID_DEVICE : SUCCESS;
}

API int cuDeviceGetName(char *name, int size, int device)
{
    snprintf(name, (size_t)size, "prismc on the CPU");
    return device ? INVALID_DEVICE : SUCCESS;
}

API int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    switch (attribute) {
    case MAX_THREADS_PER_BLOCK: *value = driver.max_threads; break;
    case WARP_SIZE: *value = 32; break;
    case MULTIPROCESSOR_COUNT: *value = driver.processors; break;
    case COMPUTE_CAPABILITY_MAJOR: *value = driver.number / 10; break;
    case COMPUTE_CAPABILITY_MINOR: *value = driver.number % 10; break;
    case MAX_SHARED_MEMORY_PER_BLOCK: *value = STATIC_LIMIT; break;
    case COOPERATIVE_LAUNCH: *value = 1; break;
    case MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: *value = driver.shared_limit; break;
    default: *value = 0; return INVALID_VALUE;
    }
    return device ? INVALID_DEVICE : SUCCESS;
}

API int cuDevicePrimaryCtxRetain(Context **context, int device)
{
    *context = &primary;
    return device ? INVALID_DEVICE : SUCCESS;
}

API int cuCtxGetCurrent(Context **context)
{
    *context = current;
    return SUCCESS;
}

API int cuCtxSetCurrent(Context *context)
{
    current = context;
    return SUCCESS;
}

API int cuCtxGetDevice(int *device)
{
    *device = 0;
    return current ? SUCCESS : INVALID_CONTEXT;
}

API int cuCtxGetId(Context *context, unsigned long long *id)
{
    *id = context ? context->id : 0;
    return context ? SUCCESS : INVALID_CONTEXT;
}

/* ------------------------------------------------------------------ memory */

/* The allocation that holds `size` bytes at `address`; the lock is held. */
static Memory *find(uint64_t address, uint64_t size)
{
    Memory *memory = driver.memories;
    while (memory && !(address >= memory->address && address - memory->address <= memory->size
                       && memory->size - (address - memory->address) >= size))
        memory = memory->next;
    return memory;
}

API int cuMemAlloc_v2(unsigned long long *address, size_t size)
{
    Memory *memory = calloc(1, sizeof *memory);
    if (!current || !size)
        return free(memory), current ? INVALID_VALUE : INVALID_CONTEXT;
    if (!memory || !(memory->content = malloc(size)))
        return free(memory), OUT_OF_MEMORY;
    memset(memory->content, 0xa5, size);
    pthread_mutex_lock(&driver.lock);
    memory->address = *address = driver.next_address;
    memory->size = size;
    /* Space between allocations: an address beyond the end of one is in none. */
    driver.next_address += (size + 8191) / 4096 * 4096;
    memory->next = driver.memories;
    driver.memories = memory;
    pthread_mutex_unlock(&driver.lock);
    note("cuMemAlloc %zu", size);
    return SUCCESS;
}

API int cuMemFree_v2(unsigned long long address)
{
    Memory **place = &driver.memories, *memory;
    pthread_mutex_lock(&driver.lock);
    while (*place && (*place)->address != address)
        place = &(*place)->next;
    memory = *place;
    if (memory)
        *place = memory->next;
    pthread_mutex_unlock(&driver.lock);
    if (!memory)
        return address ? INVALID_VALUE : SUCCESS;
    free(memory->content);
    free(memory);
    return SUCCESS;
}

API int cuMemcpyHtoD_v2(unsigned long long to, const void *from, size_t size)
{
    pthread_mutex_lock(&driver.lock);
    Memory *memory = find(to, size);
    if (memory) {
        memcpy(memory->content + (to - memory->address), from, size);
        memory->is_written = 1;
    }
    pthread_mutex_unlock(&driver.lock);
    return memory ? SUCCESS : INVALID_VALUE;
}

API int cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t size)
{
    pthread_mutex_lock(&driver.lock);
    Memory *memory = find(from, size);
    if (memory)
        memcpy(to, memory->content + (from - memory->address), size);
    pthread_mutex_unlock(&driver.lock);
    return memory ? SUCCESS : INVALID_VALUE;
}

/* A launch is done when it returns. */
API int cuStreamSynchronize(void *stream)
{
    (void)stream;
    return current ? SUCCESS : INVALID_CONTEXT;
}

API int cuCtxSynchronize(void)
{
    return current ? SUCCESS : INVALID_CONTEXT;
}

/* ------------------------------------------------------------------ modules */

API int cuModuleLoadData(Module **module, const void *image)
{
    Bytes request = {NULL, 0}, reply;
    const unsigned char *start = image;
    int version, status;
    /* An ELF image, or a fatbin. */
    if (!memcmp(start, "\177ELF", 4) || (start[0] == 0x50 && start[1] == 0xed)) {
        note("cuModuleLoadData machine code: refused");
        return NO_BINARY_FOR_GPU;
    }
    if (cuDriverGetVersion(&version))
        return INVALID_VALUE;
    append_number(&request, (uint64_t)version, 4);
    append(&request, image, strlen(image));
    pthread_mutex_lock(&driver.lock);
    status = ask(2, &request, &reply);
    pthread_mutex_unlock(&driver.lock);
    note("cuModuleLoadData PTX: %d", status);
    if (!status) {
        *module = malloc(sizeof **module);
        (*module)->number = number_at(&reply, 0);
    }
    free(reply.data);
    return status;
}

API int cuModuleGetFunction(Function **function, Module *module, const char *name)
{
    Bytes request = {NULL, 0}, reply;
    append_number(&request, module->number, 4);
    append(&request, name, strlen(name));
    pthread_mutex_lock(&driver.lock);
    int status = ask(3, &request, &reply);
    pthread_mutex_unlock(&driver.lock);
    if (!status) {
        Function *made = calloc(1, sizeof *made);
        made->number = number_at(&reply, 0);
        made->threads = number_at(&reply, 1);
        made->count = number_at(&reply, 2);
        snprintf(made->name, sizeof made->name, "%s", name);
        made->parameters = calloc(made->count + 1, sizeof *made->parameters);
        memcpy(made->parameters, reply.data + 12, made->count * sizeof *made->parameters);
        *function = made;
    }
    free(reply.data);
    return status;
}

API int cuFuncGetParamInfo(Function *function, size_t index, size_t *offset, size_t *size)
{
    if (index >= function->count)
        return INVALID_VALUE;
    *offset = function->parameters[index].offset;
    *size = function->parameters[index].size;
    return SUCCESS;
}

API int cuFuncGetAttribute(int *value, int attribute, Function *function)
{
    *value = attribute == FUNC_MAX_THREADS ? (int)function->threads : function->dynamic_shared;
    return attribute == FUNC_MAX_THREADS || attribute == FUNC_MAX_DYNAMIC_SHARED ? SUCCESS
                                                                                : INVALID_VALUE;
}

API int cuFuncSetAttribute(Function *function, int attribute, int value)
{
    note("cuFuncSetAttribute %s %d %d", function->name, attribute, value);
    if (attribute == FUNC_MAX_DYNAMIC_SHARED) {
        if (value > driver.shared_limit)
            return INVALID_VALUE;
        function->dynamic_shared = value;
    }
    return SUCCESS;
}

API int cuOccupancyMaxActiveBlocksPerMultiprocessor(
    int *blocks, Function *function, int threads, size_t shared)
{
    (void)function;
    int by_memory = shared ? (int)((size_t)driver.shared_limit / shared) : 32;
    int by_threads = THREADS_PER_MULTIPROCESSOR / threads;
    *blocks = by_memory < by_threads ? by_memory : by_threads;
    return SUCCESS;
}

/* The server's encoding; the address of the array is its second 64-bit word. */
API int cuTensorMapEncodeTiled(
    void *map, int type, uint32_t rank, void *array, const uint64_t *extents,
    const uint64_t *strides, const uint32_t *box, const uint32_t *steps, int interleave,
    int swizzle, int promotion, int fill)
{
    Bytes request = {NULL, 0}, reply;
    uint32_t kinds[5] = {
        (uint32_t)type, rank, (uint32_t)interleave, (uint32_t)swizzle, (uint32_t)fill};
    (void)promotion;
    if (rank < 1 || rank > 5)
        return INVALID_VALUE;
    append(&request, kinds, sizeof kinds);
    append(&request, &array, sizeof array);
    append(&request, extents, rank * sizeof *extents);
    append(&request, strides, (rank - 1) * sizeof *strides);
    append(&request, box, rank * sizeof *box);
    append(&request, steps, rank * sizeof *steps);
    pthread_mutex_lock(&driver.lock);
    int status = ask(5, &request, &reply);
    pthread_mutex_unlock(&driver.lock);
    if (!status)
        memcpy(map, reply.data, TENSOR_MAP);
    free(reply.data);
    return status;
}

/* ------------------------------------------------------------------ launches */

/* What the arguments point to: each allocation once. */
static uint32_t reached(Function *function, void **arguments, Memory **found, uint32_t room)
{
    uint32_t count = 0, i, j;
    for (i = 0; i < function->count && count < room; i++) {
        uint64_t address, size = function->parameters[i].size;
        if (size != sizeof address && size != TENSOR_MAP)
            continue;
        memcpy(&address, (char *)arguments[i] + (size == TENSOR_MAP ? 8 : 0), sizeof address);
        Memory *memory = find(address, 0);
        for (j = 0; memory && j < count && found[j] != memory; j++)
            ;
        if (memory && j == count)
            found[count++] = memory;
    }
    return count;
}

static int execute(
    Function *function, const unsigned *shape, unsigned shared, int is_cooperative, void **arguments)
{
    Bytes request = {NULL, 0}, reply;
    Memory **found = calloc(function->count + 1, sizeof *found);
    uint32_t count, i;
    size_t at = 0;
    append_number(&request, function->number, 4);
    append(&request, shape, 6 * sizeof *shape);
    append_number(&request, shared, 4);
    append_number(&request, (uint64_t)is_cooperative, 4);
    for (i = 0; i < function->count; i++)
        append(&request, arguments[i], function->parameters[i].size);
    pthread_mutex_lock(&driver.lock);
    count = reached(function, arguments, found, function->count);
    append_number(&request, count, 4);
    for (i = 0; i < count; i++) {
        append_number(&request, found[i]->address, 8);
        append_number(&request, found[i]->size, 8);
        append_number(&request, found[i]->is_written, 4);
        append(&request, found[i]->content, found[i]->size);
    }
    int status = ask(4, &request, &reply);
    for (i = 0; i < count && !status; i++) {
        memcpy(found[i]->content, reply.data + at, found[i]->size);
        found[i]->is_written = 1;
        at += found[i]->size;
    }
    pthread_mutex_unlock(&driver.lock);
    free(reply.data);
    free(found);
    return status;
}

static int launch(
    Function *function, const unsigned *shape, unsigned shared, int is_cooperative, void **arguments)
{
    unsigned long long threads = (unsigned long long)shape[3] * shape[4] * shape[5];
    note(
        "%s %s %u %u %u | %u %u %u | %u",
        is_cooperative ? "cuLaunchCooperativeKernel" : "cuLaunchKernel", function->name, shape[0],
        shape[1], shape[2], shape[3], shape[4], shape[5], shared);
    if (!current)
        return INVALID_CONTEXT;
    if (!shape[0] || !shape[1] || !shape[2] || !threads || threads > 1024)
        return INVALID_VALUE;
    if (function->threads && threads > function->threads)
        return INVALID_VALUE;
    /* Above the static limit the attribute must allow it (cuda.h, cuFuncSetAttribute). */
    if ((int)shared > STATIC_LIMIT && (int)shared > function->dynamic_shared)
        return INVALID_VALUE;
    return execute(function, shape, shared, is_cooperative, arguments);
}

API int cuLaunchKernel(
    Function *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
    unsigned block_y, unsigned block_z, unsigned shared, void *stream, void **arguments,
    void **extra)
{
    unsigned shape[6] = {grid_x, grid_y, grid_z, block_x, block_y, block_z};
    (void)stream;
    return extra ? INVALID_VALUE : launch(function, shape, shared, 0, arguments);
}

API int cuLaunchCooperativeKernel(
    Function *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
    unsigned block_y, unsigned block_z, unsigned shared, void *stream, void **arguments)
{
    unsigned shape[6] = {grid_x, grid_y, grid_z, block_x, block_y, block_z};
    int blocks;
    (void)stream;
    cuOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, function, (int)(block_x * block_y * block_z), shared);
    if (grid_x * grid_y * grid_z > (unsigned)(blocks * driver.processors))
        return COOPERATIVE_LAUNCH_TOO_LARGE;
    return launch(function, shape, shared, 1, arguments);
}
