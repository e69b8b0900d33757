/* Loaded into a command (LD_PRELOAD), makes one of its allocations fail: the part of tools/faults that counts them.
 *
 * FAULT_MEMORY=N lets the Nth allocation of the process find no memory; "N+" also all behind it; 0 only counts.
 * FAULT_MEMORY_REPORT names a file that gets the lines "fault CALL BYTES" and, from a process that exits, "count K".
 * It works with glibc, whose own names of the functions are what is called. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static atomic_ulong count;
static unsigned long first, last;
static int report = -1;

static void write_line(const char *what, unsigned long number)
{
	char line[64];
	int len = snprintf(line, sizeof line, "%s %lu\n", what, number);
	if (report < 0 || write(report, line, len) != len)
		_exit(125);
}

__attribute__((constructor)) static void begin(void)
{
	const char *nth = getenv("FAULT_MEMORY"), *path = getenv("FAULT_MEMORY_REPORT");
	if (!nth || !path || (report = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) < 0)
		_exit(125);
	char *rest;
	first = strtoul(nth, &rest, 10);
	last = *rest == '+' ? ULONG_MAX : first;
	atomic_store(&count, 0);
}

__attribute__((destructor)) static void end(void)
{
	write_line("count", atomic_load(&count));
}

static int fails(const char *call, size_t bytes)
{
	unsigned long nth = atomic_fetch_add(&count, 1) + 1;
	if (!first || nth < first || nth > last)
		return 0;
	if (nth == first) {
		char what[32] = "fault ";
		write_line(strcat(what, call), bytes);
	}
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t bytes)
{
	return fails("malloc", bytes) ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t number, size_t bytes)
{
	return fails("calloc", number * bytes) ? NULL : __libc_calloc(number, bytes);
}

void *realloc(void *old, size_t bytes)
{
	return fails("realloc", bytes) ? NULL : __libc_realloc(old, bytes);
}

void *memalign(size_t alignment, size_t bytes)
{
	return fails("memalign", bytes) ? NULL : __libc_memalign(alignment, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
	return memalign(alignment, bytes);
}

int posix_memalign(void **to, size_t alignment, size_t bytes)
{
	void *memory = memalign(alignment, bytes);
	if (!memory)
		return ENOMEM;
	*to = memory;
	return 0;
}
