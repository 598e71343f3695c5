/* What musl's sources ask of the parts of musl that are not compiled: the device has those functions itself
 * (`hostcall-std`), under their public names. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <sys/mman.h>
#include "stdio_impl.h"
#include "pthread_impl.h"

#undef errno
#undef environ

extern char **environ;

/* Of `hostcall-std`: a key for values of a thread's own, made once; and what runs last when the process exits. */
unsigned long sys_tls_key(unsigned long *, void (*)(void *));
void *sys_tls_get(unsigned long);
void sys_tls_set(unsigned long, void *);
void sys_at_end(void (*)(void));

/* No lock is left out: other threads of a program may have been started by functions of Rust's. */
struct __libc __libc = { .can_do_threads = 1, .threaded = 1, .need_locks = 1, .threads_minus_1 = 1, .page_size = 4096 };

char *__progname = "program", *__progname_full = "program";
weak_alias(__progname, program_invocation_short_name);
weak_alias(__progname_full, program_invocation_name);

/* What musl keeps of the calling thread. */
unsigned long hostcall_c_thread(void)
{
	static unsigned long key;
	unsigned long found = __atomic_load_n(&key, __ATOMIC_ACQUIRE);
	if (!found) found = sys_tls_key(&key, free);
	struct pthread *self = sys_tls_get(found);
	if (!self) {
		self = calloc(1, sizeof *self);
		if (!self) abort();
		self->self = self;
		self->tid = __syscall(SYS_gettid);
		self->locale = &libc.global_locale;
		sys_tls_set(found, self);
	}
	return (unsigned long)self;
}

/* A stream is about to be written to: what is in its buffer then leaves before the process does. */
void hostcall_c_writes(void) { sys_at_end(__stdio_exit); }

hidden int *___errno_location(void) { return __errno_location(); }
hidden int __clock_gettime(clockid_t clock, struct timespec *into) { return clock_gettime(clock, into); }
hidden off_t __lseek(int fd, off_t to, int from) { return lseek(fd, to, from); }
hidden void *__mmap(void *at, size_t len, int can, int how, int fd, off_t from) { return mmap(at, len, can, how, fd, from); }
hidden int __munmap(void *at, size_t len) { return munmap(at, len); }
hidden int __dup3(int from, int to, int flags) { return dup3(from, to, flags); }
hidden void *__libc_malloc(size_t len) { return malloc(len); }
hidden void *__libc_calloc(size_t count, size_t len) { return calloc(count, len); }
hidden void *__libc_realloc(void *block, size_t len) { return realloc(block, len); }
hidden void __libc_free(void *block) { free(block); }
void *memalign(size_t align, size_t len) { return aligned_alloc(align, len); }
_Noreturn void _Exit(int code) { _exit(code); }

int clearenv(void)
{
	static char *none[1];
	environ = none;
	return 0;
}

/* Mappings that are shared with other processes are no concern here. */
hidden void __vm_lock(void) {}
hidden void __vm_unlock(void) {}
hidden void __vm_wait(void) {}

/* Nobody cancels a thread: only waiting for a word is done so. */
hidden long (__syscall_cp)(syscall_arg_t n, syscall_arg_t a, syscall_arg_t b, syscall_arg_t c, syscall_arg_t d, syscall_arg_t e,
	syscall_arg_t f)
{
	return n == SYS_futex ? __syscall(SYS_futex, a, b, c, d) : -ENOSYS;
}
