"""Runs in turns: each turn has every run of a group once, in an order of its own."""

import json
import os
import shutil
import signal
import subprocess
import sys

from . import Wrong

LONGEST = 120  # seconds; Shaka Packager 3.8 without I/O cache hangs in one run of twenty


def measure(stopwatch, group, runs, turns, random, log):
    """The measurements of every run by turn, and why some runs have none."""
    taken = {run.name: {} for run in runs}
    reasons = {run.name: run.missing for run in runs if run.missing}
    sizes = {}

    def attempt(run, turn):
        try:
            figures = once(stopwatch, group, run, log)
            if turn == 0:
                run.check()
                sizes[run.name] = [size(path) for path in run.outputs]
            elif sizes[run.name] != [size(path) for path in run.outputs]:
                raise Wrong("its output has another size than the one that was looked at")
            else:
                taken[run.name][turn] = figures
        except Wrong as error:
            reason = f"wrong: {str(error).replace(f'{log.parent}/', '')}"
            print(f"{group.name}, turn {turn}: {run.name}: {reason}", file=sys.stderr)
            # A peer that hangs once is left out of that turn; ours never may.
            if turn == 0 or run.ours:
                reasons[run.name] = reason
                taken[run.name].clear()
        finally:
            for path in run.outputs:
                if path.is_dir():
                    shutil.rmtree(path)
                path.unlink(missing_ok=True)

    for turn in range(turns + 1):  # the first one warms up, and what comes out of it is looked at
        for run in random.sample(runs, len(runs)) if turn else runs:
            if run.name not in reasons:
                attempt(run, turn)
    return taken, reasons


def size(path):
    """Of a file, or of the media in a folder: of some packagers, manifests vary from run to run."""
    if not path.is_dir():
        return path.stat().st_size
    media = (file for file in path.rglob("*") if file.is_file() and file.suffix not in (".mpd", ".m3u8"))
    return sum(file.stat().st_size for file in media)


def once(stopwatch, group, run, log):
    """Wall and CPU seconds, and peak MiB of a run."""
    if group.disk:
        os.sync()  # what the run before left to write is not this one's
    words = [str(run.commands[0][0]), *map(str, run.commands[0][1:])]
    for command in run.commands[1:]:
        words += [":::", *map(str, command)]
    log.write_text("")
    process = subprocess.Popen(
        [stopwatch, log, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        line, error = process.communicate(timeout=LONGEST)
    except BaseException as error:  # an interrupt goes on to the run, which does not get it by itself
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        if isinstance(error, subprocess.TimeoutExpired):
            raise Wrong(f"it was stopped after {LONGEST} s") from None
        raise
    if process.returncode != 0:
        raise Wrong(error.strip())
    figures = json.loads(line)
    if any(figures["codes"]):
        raise Wrong(f"it ended with status {figures['codes']}: {log.read_text(errors='replace')[-500:].strip()}")
    if missing := [path.name for path in run.outputs if not path.exists()]:
        raise Wrong(f"there is no {missing[0]}")
    return {
        "wall": figures["wall"],
        "cpu": figures["user"] + figures["system"],
        "peak_mib": figures["peak_kib"] / 1024,
    }
