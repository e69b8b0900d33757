"""Where it is measured, and with what."""

import datetime
import os
import pathlib
import re
import subprocess

from . import ROOT


def describe(tools, peers, turns, seed, load, quick):
    """The lines above the tables."""
    info = pathlib.Path("/proc/cpuinfo").read_text()
    name = re.search(r"^model name\s*: (.*)", info, re.MULTILINE)
    cores = len(os.sched_getaffinity(0))
    hypervisor = ", virtual" if " hypervisor " in info else ""
    system = re.search(r'^PRETTY_NAME="?([^"\n]*)', pathlib.Path("/etc/os-release").read_text(), re.MULTILINE)
    kernel = re.match(r"[0-9.]*", os.uname().release)
    commit = first_line("git", "describe", "--always", "--dirty") or "?"
    parts = [
        f"{name[1] if name else 'processor ?'}, {cores} cores{hypervisor}",
        f"{system[1] if system else 'Linux'}, kernel {kernel[0]}",
        first_line("cp", "--version") or "cp ?",
        f"{tools.version} ({commit})",
        *(f"{name} {version}" for name, version in peers.items()),
        f"{datetime.date.today()}",
        f"{turns} turns, order by seed {seed}",
        f"load average {load:.1f} before",
    ]
    lines = ["; ".join(parts) + "."]
    if quick:
        lines += ["", "**Short files and few turns: these figures say only that everything works.**"]
    return lines


def file_system(folder):
    """As `ext4 (rw,relatime)`."""
    folder = os.path.realpath(folder)
    found = "", "?", ""
    for line in pathlib.Path("/proc/self/mounts").read_text().splitlines():
        _, place, kind, options, *_ = line.split(" ")
        if (folder + "/").startswith(place.rstrip("/") + "/") and len(place) >= len(found[0]):
            found = place, kind, options
    return f"{found[1]} ({found[2]})"


def first_line(*command):
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    except OSError:
        return None
    return done.stdout.splitlines()[0].strip() if done.returncode == 0 and done.stdout else None
