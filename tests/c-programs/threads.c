/* Threads, and what they wait for: locks of each kind, conditions, barriers, things done once, values of their own. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, ROUNDS = 500 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, recursive;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_barrier_t barrier;
static pthread_key_t key;
static int turn, counted, made, read_by;
static atomic_int dropped;

static void make(void) { made++; }
static void drop(void *value) { dropped += *(int *)value; free(value); }

static void *work(void *argument)
{
	long own = (long)argument;
	int *value = malloc(sizeof *value);
	*value = (int)own;
	pthread_setspecific(key, value);
	pthread_once(&once, make);
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&recursive);
		pthread_mutex_lock(&recursive);
		counted++;
		pthread_mutex_unlock(&recursive);
		pthread_mutex_unlock(&recursive);
	}
	pthread_rwlock_wrlock(&shared);
	read_by++;
	pthread_rwlock_unlock(&shared);
	pthread_barrier_wait(&barrier);
	pthread_rwlock_rdlock(&shared);
	int seen = read_by;
	pthread_rwlock_unlock(&shared);
	pthread_mutex_lock(&lock);
	while (turn != own) pthread_cond_wait(&turned, &lock);
	printf("thread %ld sees %d\n", own, seen);
	turn++;
	pthread_cond_broadcast(&turned);
	pthread_mutex_unlock(&lock);
	return (void *)(own * 10);
}

int main(void)
{
	pthread_mutexattr_t kind;
	pthread_mutexattr_init(&kind);
	pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&recursive, &kind);
	pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_t checking;
	pthread_mutex_init(&checking, &kind);
	pthread_key_create(&key, drop);
	pthread_barrier_init(&barrier, NULL, THREADS);
	pthread_t threads[THREADS];
	for (long i = 0; i < THREADS; i++) {
		if (pthread_create(&threads[i], NULL, work, (void *)i)) return 1;
	}
	long total = 0;
	for (int i = 0; i < THREADS; i++) {
		void *result;
		pthread_join(threads[i], &result);
		total += (long)result;
	}
	pthread_mutex_lock(&checking);
	printf("%ld %d %d %d\n", total, counted, made, (int)dropped);
	printf("%d %d\n", pthread_mutex_lock(&checking) != 0, pthread_mutex_trylock(&checking) != 0);
	return 0;
}
