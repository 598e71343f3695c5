/* A GPU whose kernels fault, for the driver without a GPU of libhostcall's tests (fake_cuda.c), to be linked with it.
 *
 * As NVIDIA's driver does, it says so only in what a call returns, and calls no host function that was queued behind
 * the kernel. A query of work that was queued before says "not ready" once, as if the fault had yet to come. Which fault
 * it is says FAKE_CUDA_FAULT; else an illegal address. */
#include <stdint.h>
#include <stdlib.h>

typedef int R;
enum { NOT_READY = 600, ILLEGAL_ADDRESS = 700, INVALID_VALUE = 1 };

extern void *fake_module, *fake_function;
extern unsigned char fake_globals[160];

/* Kernels that were launched; questions since then. */
static int launched, asked;

__attribute__((constructor)) static void abi(void) {
    const char *version = getenv("FAKE_CUDA_ABI");
    if (version != NULL)
        *(uint32_t *)(fake_globals + 128) = (uint32_t)strtoul(version, NULL, 10);
}
static R fault(void) {
    const char *named = getenv("FAKE_CUDA_FAULT");
    return named == NULL ? ILLEGAL_ADDRESS : (R)strtol(named, NULL, 10);
}
static R state(void) {
    if (!__atomic_load_n(&launched, __ATOMIC_SEQ_CST))
        return 0;
    return __atomic_fetch_add(&asked, 1, __ATOMIC_SEQ_CST) == 0 ? NOT_READY : fault();
}
static R lost(void) { return __atomic_load_n(&launched, __ATOMIC_SEQ_CST) ? fault() : 0; }

R cuModuleLoadDataEx(void **m, const void *image, unsigned n, int *keys, void **values) {
    (void)image, (void)n, (void)keys, (void)values;
    *m = fake_module;
    return 0;
}
R cuModuleGetFunction(void **f, void *m, const char *name) {
    (void)m, (void)name;
    *f = fake_function;
    return 0;
}
R cuFuncGetAttribute(int *value, int attribute, void *f) {
    (void)attribute, (void)f;
    *value = 32;
    return 0;
}
R cuFuncGetParamInfo(void *f, size_t index, size_t *offset, size_t *size) {
    (void)f, (void)index, (void)offset, (void)size;
    return INVALID_VALUE;
}
R cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                 void *stream, void **parameters, void **extra) {
    (void)f, (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)stream, (void)parameters, (void)extra;
    __atomic_store_n(&launched, 1, __ATOMIC_SEQ_CST);
    return 0;
}
R cuLaunchHostFunc(void *s, void (*f)(void *), void *d) {
    (void)s, (void)f, (void)d;
    return 0;
}
R cuStreamQuery(void *s) { (void)s; return state(); }
R cuEventQuery(void *e) { (void)e; return state(); }
R cuStreamSynchronize(void *s) { (void)s; return lost(); }
R cuEventSynchronize(void *e) { (void)e; return lost(); }
