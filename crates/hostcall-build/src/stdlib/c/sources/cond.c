/* Condition variables: a word that counts wakes, and a futex on it. (musl's reach into its own mutexes, and the device's
 * are others.) */
#include "pthread_impl.h"

int pthread_cond_init(pthread_cond_t *restrict c, const pthread_condattr_t *restrict a)
{
	*c = (pthread_cond_t){0};
	if (a) c->_c_clock = a->__attr & 0x7fffffff;
	return 0;
}

int pthread_cond_destroy(pthread_cond_t *c) { return 0; }

int pthread_cond_timedwait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m, const struct timespec *restrict until)
{
	if (until && until->tv_nsec >= 1000000000UL) return EINVAL;
	int seen = a_fetch_add(&c->_c_seq, 0);
	pthread_mutex_unlock(m);
	int error = __timedwait(&c->_c_seq, seen, c->_c_clock, until, 1);
	pthread_mutex_lock(m);
	/* That the word has changed is a wake like any other. */
	return error == ETIMEDOUT ? error : 0;
}

int pthread_cond_wait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m) { return pthread_cond_timedwait(c, m, 0); }

static int wake(pthread_cond_t *c, int most)
{
	a_fetch_add(&c->_c_seq, 1);
	__wake(&c->_c_seq, most, 1);
	return 0;
}

int pthread_cond_signal(pthread_cond_t *c) { return wake(c, 1); }
int pthread_cond_broadcast(pthread_cond_t *c) { return wake(c, -1); }
