/* Jumps out of functions, as interpreters in C report errors: in the simulator, whose code is this machine's. */
#include <setjmp.h>
#include <stdio.h>

static jmp_buf place;

static void deep(int depth)
{
	if (depth == 0) longjmp(place, 42);
	deep(depth - 1);
	puts("never here");
}

int main(void)
{
	volatile int tries = 0;
	int code = setjmp(place);
	printf("code %d\n", code);
	if (++tries < 3) deep(5);
	return 0;
}
