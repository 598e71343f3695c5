/* System calls of musl's sources, as calls of the functions that the device has (`hostcall-std`). Each call's number is
 * a constant: of the switch one case is left, and of the functions what it calls. The functions are declared under
 * names of this file's, because the headers that declare them may or may not have been read. */
#ifndef HOSTCALL_SYSCALL_ARCH_H
#define HOSTCALL_SYSCALL_ARCH_H

#define __SYSCALL_LL_E(x) (x)
#define __SYSCALL_LL_O(x) (x)

#define HOSTCALL_FUNCTION(result, name, ...) result hostcall_##name(__VA_ARGS__) __asm__(#name)
HOSTCALL_FUNCTION(long, read, int, void *, unsigned long);
HOSTCALL_FUNCTION(long, write, int, const void *, unsigned long);
HOSTCALL_FUNCTION(long, readv, int, const void *, int);
HOSTCALL_FUNCTION(long, writev, int, const void *, int);
HOSTCALL_FUNCTION(int, open, const char *, int, ...);
HOSTCALL_FUNCTION(int, close, int);
HOSTCALL_FUNCTION(long, lseek, int, long, int);
HOSTCALL_FUNCTION(int, ioctl, int, int, ...);
HOSTCALL_FUNCTION(int, fcntl, int, int, ...);
HOSTCALL_FUNCTION(int, stat, const char *, void *);
HOSTCALL_FUNCTION(int, lstat, const char *, void *);
HOSTCALL_FUNCTION(int, fstat, int, void *);
HOSTCALL_FUNCTION(int, access, const char *, int);
HOSTCALL_FUNCTION(int, unlink, const char *);
HOSTCALL_FUNCTION(int, rmdir, const char *);
HOSTCALL_FUNCTION(int, rename, const char *, const char *);
HOSTCALL_FUNCTION(long, readlink, const char *, char *, unsigned long);
HOSTCALL_FUNCTION(int, clock_gettime, int, void *);
HOSTCALL_FUNCTION(int, gettid, void);
HOSTCALL_FUNCTION(int, getpid, void);
HOSTCALL_FUNCTION(long, syscall, long, ...);
HOSTCALL_FUNCTION(int *, __errno_location, void);
#undef HOSTCALL_FUNCTION

/* As in linux/asm/unistd.h of x86-64. */
enum {
	HOSTCALL_READ = 0, HOSTCALL_WRITE, HOSTCALL_OPEN, HOSTCALL_CLOSE, HOSTCALL_STAT, HOSTCALL_FSTAT, HOSTCALL_LSTAT,
	HOSTCALL_LSEEK = 8, HOSTCALL_IOCTL = 16, HOSTCALL_READV = 19, HOSTCALL_WRITEV, HOSTCALL_ACCESS,
	HOSTCALL_GETPID = 39, HOSTCALL_FCNTL = 72, HOSTCALL_RENAME = 82, HOSTCALL_RMDIR = 84, HOSTCALL_UNLINK = 87,
	HOSTCALL_READLINK = 89, HOSTCALL_GETTID = 186, HOSTCALL_FUTEX = 202, HOSTCALL_CLOCK_GETTIME = 228,
	HOSTCALL_ENOSYS = 38,
};

static inline __attribute__((always_inline)) long hostcall_call(long n, long a, long b, long c, long d)
{
	long result;
	switch (n) {
	case HOSTCALL_READ: result = hostcall_read(a, (void *)b, c); break;
	case HOSTCALL_WRITE: result = hostcall_write(a, (void *)b, c); break;
	case HOSTCALL_READV: result = hostcall_readv(a, (void *)b, c); break;
	case HOSTCALL_WRITEV: result = hostcall_writev(a, (void *)b, c); break;
	case HOSTCALL_OPEN: result = hostcall_open((void *)a, b, (int)c); break;
	case HOSTCALL_CLOSE: result = hostcall_close(a); break;
	case HOSTCALL_LSEEK: result = hostcall_lseek(a, b, c); break;
	case HOSTCALL_IOCTL: result = hostcall_ioctl(a, b, c); break;
	case HOSTCALL_FCNTL: result = hostcall_fcntl(a, b, c); break;
	case HOSTCALL_STAT: result = hostcall_stat((void *)a, (void *)b); break;
	case HOSTCALL_LSTAT: result = hostcall_lstat((void *)a, (void *)b); break;
	case HOSTCALL_FSTAT: result = hostcall_fstat(a, (void *)b); break;
	case HOSTCALL_ACCESS: result = hostcall_access((void *)a, b); break;
	case HOSTCALL_UNLINK: result = hostcall_unlink((void *)a); break;
	case HOSTCALL_RMDIR: result = hostcall_rmdir((void *)a); break;
	case HOSTCALL_RENAME: result = hostcall_rename((void *)a, (void *)b); break;
	case HOSTCALL_READLINK: result = hostcall_readlink((void *)a, (void *)b, c); break;
	case HOSTCALL_CLOCK_GETTIME: result = hostcall_clock_gettime(a, (void *)b); break;
	case HOSTCALL_GETTID: result = hostcall_gettid(); break;
	case HOSTCALL_GETPID: result = hostcall_getpid(); break;
	case HOSTCALL_FUTEX: result = hostcall_syscall(n, a, b, c, d); break;
	default: return -HOSTCALL_ENOSYS;
	}
	return result == -1 ? -*hostcall___errno_location() : result;
}

#define HOSTCALL_INLINE static inline __attribute__((always_inline, unused)) long
HOSTCALL_INLINE __syscall0(long n) { return hostcall_call(n, 0, 0, 0, 0); }
HOSTCALL_INLINE __syscall1(long n, long a) { return hostcall_call(n, a, 0, 0, 0); }
HOSTCALL_INLINE __syscall2(long n, long a, long b) { return hostcall_call(n, a, b, 0, 0); }
HOSTCALL_INLINE __syscall3(long n, long a, long b, long c) { return hostcall_call(n, a, b, c, 0); }
HOSTCALL_INLINE __syscall4(long n, long a, long b, long c, long d) { return hostcall_call(n, a, b, c, d); }
HOSTCALL_INLINE __syscall5(long n, long a, long b, long c, long d, long e) { (void)e; return hostcall_call(n, a, b, c, d); }
HOSTCALL_INLINE __syscall6(long n, long a, long b, long c, long d, long e, long f) { (void)e; (void)f; return hostcall_call(n, a, b, c, d); }
#undef HOSTCALL_INLINE

#endif
