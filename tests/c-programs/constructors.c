/* Functions that run before main and behind all others, and which call what any function calls. Each line says who ran;
 * they come in the order of their priorities, and of their marks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noinline))

static char *made;

__attribute__((constructor(201))) APART static void the_second(void) { printf("second, and what the first has made: %s\n", made); }
__attribute__((constructor(101))) APART static void the_first(void) {
  made = malloc(32);
  strcpy(made, "a block of memory");
  puts("first");
}
__attribute__((constructor)) APART static void the_third(int count, char **arguments) { printf("third, %d %d\n", count > 1, arguments[count] == NULL); }
/* As other languages have them: an entry in the section, whose number is its priority. */
APART static void entered(void) { printf("entered between the second and the third: %s\n", made); }
__attribute__((section(".init_array.00300"), used)) static void (*const entry)(void) = entered;
__attribute__((destructor)) static void last(void) {
  printf("last: %s\n", made);
  free(made);
}
static void named(void) { puts("named by atexit"); }

int main(void) {
  printf("main: %s\n", made);
  return atexit(named);
}
