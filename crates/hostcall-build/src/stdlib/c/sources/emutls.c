/* Variables of a thread's own, which clang reaches through this function in the simulator: a thread of the program is
 * none of the processor's. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* As the compiler writes one for each variable. */
struct control {
	unsigned long size, align, number;
	const void *initial;
};

struct values {
	unsigned long room;
	void *all[];
};

unsigned long sys_tls_key(unsigned long *, void (*)(void *));
void *sys_tls_get(unsigned long);
void sys_tls_set(unsigned long, void *);

static unsigned long key, last;

static void drop(void *values)
{
	struct values *own = values;
	for (unsigned long i = 0; i < own->room; i++) free(own->all[i]);
	free(own);
}

/* A variable's number, from 1 on, which the first thread that reaches it gives it. */
static unsigned long number(struct control *variable)
{
	unsigned long found = __atomic_load_n(&variable->number, __ATOMIC_ACQUIRE);
	if (found) return found;
	unsigned long fresh = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
	return __atomic_compare_exchange_n(&variable->number, &found, fresh, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ? fresh : found;
}

void *__emutls_get_address(struct control *variable)
{
	unsigned long at = number(variable), found = __atomic_load_n(&key, __ATOMIC_ACQUIRE);
	if (!found) found = sys_tls_key(&key, drop);
	struct values *own = sys_tls_get(found);
	if (!own || own->room < at) {
		unsigned long room = at + 15, had = own ? own->room : 0;
		own = realloc(own, sizeof *own + room * sizeof *own->all);
		if (!own) abort();
		memset(own->all + had, 0, (room - had) * sizeof *own->all);
		own->room = room;
		sys_tls_set(found, own);
	}
	if (!own->all[at - 1]) {
		unsigned long align = variable->align < sizeof(void *) ? sizeof(void *) : variable->align;
		void *value;
		if (posix_memalign(&value, align, variable->size)) abort();
		if (variable->initial) memcpy(value, variable->initial, variable->size);
		else memset(value, 0, variable->size);
		own->all[at - 1] = value;
	}
	return own->all[at - 1];
}
