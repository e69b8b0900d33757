"""What the command does when the system fails it, and when it is killed.

    python3 tools/faults [--short] [--seed N] [--kills N] [--memory N] [--faults KIND,...] [--workers N] [--command PATH]
                         [CASE...]
    python3 tools/faults --list

    --short      some calls of five runs, and 20 kills: within a minute, for each change
    --seed N     of the moments of the kills (1)
    --kills N    how many at random moments (1000; 20 with --short)
    --memory N   how many allocations of a run fail, each in a run of its own, evenly spread (all; 25 with --short)
    --faults K   kinds of faults to choose, as in the table: write,memory,"limit: disk"
    --workers N  how many runs at once (the number of processors)
    --command P  the command to test (that of a release build, which is made)
    CASE         runs to choose, by parts of their names, "limits" or "kills"; --list lists them

Each run is made over and over, each time with one fault: its nth system call of a kind has an error, is cut short (half
of the bytes), brings a signal or is the moment of a SIGKILL; or its nth allocation finds no memory. n goes from 1 on
until a run is over before the fault. An error comes once, or at all such calls from the nth on, as on a disk that stays
full. calls.c and memory.c say how; `cc` compiles them. Beside that, runs are made under limits (small disks, sizes of
files, open files, memory, standard output that is full or without reader) and are killed at random moments.

After each run:

- exit code 0 means that everything is there, byte for byte as without the fault; so it ends when a call is interrupted
  (EINTR) or does half of its work;
- any other one comes with one error that names what could not be read or written, and why; no panic; and whatever has
  its final name is what it was before, but for a summary (--json) that cannot be written;
- when a signal ends the run, that is what it was before, or complete; the folder of a stream is there whole or not at all;
- nothing else is left. Only a process that ends at once (SIGKILL; SIGABRT for want of memory) may leave temporary
  names, .lanelock-*.part: of folders, and of files where the file system has none without names, or when it was just
  about to replace another;
- the inputs are as they were;
- what the command refuses (an output in the place of an input or of keys) it refuses whatever fails, and changes nothing;
- after a kill, the same run in the same place makes the same bytes.

Before that, planted.py breaks each of these rules in turn, and has to be caught.

What breaks a rule is kept in target/faults/broken, with a word on how it was made. Needs Linux on x86-64, glibc and cc.
"""

import argparse
import collections
import concurrent.futures
import itertools
import os
import pathlib
import platform
import random
import resource
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True

from cases import Case, all_cases, digests, make_inputs, parted  # noqa: E402
from inject import ALL_CALLS, CALLS, TIMEOUT, Fault, run  # noqa: E402
from limits import LIMITS, unmount  # noqa: E402
from places import BROKEN, COMMAND, FOLDER, HERE, INPUTS, ROOT, RUNS, SHIM, TARGET, TRACER  # noqa: E402
from planted import FLAWS  # noqa: E402
from rules import judge, judge_again  # noqa: E402

# What --short does: runs, and kinds of calls with errors.
SHORT_CASES = ("encrypt-over-file-cbcs", "encrypt-pipes", "package", "inspect", "keys-new")
SHORT_FAULTS = {
    "write": ("ENOSPC", "EINTR", "short+"), "read": ("short+",), "name": ("EIO",), "open": ("EMFILE",), "folder": ("ENOSPC",),
    "length": ("EIO",), "thread": ("EAGAIN+",),
}


class Report:
    """The table, and what breaks a rule."""

    def __init__(self):
        self.runs, self.broken, self.after_kills, self.faults = 0, [], collections.Counter(), collections.Counter()
        print(f"{'run':26} {'what fails':26} {'faults':>6}  outcomes", flush=True)

    def row(self, name, what, outcomes):
        outcomes = collections.Counter(outcome for outcome in outcomes if outcome)
        if outcomes:
            self.faults[group(what)] += outcomes.total()
            text = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
            print(f"{name:26} {what:26} {outcomes.total():6}  {text}", flush=True)

    def judge(self, case, fault, result):
        self.runs += 1
        outcome, broken = judge(case, fault, result)
        if broken:
            self.keep(case, fault, result, broken)
            return "BROKEN"
        if fault.action == "kill" and outcome == "killed":
            return self.again(case, fault, result)
        return outcome

    def again(self, case, fault, result):
        self.after_kills["temporary names" if parted(case.state(result.folder))[0] else "nothing"] += 1
        second, broken = judge_again(case, result)
        if broken:
            self.keep(case, fault, second, broken)
            return "BROKEN"
        return "killed"

    def keep(self, case, fault, result, broken):
        BROKEN.mkdir(exist_ok=True)
        kept = BROKEN / result.folder.name
        shutil.copytree(result.folder, kept, symlinks=True)
        before, extra = fault.around(case, "REPORT") if fault.is_injected else ([], {})
        command = " ".join([*(f"{name}={value}" for name, value in extra.items()), *before, *case.command()])
        what = f"{case.name}, {fault}" + (f" ({result.fault})" if result.fault else "")
        rules = "; ".join(broken)
        kept.with_suffix(".txt").write_text(f"{what}\n{rules}\nexit code {result.code}\n\n{command}\n\n{result.stderr}")
        self.broken.append(f"{what}: {rules}\n    {result.stderr.strip()[:300]!r}\n    {kept}")


def group(what):
    """What a row of the table counts."""
    if what.startswith("memory"):
        return "allocations"
    if what.startswith("limit"):
        return "limits"
    return what if what.startswith("SIG") else "system calls"


def faulted(case, fault, report):
    """The outcome of a run with a fault; none if it was over before."""
    result = run(case, fault)
    outcome = report.judge(case, fault, result)
    shutil.rmtree(result.folder)
    return outcome if result.fault is not None else None


def every(case, kind, action, calls, pool, report, most=None):
    """The outcomes of runs with the fault at each n, or at `most` of them."""
    watched = run(case, Fault(kind, "EIO" if calls else "none", 0, calls))
    shutil.rmtree(watched.folder)
    if watched.code != case.code or watched.count is None:
        sys.exit(f"error: {case.name} fails when it is only watched: {watched.code} {watched.stderr}")
    numbers = range(1, watched.count + 1)
    if most and most < watched.count:
        numbers = [1 + at * (watched.count - 1) // (most - 1) for at in range(most)]
    yield from pool.map(lambda number: faulted(case, Fault(kind, action, number, calls), report), numbers)
    # Threads may make more of them than there were.
    number = watched.count + 1
    while outcome := faulted(case, Fault(kind, action, number, calls), report):
        yield outcome
        number += 1


def injected(case, options, pool, report):
    def row(what, make):
        if not options.faults or what in options.faults:
            report.row(case.name, what, make())

    for kind, (calls, actions) in CALLS.items():
        if options.short:
            actions = SHORT_FAULTS.get(kind, ())
        row(kind, lambda: [outcome for action in actions for outcome in every(case, kind, action, calls, pool, report)])
    row("memory", lambda: every(case, "memory", "none", (), pool, report, options.memory))
    if options.short:
        row("SIGKILL", lambda: every(case, "signal", "kill", ALL_CALLS, pool, report, 25))
        return
    row("memory from then on", lambda: every(case, "memory", "none+", (), pool, report, 40))
    for action in ("kill", "int", "term"):
        row(f"SIG{action.upper()}", lambda: every(case, "signal", action, ALL_CALLS, pool, report))


def limits(cases, options, pool, report):
    def one(make):
        made = make()
        if made is None:
            return None
        fault, result = made
        outcome = report.judge(case, fault, result)
        if os.path.ismount(result.folder):
            unmount(result.folder)
        shutil.rmtree(result.folder)
        return outcome

    if not shutil.which("prlimit"):
        print("SKIPPED: limits: there is no prlimit (util-linux)")
        return
    for name, runs in LIMITS.items():
        if options.faults and f"limit: {name}" not in options.faults:
            continue
        for case in cases:
            try:
                report.row(case.name, f"limit: {name}", pool.map(one, list(runs(case))))
            except PermissionError as error:
                print(f"SKIPPED: limit: {name}: {error}")
                break


def kills(cases, number, seed, pool, report):
    """SIGKILL at random moments of the time that a run takes, until it has ended so many runs."""
    def duration(case):
        start = time.monotonic()
        shutil.rmtree(run(case, None).folder)
        return time.monotonic() - start

    def one(planned):
        case, moment = planned
        result = run(case, None, kill_after=moment)
        outcome = report.judge(case, Fault("SIGKILL", "kill", f"after {moment * 1e3:.2f} ms"), result)
        shutil.rmtree(result.folder)
        return outcome

    durations = [min(duration(case) for _ in range(3)) for case in cases]
    moments = random.Random(seed)
    outcomes, at = collections.Counter(), 0
    # A run may be over before, by chance; not each time.
    while (left := number - outcomes["killed"]) > 0 and at < 10 * number + 10:
        plan = [(cases[i % len(cases)], moments.random() * durations[i % len(cases)]) for i in range(at, at + left)]
        outcomes.update(pool.map(one, plan))
        at += left
    report.row("all", "SIGKILL at random", outcomes.elements())


def self_test():
    """Whether each rule that is broken is seen, and none that is kept."""
    for flaw, (rule, actions) in FLAWS.items():
        case = planted(flaw)
        case.learn(run)
        timeout = 1 if flaw == "hangs" else TIMEOUT
        seen = [broken for action in actions.split() for broken in broken_by(case, action, timeout)]
        if not any(broken.startswith(rule) for broken in seen) if rule else seen:
            sys.exit(f"error: self-test: the planted program with the flaw {flaw!r} breaks {rule or 'no rule'!r}, not {seen}")
    (INPUTS / "planted").write_text("an input")
    inputs = digests()
    shutil.rmtree(run(planted("writes to its input"), None).folder)
    if digests() == inputs:
        sys.exit("error: self-test: inputs change, and nobody notices")
    (INPUTS / "planted").unlink()


def planted(flaw):
    """The planted program, where files need names."""
    arguments = ["-I", "-S", str(HERE / "planted.py"), flaw, "out.mp4", "{in}/planted"]
    name, code = f"planted-{flaw.replace(' ', '-')}", 1 if flaw == "does what it refuses" else 0
    return Case(name, arguments, unnamed=flaw == "needs a name", code=code, program=sys.executable)


def broken_by(case, action, timeout):
    """The rules that it breaks with the fault at each of its writes."""
    for number in itertools.count(1):
        fault = Fault("write", action, number, CALLS["write"][0])
        result = run(case, fault, timeout=timeout)
        if result.fault is None:
            break
        yield from judge(case, fault, result)[1]
        if action == "kill":
            yield from judge_again(case, result)[1]
        shutil.rmtree(result.folder)
    shutil.rmtree(result.folder)


def parse():
    parser = argparse.ArgumentParser(prog="tools/faults", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     usage=argparse.SUPPRESS)
    parser.add_argument("--short", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--kills", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--memory", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--faults", type=lambda text: text.split(","), help=argparse.SUPPRESS)
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help=argparse.SUPPRESS)
    parser.add_argument("--command", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--list", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("case", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.kills is None:
        options.kills = 20 if options.short else 1000
    if options.memory is None and options.short:
        options.memory = 25
    return options


def build(command):
    """The command, if none is given, and what makes it fail. Says what is missing, or nothing."""
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        return "it traces Linux on x86-64"
    if not shutil.which("cc"):
        return "there is no C compiler (cc)"
    if not command:
        subprocess.run(["cargo", "build", "--release", "--quiet", "-p", "lanelock-cli"], cwd=ROOT, check=True)
        command = TARGET / "release" / "lanelock"
    # Another build must not change it meanwhile.
    shutil.copy(command, COMMAND)
    compiler = ["cc", "-O2", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([*compiler, "-o", TRACER, HERE / "calls.c"], check=True)
    subprocess.run([*compiler, "-shared", "-fPIC", "-o", SHIM, HERE / "memory.c"], check=True)
    traced = subprocess.run([TRACER, "/dev/null", "write", "0", "0", COMMAND, "--version"], capture_output=True, text=True)
    return f"no process can be traced here ({traced.stderr.strip()})" if traced.returncode else None


def main():
    options = parse()
    cases = all_cases()
    chosen = [case for case in cases if not options.case or any(part in case.name for part in options.case)]
    if options.short and not options.case:
        chosen = [case for case in cases if case.name in SHORT_CASES]
    names = [*(case.name for case in cases), "limits", "kills"]
    if options.list:
        print("\n".join(names))
        return
    if unknown := [part for part in options.case if not any(part in name for name in names)]:
        sys.exit(f"error: there is no run {unknown[0]}; --list lists them")
    # A shell may have jobs in the background ignore it, which runs would inherit.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # Thousands of runs abort.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    shutil.rmtree(FOLDER, ignore_errors=True)
    RUNS.mkdir(parents=True)
    if missing := build(options.command):
        print(f"SKIPPED: faults: {missing}")
        return
    make_inputs()
    self_test()
    inputs, start, report = digests(), time.monotonic(), Report()
    # Of the others, files have names because the tracer says so.
    plain = [case for case in chosen or cases if case.unnamed]
    with concurrent.futures.ThreadPoolExecutor(options.workers) as pool:
        list(pool.map(lambda case: case.learn(run), chosen or cases))
        for case in chosen:
            injected(case, options, pool, report)
        if "limits" in options.case or not (options.case or options.short):
            limits(plain, options, pool, report)
        if "kills" in options.case or not (options.case or options.faults):
            kills(plain, options.kills, options.seed, pool, report)
    if digests() != inputs:
        report.broken.append(f"an input has changed: {INPUTS}")
    shutil.rmtree(RUNS)
    left = ", ".join(f"{what} {count} times" for what, count in sorted(report.after_kills.items()))
    print("\n" + ", ".join(f"{what}: {count}" for what, count in report.faults.items()))
    print(f"{report.runs} runs in {time.monotonic() - start:.0f} s, seed {options.seed}; kills left {left or 'nothing'}")
    for broken in report.broken:
        print(f"BROKEN: {broken}")
    if report.broken:
        sys.exit(f"error: {len(report.broken)} runs break a rule; see {BROKEN}")
    print("faults: no run breaks a rule")


if __name__ == "__main__":
    main()
