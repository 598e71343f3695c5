/* Variables of a thread's own: in the simulator, for clang has none for GPUs. */
#include <pthread.h>
#include <stdio.h>

static _Thread_local int count = 5;
static _Thread_local char text[40];

static void *work(void *argument)
{
	for (int i = 0; i < 1000; i++) count++;
	snprintf(text, sizeof text, "thread %s: %d", (char *)argument, count);
	puts(text);
	return &count;
}

int main(void)
{
	pthread_t one;
	void *theirs;
	for (int i = 0; i < 3; i++) {
		pthread_create(&one, NULL, work, i ? "other" : "first");
		pthread_join(one, &theirs);
	}
	printf("main: %d %d <%s>\n", count, theirs != &count, text);
	return 0;
}
