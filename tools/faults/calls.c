/* Runs a command and makes one of its system calls go wrong: the part of tools/faults that traces.
 *
 *     calls REPORT CALLS N ACTION COMMAND [ARGUMENT...]
 *
 * CALLS are names with commas between them. Calls of these names are counted over all threads, from the program's
 * entry on (what the dynamic loader does before is not the program's). The Nth of them, with "N+" also all behind it,
 *
 *     ERRNO (a number)   is not made, and gives this error
 *     short              is given half of its bytes to read or write, really: what it reads or writes is right
 *     kill, int, term    is not made, and the process gets SIGKILL; or is made, with SIGINT or SIGTERM on its way
 *
 * N of 0 only counts. What stays spares standard streams if it begins elsewhere: a disk is full, and no terminal. A "!"
 * in front of N takes files without names away (O_TMPFILE fails with EOPNOTSUPP), as some file systems have none.
 * REPORT gets the lines
 *
 *     count K            how many there were
 *     fault CALL WHERE   what the first fault met: a path, or the number of an open file and where it leads
 *
 * The exit code is that of the command, which a signal ends as it ended the command; 125 is a failure of this
 * program. A filter (seccomp) stops the process at the counted calls alone: so a run takes milliseconds, and calls
 * that avoid libc are seen. */
#define _GNU_SOURCE
#include <errno.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef __x86_64__
#error "the registers are those of x86-64"
#endif

/* Which argument says what the call is about: a path, or an open file. */
enum about { PATH0, PATH1, FILE0, NOTHING };

static const struct call {
	const char *name;
	long number;
	enum about about;
} CALLS[] = {
	{"read", SYS_read, FILE0}, {"pread64", SYS_pread64, FILE0}, {"readv", SYS_readv, FILE0},
	{"preadv", SYS_preadv, FILE0}, {"getdents64", SYS_getdents64, FILE0}, {"readlink", SYS_readlink, PATH0},
	{"write", SYS_write, FILE0}, {"pwrite64", SYS_pwrite64, FILE0}, {"writev", SYS_writev, FILE0},
	{"pwritev", SYS_pwritev, FILE0}, {"pwritev2", SYS_pwritev2, FILE0},
	{"copy_file_range", SYS_copy_file_range, FILE0}, {"sendfile", SYS_sendfile, FILE0}, {"splice", SYS_splice, FILE0},
	{"fallocate", SYS_fallocate, FILE0}, {"ftruncate", SYS_ftruncate, FILE0},
	{"fsync", SYS_fsync, FILE0}, {"fdatasync", SYS_fdatasync, FILE0},
	{"open", SYS_open, PATH0}, {"openat", SYS_openat, PATH1}, {"mkdir", SYS_mkdir, PATH0}, {"mkdirat", SYS_mkdirat, PATH1},
	{"rename", SYS_rename, PATH0}, {"renameat", SYS_renameat, PATH1}, {"renameat2", SYS_renameat2, PATH1},
	{"link", SYS_link, PATH0}, {"linkat", SYS_linkat, PATH1},
	{"unlink", SYS_unlink, PATH0}, {"unlinkat", SYS_unlinkat, PATH1}, {"rmdir", SYS_rmdir, PATH0},
	{"stat", SYS_stat, PATH0}, {"lstat", SYS_lstat, PATH0}, {"fstat", SYS_fstat, FILE0},
	{"newfstatat", SYS_newfstatat, PATH1}, {"statx", SYS_statx, PATH1}, {"fstatfs", SYS_fstatfs, FILE0},
	{"access", SYS_access, PATH0}, {"getcwd", SYS_getcwd, NOTHING}, {"chmod", SYS_chmod, PATH0},
	{"fchmod", SYS_fchmod, FILE0}, {"fchmodat", SYS_fchmodat, PATH1}, {"fchown", SYS_fchown, FILE0},
	{"lseek", SYS_lseek, FILE0}, {"fcntl", SYS_fcntl, FILE0}, {"dup", SYS_dup, FILE0}, {"ioctl", SYS_ioctl, FILE0},
	{"poll", SYS_poll, NOTHING}, {"ppoll", SYS_ppoll, NOTHING}, {"pipe2", SYS_pipe2, NOTHING},
	{"socketpair", SYS_socketpair, NOTHING}, {"sendto", SYS_sendto, FILE0}, {"recvfrom", SYS_recvfrom, FILE0},
	{"mmap", SYS_mmap, NOTHING}, {"mremap", SYS_mremap, NOTHING}, {"mprotect", SYS_mprotect, NOTHING},
	{"brk", SYS_brk, NOTHING}, {"madvise", SYS_madvise, NOTHING},
	{"clone", SYS_clone, NOTHING}, {"clone3", SYS_clone3, NOTHING}, {"getrandom", SYS_getrandom, NOTHING},
	{"rt_sigaction", SYS_rt_sigaction, NOTHING}, {"sigaltstack", SYS_sigaltstack, NOTHING},
	{"sched_getaffinity", SYS_sched_getaffinity, NOTHING}, {"prlimit64", SYS_prlimit64, NOTHING},
};
enum { NUMBER_OF_CALLS = sizeof CALLS / sizeof *CALLS };

static void fail(const char *what)
{
	fprintf(stderr, "faults: %s: %s\n", what, strerror(errno));
	exit(125);
}

static const struct call *call_of(long number)
{
	for (const struct call *call = CALLS; call < CALLS + NUMBER_OF_CALLS; call++)
		if (call->number == number)
			return call;
	return NULL;
}

/* Which calls are counted, by their places in CALLS. */
static char counted[NUMBER_OF_CALLS];

static void choose(char *names)
{
	for (char *name = strtok(names, ","); name; name = strtok(NULL, ",")) {
		int at = 0;
		while (at < NUMBER_OF_CALLS && strcmp(CALLS[at].name, name))
			at++;
		if (at == NUMBER_OF_CALLS) {
			fprintf(stderr, "faults: there is no call %s\n", name);
			exit(125);
		}
		counted[at] = 1;
	}
}

/* The child: stops until it is traced, and runs the command behind a filter for the counted calls. */
static void become(char **command, int named_only)
{
	struct sock_filter filter[2 * NUMBER_OF_CALLS + 4];
	unsigned short len = 0;
	filter[len++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (int at = 0; at < NUMBER_OF_CALLS; at++)
		if (counted[at] || (named_only && (CALLS[at].number == SYS_open || CALLS[at].number == SYS_openat))) {
			filter[len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CALLS[at].number, 0, 1);
			filter[len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
		}
	filter[len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = {len, filter};
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		fail("ptrace");
	raise(SIGSTOP);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		fail("seccomp");
	execvp(*command, command);
	fail(*command);
}

static void copy_from(pid_t pid, unsigned long address, void *to, size_t len)
{
	struct iovec ours = {to, len}, theirs = {(void *)address, len};
	if (process_vm_readv(pid, &ours, 1, &theirs, 1, 0) != (ssize_t)len)
		fail("process_vm_readv");
}

/* The address of the program's first instruction: where the loader ends. */
static unsigned long entry_of(pid_t pid)
{
	char path[32];
	snprintf(path, sizeof path, "/proc/%d/auxv", pid);
	FILE *file = fopen(path, "r");
	Elf64_auxv_t entry;
	while (file && fread(&entry, sizeof entry, 1, file) == 1)
		if (entry.a_type == AT_ENTRY) {
			fclose(file);
			return entry.a_un.a_val;
		}
	fail(path);
	return 0;
}

/* Says what a call is about. */
static void report_fault(FILE *report, pid_t pid, const struct call *call, struct user_regs_struct *regs)
{
	char where[PATH_MAX] = "", link[64];
	unsigned long path = call->about == PATH0 ? regs->rdi : regs->rsi;
	switch (call->about) {
	case PATH0:
	case PATH1:
		for (size_t at = 0; path && at + 1 < sizeof where; at++) {
			copy_from(pid, path + at, where + at, 1);
			if (!where[at])
				break;
		}
		break;
	case FILE0:
		snprintf(link, sizeof link, "/proc/%d/fd/%lld", pid, regs->rdi);
		int len = snprintf(where, sizeof where, "%lld ", regs->rdi);
		if (readlink(link, where + len, sizeof where - len - 1) < 0)
			where[len] = 0;
		break;
	case NOTHING:
		break;
	}
	for (char *c = where; *c; c++)
		if (*c == '\n')
			*c = '?';
	fprintf(report, "fault %s %s\n", call->name, where);
	fflush(report);
}

/* Halves what a call reads or writes. False if there is nothing to halve. */
static int halve(pid_t pid, struct user_regs_struct *regs)
{
	struct iovec part;
	unsigned long long *len = &regs->rdx;
	switch (regs->orig_rax) {
	case SYS_writev:
	case SYS_pwritev:
	case SYS_readv:
	case SYS_preadv:
		/* The call with one buffer in the place of the one with several: of the first of them. */
		for (;; regs->rsi += sizeof part, regs->rdx--) {
			if (!regs->rdx)
				return 0;
			copy_from(pid, regs->rsi, &part, sizeof part);
			if (part.iov_len)
				break;
		}
		regs->orig_rax = regs->orig_rax == SYS_writev ? SYS_write
			: regs->orig_rax == SYS_pwritev ? SYS_pwrite64
			: regs->orig_rax == SYS_readv ? SYS_read : SYS_pread64;
		regs->rsi = (unsigned long)part.iov_base;
		regs->rdx = part.iov_len;
		break;
	case SYS_copy_file_range:
	case SYS_splice:
		len = &regs->r8;
		break;
	case SYS_sendfile:
		len = &regs->r10;
		break;
	case SYS_getrandom:
		len = &regs->rsi;
		break;
	}
	if (*len < 2)
		return 0;
	*len /= 2;
	return 1;
}

/* Threads in a call with other arguments than theirs, which are put back when it returns. */
static struct {
	pid_t pid;
	struct user_regs_struct regs;
} diverted[64];

static void divert(pid_t pid, const struct user_regs_struct *before, struct user_regs_struct *regs)
{
	int at = 0;
	while (diverted[at].pid)
		if (++at == 64)
			fail("too many threads");
	diverted[at].pid = pid;
	diverted[at].regs = *before;
	ptrace(PTRACE_SETREGS, pid, NULL, regs);
}

static void put_back(pid_t pid)
{
	struct user_regs_struct regs;
	for (int at = 0; at < 64; at++) {
		const struct user_regs_struct *before = &diverted[at].regs;
		if (diverted[at].pid != pid || ptrace(PTRACE_GETREGS, pid, NULL, &regs))
			continue;
		regs.rdi = before->rdi;
		regs.rsi = before->rsi;
		regs.rdx = before->rdx;
		regs.r10 = before->r10;
		regs.r8 = before->r8;
		ptrace(PTRACE_SETREGS, pid, NULL, &regs);
		diverted[at].pid = 0;
	}
}

int main(int argc, char **argv)
{
	if (argc < 6) {
		fprintf(stderr, "usage: calls REPORT CALLS N ACTION COMMAND [ARGUMENT...]\n");
		return 125;
	}
	FILE *report = fopen(argv[1], "we");
	if (!report)
		fail(argv[1]);
	choose(argv[2]);
	int named_only = *argv[3] == '!';
	char *rest;
	unsigned long nth = strtoul(argv[3] + named_only, &rest, 10), count = 0;
	unsigned long last = *rest == '+' ? ULONG_MAX : nth;
	const char *action = argv[4];
	int number = atoi(action), reported = 0;
	int signal_to_send = !strcmp(action, "kill") ? SIGKILL : !strcmp(action, "int") ? SIGINT : !strcmp(action, "term") ? SIGTERM : 0;

	pid_t child = fork();
	if (child < 0)
		fail("fork");
	if (!child)
		become(argv + 5, named_only);
	int status, result = 125 << 8;
	if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
		fail("the child does not stop");
	if (ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_EXITKILL | PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEEXEC
			| PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACESYSGOOD))
		fail("ptrace");
	ptrace(PTRACE_CONT, child, NULL, NULL);

	unsigned long entry = 0;
	long code = 0;
	int started = 0;
	pid_t pid;
	/* Threads may be gone when they are asked: then ptrace fails, and waiting says so next. */
	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		if (!WIFSTOPPED(status)) {
			if (pid == child)
				result = status;
			continue;
		}
		struct user_regs_struct regs;
		int signal = WSTOPSIG(status), event = status >> 16;
		enum __ptrace_request next = PTRACE_CONT;
		if (event == PTRACE_EVENT_EXEC) {
			started = 0;
			entry = entry_of(pid);
			code = ptrace(PTRACE_PEEKTEXT, pid, entry, NULL);
			ptrace(PTRACE_POKETEXT, pid, entry, (code & ~0xffL) | 0xcc);
		} else if (event == PTRACE_EVENT_SECCOMP) {
			if (ptrace(PTRACE_GETREGS, pid, NULL, &regs))
				continue;
			const struct call *call = call_of(regs.orig_rax);
			int flags = regs.orig_rax == SYS_open ? regs.rsi : regs.orig_rax == SYS_openat ? regs.rdx : 0;
			if (started && named_only && (flags & O_TMPFILE) == O_TMPFILE) {
				regs.orig_rax = -1;
				regs.rax = -EOPNOTSUPP;
				ptrace(PTRACE_SETREGS, pid, NULL, &regs);
			} else if (started && counted[call - CALLS] && ++count >= nth && nth && count <= last
					&& !(reported && call->about == FILE0 && regs.rdi <= 2)) {
				if (!reported++)
					report_fault(report, pid, call, &regs);
				struct user_regs_struct before = regs;
				if (number && regs.orig_rax == SYS_brk) {
					/* It gives no errors, but the end that there is: as when it is asked for that. */
					regs.rdi = 0;
					divert(pid, &before, &regs);
					next = PTRACE_SYSCALL;
				} else if (number) {
					regs.orig_rax = -1;
					regs.rax = -number;
					ptrace(PTRACE_SETREGS, pid, NULL, &regs);
				} else if (signal_to_send) {
					kill(child, signal_to_send);
				} else if (halve(pid, &regs)) {
					divert(pid, &before, &regs);
					next = PTRACE_SYSCALL;
				}
			}
		} else if (signal == (SIGTRAP | 0x80)) {
			put_back(pid);
		} else if (!event && signal == SIGTRAP && !started) {
			started = 1;
			ptrace(PTRACE_POKETEXT, pid, entry, code);
			ptrace(PTRACE_GETREGS, pid, NULL, &regs);
			regs.rip = entry;
			ptrace(PTRACE_SETREGS, pid, NULL, &regs);
		} else if (!event && signal != SIGSTOP) {
			/* Threads begin with a SIGSTOP, and nobody else sends one. */
			ptrace(next, pid, NULL, signal);
			continue;
		}
		ptrace(next, pid, NULL, NULL);
	}
	fprintf(report, "count %lu\n", count);
	fclose(report);
	if (WIFEXITED(result))
		return WEXITSTATUS(result);
	struct rlimit none = {0, 0};
	setrlimit(RLIMIT_CORE, &none);
	signal(WTERMSIG(result), SIG_DFL);
	raise(WTERMSIG(result));
	return 128 + WTERMSIG(result);
}
