/* Modules and launches for the driver without a GPU of libhostcall's tests (fake_cuda.c), to be linked with it.
 *
 * FAKE_CUDA_KERNELS and FAKE_CUDA_VARIABLES name what modules have, separated by commas. A question for a symbol of the
 * other kind, or for something that no module has, is an error that is no "not found": who reads the image need not ask
 * it. What this project and clang look for in every module is just not there. Launches are counted and do nothing. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef int R;
typedef uint64_t P;
enum { INVALID_VALUE = 1, NOT_FOUND = 500, UNKNOWN = 999 };

extern void *fake_module, *fake_function, *fake_context;
extern _Thread_local void *fake_current;
extern int fake_modules;
long fake_launches, fake_asked;

/* Whether a list in the environment has a word. */
static int lists(const char *variable, const char *word) {
    const char *list = getenv(variable);
    size_t length = strlen(word);
    while (list != NULL && *list != '\0') {
        size_t here = strcspn(list, ",");
        if (here == length && strncmp(list, word, length) == 0)
            return 1;
        list += here + (list[here] == ',');
    }
    return 0;
}

static R find(const char *name, const char *kind, const char *other) {
    fake_asked++;
    if (lists(kind, name))
        return 0;
    if (lists(other, name))
        return UNKNOWN;
    return strncmp(name, "__", 2) == 0 || strncmp(name, "nvptx$", 6) == 0 ? NOT_FOUND : INVALID_VALUE;
}

R cuModuleLoadDataEx(void **m, const void *image, unsigned n, int *keys, void **values) {
    (void)image, (void)n, (void)keys, (void)values;
    *m = fake_module;
    __atomic_fetch_add(&fake_modules, 1, __ATOMIC_SEQ_CST);
    return 0;
}
R cuModuleLoadData(void **m, const void *image) { return cuModuleLoadDataEx(m, image, 0, NULL, NULL); }
R cuModuleGetFunction(void **f, void *m, const char *name) {
    (void)m;
    *f = fake_function;
    return find(name, "FAKE_CUDA_KERNELS", "FAKE_CUDA_VARIABLES");
}
R cuModuleGetGlobal_v2(P *p, size_t *bytes, void *m, const char *name) {
    static uint64_t variable;
    (void)m;
    *p = (P)(uintptr_t)&variable;
    *bytes = sizeof variable;
    return find(name, "FAKE_CUDA_VARIABLES", "FAKE_CUDA_KERNELS");
}
/* The list of kernels: a function of each, by its place. */
static char functions[16];
R cuModuleGetFunctionCount(unsigned *count, void *m) {
    const char *list = getenv("FAKE_CUDA_KERNELS");
    (void)m;
    *count = list != NULL && *list != '\0';
    for (; list != NULL && *list != '\0'; list++)
        *count += *list == ',';
    return *count <= sizeof functions ? 0 : INVALID_VALUE;
}
R cuModuleEnumerateFunctions(void **f, unsigned count, void *m) {
    (void)m;
    for (unsigned i = 0; i < count; i++)
        f[i] = &functions[i];
    return 0;
}
R cuFuncGetName(const char **name, void *f) {
    static char names[sizeof functions][64];
    const char *list = getenv("FAKE_CUDA_KERNELS");
    size_t at = (size_t)((char *)f - functions);
    for (size_t i = 0; i < at; i++)
        list += strcspn(list, ",") + 1;
    memcpy(names[at], list, strcspn(list, ","));
    *name = names[at];
    return 0;
}
R cuFuncLoad(void *f) { return f >= (void *)functions && f < (void *)(functions + sizeof functions) ? 0 : 400; }
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
    (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)stream, (void)parameters, (void)extra;
    if (fake_current != fake_context)
        return fake_current == NULL ? 201 : 400;
    __atomic_fetch_add(&fake_launches, 1, __ATOMIC_RELAXED);
    return f == fake_function ? 0 : 400;
}
/* For `bench-offload`. */
R cuMemAllocAsync(P *p, size_t bytes, void *stream) {
    (void)stream;
    void *memory = malloc(bytes);
    *p = (P)(uintptr_t)memory;
    return memory == NULL ? 2 : 0;
}
R cuMemFreeAsync(P p, void *stream) {
    (void)stream;
    free((void *)(uintptr_t)p);
    return 0;
}
R cuMemcpyHtoD_v2(P to, const void *from, size_t bytes) {
    memcpy((void *)(uintptr_t)to, from, bytes);
    return 0;
}
