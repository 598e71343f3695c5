/* A file, its mappings and its descriptors: each sees what was done by the others. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096, THREADS = 4, ROUNDS = 50, RECORD = 64 };

static char name[4096];

static int opened(int flags)
{
	int fd = open(name, flags, 0644);
	if (fd < 0) perror("open"), exit(1);
	return fd;
}

static char *mapped(int fd, size_t len, int can, int how, off_t from)
{
	char *at = mmap(NULL, len, can, how, fd, from);
	return at == MAP_FAILED ? (printf("mmap: %s\n", strerror(errno)), NULL) : at;
}

static void ended(void *at, size_t len)
{
	if (munmap(at, len)) perror("munmap");
}

/* What a descriptor of its own reads. */
static const char *content(off_t from, size_t len)
{
	static char text[64];
	int fd = opened(O_RDONLY);
	ssize_t got = pread(fd, text, len, from);
	text[got < 0 ? 0 : got] = 0;
	close(fd);
	return text;
}

static void seen_in_mappings(void)
{
	int fd = opened(O_RDWR | O_CREAT | O_TRUNC), other = opened(O_WRONLY);
	char page[PAGE];
	memset(page, '.', sizeof page);
	for (int i = 0; i < 3; i++) write(fd, page, sizeof page);
	char *all = mapped(fd, 4 * PAGE, PROT_READ, MAP_SHARED, 0);
	char *second = mapped(fd, 2 * PAGE, PROT_READ, MAP_SHARED, PAGE);
	char *private = mapped(fd, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, 0);
	private[0] = 'p';
	pwrite(other, "at five", 7, 5);
	printf("pwrite: %.7s, private %.1s\n", all + 5, private);
	lseek(fd, PAGE - 3, SEEK_SET);
	write(fd, "across", 6);
	printf("write: %.6s %.3s\n", all + PAGE - 3, second);
	FILE *stream = fopen(name, "r+");
	fseek(stream, 2 * PAGE, SEEK_SET);
	fprintf(stream, "a stream");
	fclose(stream);
	printf("stream: %.8s %.8s\n", all + 2 * PAGE, second + PAGE);
	int end = opened(O_WRONLY | O_APPEND);
	write(end, "appended", 8);
	pwrite(end, " again", 6, 0);
	printf("append: %.14s\n", all + 3 * PAGE);
	ftruncate(fd, 2 * PAGE + 4);
	printf("cut: %.4s <%s>\n", all + 2 * PAGE, all + 2 * PAGE + 4);
	ftruncate(fd, 3 * PAGE);
	pwrite(fd, "grown", 5, 3 * PAGE - 5);
	printf("grown: %d %.5s\n", all[2 * PAGE + 5], all + 3 * PAGE - 5);
	off_t from = 5;
	lseek(other, 100, SEEK_SET);
	printf("copied %d: ", (int)copy_file_range(fd, &from, other, NULL, 7, 0));
	printf("%.7s\n", all + 100);
	truncate(name, 50);
	printf("truncate: %d %.7s\n", all[100], all + 5);
	close(opened(O_WRONLY | O_TRUNC));
	ftruncate(fd, PAGE);
	printf("emptied: %d\n", all[5]);
	close(end), close(other), close(fd);
	ended(all, 4 * PAGE), ended(second, 2 * PAGE), ended(private, PAGE);
}

static void seen_in_the_file(void)
{
	int fd = opened(O_RDWR | O_CREAT | O_TRUNC);
	ftruncate(fd, 4 * PAGE);
	char *all = mapped(fd, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
	strcpy(all + 10, "stored");
	printf("pread: %s\n", content(10, 6));
	strcpy(all + PAGE, "at the cursor");
	lseek(fd, PAGE, SEEK_SET);
	char text[32] = "";
	read(fd, text, 13);
	printf("read: %s\n", text);
	all[10] = 'S';
	pwrite(fd, "T", 1, 11);
	printf("both: %s\n", content(10, 6));
	/* A store, then a write to the same place, and the other way round. */
	all[20] = 'a', pwrite(fd, "b", 1, 20);
	pwrite(fd, "a", 1, 21), all[21] = 'b';
	printf("last: %s %.2s\n", content(20, 2), all + 20);
	char *private = mapped(fd, PAGE, PROT_READ, MAP_PRIVATE, 0);
	printf("private: %s\n", private + 10);
	ended(private, PAGE);

	int reader = opened(O_RDONLY);
	char *same = mapped(reader, PAGE, PROT_READ, MAP_SHARED, PAGE);
	all[PAGE] = 'A';
	printf("within: %s\n", same);
	/* It lies in no other, so it takes a call. */
	char *longer = mapped(fd, 6 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
	strcpy(all + 2 * PAGE, "from the first");
	msync(all, 4 * PAGE, MS_SYNC);
	printf("longer: %s\n", longer + 2 * PAGE);
	strcpy(longer + 2 * PAGE + 100, "from the longer");
	all[2 * PAGE] = 'F';
	msync(longer, 6 * PAGE, MS_ASYNC);
	msync(all + 2 * PAGE, PAGE, MS_ASYNC);
	printf("and back: %s, %.1s, %s\n", all + 2 * PAGE + 100, longer + 2 * PAGE, content(2 * PAGE, 1));
	ended(all, 4 * PAGE);
	strcpy(longer + 3 * PAGE, "still there");
	printf("%s\n", content(3 * PAGE, 11));
	ended(longer, 6 * PAGE), ended(same, PAGE);

	printf("closed: ");
	char *kept = mapped(fd, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, PAGE);
	close(fd), close(reader);
	strcpy(kept + PAGE - 4, "over two pages");
	ended(kept, PAGE);
	ended(kept + PAGE, PAGE);
	printf("%s\n", content(2 * PAGE - 4, 14));
}

static void other_ways(void)
{
	int fd = opened(O_RDWR), reader = opened(O_RDONLY), writer = opened(O_WRONLY);
	mapped(reader, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
	mapped(writer, PAGE, PROT_READ, MAP_SHARED, 0);
	char *read_only = mapped(reader, PAGE, PROT_READ, MAP_SHARED, 0);
	printf("protect: %d %s\n", mprotect(read_only, PAGE, PROT_READ | PROT_WRITE), strerror(errno));
	ended(read_only, PAGE);
	char *at = mapped(fd, PAGE, PROT_READ, MAP_SHARED, 0);
	printf("protect: %d\n", mprotect(at, PAGE, PROT_READ | PROT_WRITE));
	strcpy(at, "may be stored");
	printf("%s\n", content(0, 13));
	at = mremap(at, PAGE, 3 * PAGE, MREMAP_MAYMOVE);
	if (at == MAP_FAILED) perror("mremap"), exit(1);
	strcpy(at + 2 * PAGE, "longer now");
	printf("%s, %s\n", at, content(2 * PAGE, 10));
	at = mremap(at, 3 * PAGE, PAGE, MREMAP_MAYMOVE);
	at[0] = 'M';
	pwrite(writer, "n", 1, 12);
	printf("%s, %s\n", at, content(0, 13));
	fsync(fd);
	ended(at, PAGE);
	close(fd), close(reader), close(writer);
}

static char *records;
static pthread_barrier_t all_there;

/* Each thread has records of its own; it stores to some of them and writes the others. */
static void *work(void *argument)
{
	int number = (int)(long)argument, fd = opened(O_RDWR);
	long wrong = 0;
	pthread_barrier_wait(&all_there);
	for (int round = 0; round < ROUNDS; round++) {
		off_t place = (off_t)(round * THREADS + number) * RECORD;
		char record[RECORD], back[RECORD];
		memset(record, 'a' + (round + number) % 26, sizeof record);
		if (round % 2) memcpy(records + place, record, sizeof record);
		else pwrite(fd, record, sizeof record, place);
		if (pread(fd, back, sizeof back, place) != RECORD || memcmp(back, record, RECORD)) wrong++;
		if (memcmp(records + place, record, RECORD)) wrong++;
		if (round % 10 == 9) msync(records, PAGE, MS_ASYNC);
		if (round % 10 == number) {
			char *own = mapped(fd, PAGE, PROT_READ, MAP_SHARED, 0);
			if (round * THREADS * RECORD < PAGE - THREADS * RECORD && memcmp(own + place, record, RECORD)) wrong++;
			ended(own, PAGE);
		}
	}
	close(fd);
	return (void *)wrong;
}

static void by_threads(void)
{
	pthread_t threads[THREADS];
	int fd = opened(O_RDWR | O_TRUNC);
	size_t len = THREADS * ROUNDS * RECORD;
	long wrong = 0, sum = 0;
	ftruncate(fd, len);
	records = mapped(fd, len, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
	pthread_barrier_init(&all_there, NULL, THREADS);
	for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < THREADS; i++) {
		void *theirs;
		pthread_join(threads[i], &theirs);
		wrong += (long)theirs;
	}
	ended(records, len);
	char byte;
	for (size_t i = 0; i < len && read(fd, &byte, 1) == 1; i++) sum = (sum * 31 + byte) % 1000003;
	printf("threads: %ld wrong, %ld\n", wrong, sum);
	close(fd);
}

int main(int count, char **arguments)
{
	for (int i = 1; i < count; i++)
		if (!strcmp(arguments[i], "-d") && i + 1 < count) snprintf(name, sizeof name, "%s/mapped", arguments[i + 1]);
	seen_in_mappings();
	seen_in_the_file();
	other_ways();
	by_threads();
	/* What is stored at the end is in the file, however the program ends. */
	int fd = opened(O_RDWR);
	char *at = mapped(fd, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
	strcpy(at, "stored last");
	fflush(stdout);
	_exit(3);
}
