"""One run of the command with one fault."""

import errno
import itertools
import os
import subprocess
import threading

from places import INPUTS, RUNS, SHIM, TRACER

# Longer than any run takes.
TIMEOUT = 120

# System calls by what they are for, and the errors that they may have; "+" is one that stays.
CALLS = {
    "write": (("write", "pwrite64", "writev", "pwritev", "pwritev2", "copy_file_range", "sendfile", "splice"),
              ("ENOSPC", "ENOSPC+", "EIO", "EDQUOT+", "EFBIG", "EPIPE", "EINTR", "short", "short+")),
    "room": (("fallocate",), ("ENOSPC", "EOPNOTSUPP", "EINTR", "EIO")),
    "length": (("ftruncate",), ("EIO", "ENOSPC", "EINTR")),
    "name": (("rename", "renameat", "renameat2", "link", "linkat"), ("EIO", "EIO+", "ENOSPC+", "EACCES+", "EXDEV")),
    "remove": (("unlink", "unlinkat", "rmdir"), ("EIO", "EACCES")),
    "read": (("read", "pread64", "readv", "preadv"), ("EIO", "EIO+", "EINTR", "short", "short+")),
    "list": (("getdents64", "readlink"), ("EIO", "EIO+")),
    "open": (("open", "openat"), ("EMFILE", "EMFILE+", "EACCES", "EIO", "EINTR")),
    "folder": (("mkdir", "mkdirat"), ("ENOSPC", "EIO", "EACCES")),
    "sync": (("fsync", "fdatasync"), ("EIO", "ENOSPC", "EINTR")),
    "status": (("stat", "lstat", "fstat", "newfstatat", "statx", "fstatfs", "access", "getcwd", "lseek"), ("EIO", "EIO+", "EACCES")),
    "rights": (("chmod", "fchmod", "fchmodat", "fchown"), ("EPERM", "EIO")),
    "wait": (("poll", "ppoll"), ("EINTR", "ENOMEM")),
    "pipe": (("fcntl", "dup", "pipe2", "socketpair"), ("EMFILE",)),
    "wake": (("sendto", "recvfrom"), ("EINTR",)),
    "thread": (("clone", "clone3"), ("EAGAIN", "EAGAIN+")),
    "random": (("getrandom",), ("ENOSYS", "ENOSYS+", "EINTR", "short", "short+")),
    "map": (("mmap", "mremap", "mprotect", "brk", "madvise"), ("ENOMEM", "ENOMEM+")),
}
# Where runs are killed and get signals.
ALL_CALLS = [call for calls, _ in CALLS.values() for call in calls] + ["rt_sigaction", "sigaltstack"]

serial = itertools.count(1)


class Fault:
    """What goes wrong: the kind of thing, how, and which of them. An action is an error, `short`, `kill`, `int`, `term`, or
    `none` for no memory."""

    def __init__(self, kind, action, number=0, calls=()):
        self.kind, self.number, self.calls = kind, number, calls
        self.action, self.stays = action.rstrip("+"), action.endswith("+")

    def __str__(self):
        return f"{self.kind} {self.number}: {self.action}{' from then on' if self.stays else ''}"

    @property
    def is_injected(self):
        return bool(self.calls) or self.kind == "memory"

    def around(self, case, report):
        """What stands in front of the command line, and what the environment has beside."""
        number = f"{self.number}{'+' if self.stays else ''}"
        hide_names = "" if case.unnamed else "!"
        if self.kind != "memory":
            action = str(getattr(errno, self.action, self.action))
            return [str(TRACER), str(report), ",".join(self.calls), hide_names + number, action], {}
        extra = {"LD_PRELOAD": str(SHIM), "FAULT_MEMORY": number, "FAULT_MEMORY_REPORT": str(report)}
        if case.unnamed:
            return [], extra
        variables = [f"{name}={value}" for name, value in extra.items()]
        return [str(TRACER), "/dev/null", "openat", "!0", "0", "env", *variables], {}


class Result:
    """How a run went. `fault` is what the first fault met: a call and where; `count` how many it could have met."""

    def __init__(self, folder, code, stdout, stderr, report):
        self.folder, self.code, self.stdout, self.stderr = folder, code, stdout, stderr
        lines = dict(line.split(" ", 1) for line in report.splitlines())
        self.fault = lines.get("fault")
        self.count = int(lines["count"]) if "count" in lines else None


def new_folder(case):
    folder = RUNS / f"{case.name}-{next(serial)}"
    folder.mkdir()
    return folder


def run(case, fault, folder=None, prefix=(), kill_after=None, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT):
    """Makes a run in a folder of its own, or in the one given."""
    if folder is None:
        folder = new_folder(case)
        case.prepare(folder)
    report = folder.with_name(folder.name + ".report")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("LANELOCK_", "RUST_"))}
    if fault:
        prefix, extra = fault.around(case, report)
        environment |= extra
    stdin = (INPUTS / case.stdin).read_bytes() if case.stdin else None
    process = subprocess.Popen([*prefix, *case.command()], cwd=folder, env=environment, stdout=stdout, stderr=stderr,
                               stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE)
    if kill_after is not None:
        threading.Timer(kill_after, process.kill).start()
    try:
        stdout, stderr = process.communicate(stdin, timeout=timeout)
        code = process.returncode
    except subprocess.TimeoutExpired:
        process.kill()
        stdout, stderr = process.communicate()
        code = "none: it does not end"
    text = report.read_text(errors="replace") if report.exists() else ""
    report.unlink(missing_ok=True)
    return Result(folder, code, stdout or b"", (stderr or b"").decode(errors="replace"), text)
