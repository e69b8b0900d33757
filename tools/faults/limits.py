"""Runs under limits that a system may have."""

import os
import subprocess
import time

from cases import Case
from inject import Fault, new_folder, run
from places import COMMAND


def limited(case, kind, action, value, fault=None, **options):
    result = run(case, None, **options)
    # What injected faults find out by themselves.
    result.fault = fault
    return Fault(f"limit: {kind}", action, value), result


def open_files(case):
    for number in range(4, 14):
        yield lambda number=number: limited(case, "open files", "EMFILE", number, prefix=["prlimit", f"--nofile={number}", "--"])


def file_size(case):
    for size in (0, 1, 10, 100, 1000, 4096, 10_000, 65_536, 100_000, 300_000, 346_300, 4_000_000, 5_000_000):
        yield lambda size=size: limited(case, "file size", "EFBIG", size, prefix=["prlimit", f"--fsize={size}", "--"])


def memory(case):
    """Address space, from the least that the program starts with: at first in small steps."""
    least = least_memory()
    for size in (*range(least, least + (1 << 20), 1 << 14), *range(least + (1 << 20), least + (24 << 20), 1 << 18)):
        yield lambda size=size: limited(case, "memory", "ENOMEM", size, prefix=["prlimit", f"--as={size}", "--"])


def least_memory():
    if not hasattr(least_memory, "size"):
        def starts(size):
            return subprocess.run(["prlimit", f"--as={size}", "--", COMMAND, "--version"], capture_output=True).returncode == 0
        least_memory.size = next(size for size in range(2 << 20, 64 << 20, 1 << 15) if starts(size))
    return least_memory.size


def disk(case: Case):
    """Small file systems in memory, from one page to enough, and with few files."""
    sizes = [int(what.split()[0]) for what in case.expected.values() if what[0].isdigit()]
    pages = sum(-(-size // 4096) for size in sizes)
    if not pages:
        return
    options = {f"size={4096 * max(1, pages * part // 8 + more)}" for part in range(9) for more in (-1, 0, 1)}
    options |= {f"size={8192 * (pages + 64)},nr_inodes={files}" for files in range(2, len(case.expected) + 6)}
    for option in sorted(options):
        yield lambda option=option: on_disk(case, option)


def on_disk(case, option):
    folder = new_folder(case)
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", option, "lanelock-faults", folder], capture_output=True)
    if mount.returncode:
        folder.rmdir()
        raise PermissionError("only root can mount a small file system")
    try:
        case.prepare(folder)
    except OSError:
        unmount(folder)
        folder.rmdir()
        return None
    return limited(case, "disk", "ENOSPC", option, folder=folder)


def unmount(folder):
    """Takes the small file system away, which a process that is about to be gone may keep for a moment."""
    for _ in range(50):
        if not subprocess.run(["umount", folder], capture_output=True).returncode:
            return
        time.sleep(0.2)
    subprocess.run(["umount", folder], check=True)


def streams(case):
    """Standard output and standard error that are full, or that nobody reads."""
    for name, number in (("stdout", 1), ("stderr", 2)):
        def full(name=name, number=number):
            with open("/dev/full", "wb") as file:
                return limited(case, f"{name} full", "ENOSPC", "", f"write {number} /dev/full", **{name: file})

        def no_reader(name=name, number=number):
            reader, writer = os.pipe()
            os.close(reader)
            with open(writer, "wb") as pipe:
                return limited(case, f"{name} without reader", "EPIPE", "", f"write {number} pipe", **{name: pipe})

        yield full
        yield no_reader


LIMITS = {"disk": disk, "file size": file_size, "open files": open_files, "memory": memory, "streams": streams}
