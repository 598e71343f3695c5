/* Something of each of C's headers, so that a device's library can be compared with this machine's. */
#include <assert.h>
#include <complex.h>
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <fnmatch.h>
#include <getopt.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <regex.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

static int down(const void *a, const void *b) { return *(const int *)b - *(const int *)a; }

static double sum(int count, ...)
{
	va_list all, again;
	va_start(all, count);
	va_copy(again, all);
	double total = 0;
	for (int i = 0; i < count; i++) total += va_arg(all, double);
	for (int i = 0; i < count; i++) total += va_arg(again, double);
	va_end(again);
	va_end(all);
	return total;
}

static void say(const char *format, ...)
{
	va_list all;
	va_start(all, format);
	char text[256];
	int length = vsnprintf(text, sizeof text, format, all);
	va_end(all);
	printf("%d <%s>\n", length, text);
}

static void numbers(void)
{
	say("%5d|%-5d|%05d|%+d|%x|%#o|%llu", 42, 42, 42, 42, 255, 8, ULLONG_MAX);
	say("%f %.3e %g %G %a", 3.25, 12345.678, 0.0001, 1e-10, 1.0);
	say("%s|%10.3s|%-6s|%c|%%|%p", "text", "abcdef", "ab", 'z', (void *)0x10);
	say("%zu %jd %hhd %ld " PRIx64, (size_t)7, (intmax_t)-7, 300, -1L);
	char *end;
	double tiny = strtod(" -1e-320rest", &end);
	printf("%.17g %.17g %s\n", strtod("0x1.91eb851eb851fp+1", NULL), tiny, end);
	printf("%.17g %.17g %.9g\n", strtod("1e400", NULL), strtod("nan", NULL) != strtod("nan", NULL) ? 1.0 : 0.0, strtof("0.1", NULL));
	printf("%ld %lu %lld %d\n", strtol("-0x1f", NULL, 0), strtoul("777", NULL, 8), strtoll("zz", NULL, 36), atoi(" 12x"));
	errno = 0;
	long most = strtol("999999999999999999999", NULL, 10);
	printf("%d %d\n", most == LONG_MAX, errno == ERANGE);
	int day, got;
	char name[20], rest[20];
	double amount;
	got = sscanf("17 of may, 3.5 [abc]", "%d of %19[a-z], %lf [%19[^]]", &day, name, &amount, rest);
	printf("%d %d %s %.2f %s\n", got, day, name, amount, rest);
	printf("%.3f %.3f\n", sum(3, 1.0, 2.0, 3.5), creal(csqrt(-4 + 0 * I)) + cimag(csqrt(-4 + 0 * I)));
	double whole, part = modf(-3.75, &whole);
	int exponent;
	double mantissa = frexp(40.0, &exponent);
	printf("%g %g %g %d %g %g\n", part, whole, mantissa, exponent, ldexp(0.75, 4), fmod(10.5, 3));
	printf("%.6f %.6f %.6f %ld %g\n", sin(1), pow(2, 0.5), lgamma(5.5), lround(2.5), hypot(3, 4));
}

static void texts(void)
{
	char room[64] = "one,two;three";
	char *keep, *word = strtok_r(room, ",;", &keep);
	for (; word; word = strtok_r(NULL, ",;", &keep)) printf("%s ", word);
	printf("%s %s %zu %zu\n", strstr("haystack", "st"), strrchr("a/b/c", '/'), strspn("aab", "a"), strcspn("abc", "c"));
	printf("%d %d %d\n", strcasecmp("HeLLo", "hello"), strncmp("abcd", "abce", 3), memcmp("a", "b", 1) < 0);
	char *copy = strdup("duplicated");
	memmove(copy + 2, copy, 5);
	printf("%s %d%d%d %c\n", copy, !!isalpha('q'), !!ispunct('!'), !!isspace('x'), toupper('q'));
	free(copy);
	wchar_t wide[8];
	setlocale(LC_ALL, "C");
	printf("%zu %ls %d\n", mbstowcs(wide, "wide", 8), wide, wcscmp(wide, L"wider") < 0);
	regex_t pattern;
	regmatch_t found[3];
	assert(!regcomp(&pattern, "([a-z]+)-([0-9]+)", REG_EXTENDED));
	int missed = regexec(&pattern, "see item-42 there", 3, found, 0);
	printf("%d %d-%d %d-%d\n", missed, (int)found[1].rm_so, (int)found[1].rm_eo, (int)found[2].rm_so, (int)found[2].rm_eo);
	regfree(&pattern);
	char path[] = "/usr/lib/x.so", other[] = "/usr/lib/x.so";
	printf("%s %s %d\n", basename(path), dirname(other), fnmatch("*.[ch]", "main.c", 0));
}

static void tables(void)
{
	int all[] = {5, 3, 9, 1, 7}, key = 3;
	qsort(all, 5, sizeof *all, down);
	int *at = bsearch(&key, all, 5, sizeof *all, down);
	printf("%d %d %d\n", all[0], all[4], (int)(at - all));
	int *block = calloc(4, sizeof *block);
	block = realloc(block, 400 * sizeof *block);
	block[399] = 1;
	printf("%d %d\n", block[0], block[399]);
	free(block);
	void *aligned = NULL;
	printf("%d %d\n", posix_memalign(&aligned, 256, 100), (int)((uintptr_t)aligned % 256));
	free(aligned);
	hcreate(10);
	hsearch((ENTRY){"key", "value"}, ENTER);
	printf("%s\n", (char *)hsearch((ENTRY){"key", NULL}, FIND)->data);
	hdestroy();
	div_t parts = div(-17, 5);
	printf("%d %d %d\n", parts.quot, parts.rem, abs(-4));
	srand(1);
	printf("%d\n", rand() >= 0);
}

static void times(void)
{
	time_t second = 951827696;
	struct tm parts = *gmtime(&second), again = {0};
	char text[80];
	strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %a %j %U %%", &parts);
	puts(text);
	assert(strptime("2000-02-29 12:34:56", "%Y-%m-%d %H:%M:%S", &again));
	printf("%ld %.0f %s", (long)timegm(&again), difftime(second, second - 90), asctime(&parts));
	struct timespec now;
	printf("%d %d\n", clock_gettime(CLOCK_MONOTONIC, &now), time(NULL) > second);
}

static void files(const char *dir)
{
	char name[300], line[80];
	snprintf(name, sizeof name, "%s/notes.txt", dir);
	FILE *file = fopen(name, "w+");
	if (!file) {
		printf("%s: %s\n", name, strerror(errno));
		return;
	}
	for (int i = 0; i < 1000; i++) fprintf(file, "line %d\n", i);
	printf("%ld", ftell(file));
	rewind(file);
	int lines = 0;
	while (fgets(line, sizeof line, file)) lines++;
	printf(" %d %d", lines, !!feof(file));
	fseek(file, -4, SEEK_END);
	printf(" %c", fgetc(file));
	ungetc('u', file);
	printf("%c\n", fgetc(file));
	fclose(file);
	char *text;
	size_t length;
	file = open_memstream(&text, &length);
	fputs("in memory", file);
	fclose(file);
	printf("%s %zu\n", text, length);
	free(text);
	file = fmemopen("12 34", 5, "r");
	int a, b;
	int read = fscanf(file, "%d %d", &a, &b);
	printf("%d %d\n", read, a + b);
	fclose(file);
	int was = access(name, F_OK), gone = remove(name);
	printf("%d %d %d\n", was, gone, access(name, F_OK));
	printf("%d\n", fopen("/no/such/file", "r") == NULL);
}

static void last(void) { printf("last"); }
static void first(void) { puts("first at the end"); }

int main(int argc, char **argv)
{
	atexit(last);
	atexit(first);
	int option, loud = 0;
	const char *dir = ".";
	while ((option = getopt(argc, argv, "ld:")) != -1) {
		if (option == 'l') loud = 1;
		if (option == 'd') dir = optarg;
	}
	printf("%d %d %s\n", loud, argc - optind, argv[optind]);
	numbers();
	texts();
	tables();
	times();
	files(dir);
	char line[80];
	while (fgets(line, sizeof line, stdin)) printf("in: %s", line);
	fprintf(stderr, "to standard error\n");
	return 7;
}
