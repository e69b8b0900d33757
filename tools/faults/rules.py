"""What a run with a fault must not do."""

import json
import re
import signal

from cases import TEMPORARY, parted
from inject import run

# What the command says of an error.
CAUSES = {
    "ENOSPC": "No space left", "EIO": "Input/output error", "EDQUOT": "quota", "EFBIG": "File too large",
    "EPIPE": "Broken pipe|reader has ended", "EMFILE": "open files", "EACCES": "ermission denied", "EXDEV": "ross-device",
    "ENOMEM": "memory|temporarily unavailable", "EPERM": "not permitted", "EAGAIN": "temporarily unavailable",
    "ENOSYS": "random numbers", "EINTR": "nterrupted",
}


def judge(case, fault, result):
    """The outcome in a word or two, and which rules it breaks."""
    broken = []
    left, rest = parted(case.state(result.folder))
    ended = {-signal.SIGKILL: "killed", -signal.SIGABRT: "abort", -signal.SIGINT: "signal", -signal.SIGTERM: "signal"}.get(result.code)
    if ended:
        allowed = {"killed": fault.action == "kill", "signal": fault.action in ("int", "term"),
                   "abort": is_memory(fault) and "memory" in result.stderr}
        outcome = ended
        if not allowed[ended]:
            broken.append(f"a signal ends it: {result.code}")
    elif result.code == case.code:
        outcome = "same"
        if case.code and not said(result)[0] and not is_about(result, 2):
            broken.append("no error is printed")
        if rest != case.expected and not is_stricter(fault, rest, case.expected):
            broken.append(f"exit code {case.code}, and the output is not as it should be")
        if case.mask(result.stdout) != case.expected_stdout:
            # Whoever closes a pipe early knows.
            if fault.action == "EPIPE" and is_about(result, 1):
                outcome = "cut"
            else:
                broken.append(f"exit code {case.code}, and standard output is not as it should be")
    elif result.code == 0:
        outcome = "exit 0"
        broken.append("exit code 0, and it should be refused")
    else:
        outcome = f"exit {result.code}"
        broken += judge_error(case, fault, result)
    # Rust's runtime panics where it cannot begin a thread for want of memory, and aborts.
    if "panicked" in result.stderr and not (ended == "abort" and "alternative stack" in result.stderr):
        broken.append("it panics")
    if not case.masked and not case.expected_stdout.startswith(result.stdout):
        broken.append("standard output is not the beginning of what it should be")
    if not is_stricter(fault, rest, case.expected):
        broken += judge_files(case, rest, ended, result)
    broken += judge_temporary(case, left, result, ended)
    return outcome, broken


def judge_again(case, result):
    """After a kill: the same run in the same place, if there is anything left to do. Its result, and which rules it breaks."""
    _, rest = parted(case.state(result.folder))
    if rest == case.expected and not case.again:
        return result, []
    second = run(case, None, result.folder)
    _, rest = parted(case.state(result.folder))
    if second.code == case.code and rest == case.expected and case.mask(second.stdout) == case.expected_stdout:
        return second, []
    return second, ["the run after a kill does not make what it should"]


def judge_error(case, fault, result):
    """What is said of a run that fails, and how it ends."""
    if result.code not in (1, 2, 3, 130):
        yield f"it ends with {result.code}"
        return
    if fault.action in ("EINTR", "short"):
        yield "it fails where it should go on"
    errors, others = said(result)
    # Two threads may speak at once when there is no memory.
    if is_memory(fault) and "memory allocation" in result.stderr:
        return
    if others:
        yield f"other lines on standard error: {others[0]!r}"
    if is_about(result, 2):
        return
    if not errors:
        yield "no error is printed"
    if len(errors) > 1 and not case.each:
        yield "more than one error is printed"
    text = " ".join(errors)
    if fault.action in ("int", "term"):
        if result.code != 130 or "interrupted" not in text:
            yield "a signal ends it with another exit code, or without a word"
        return
    if result.code not in (1, 3):
        yield f"exit code {result.code} is not of a failure of the system"
    # What cannot be looked at once may be found when it is looked at again.
    if not (fault.kind == "status" and not fault.stays) and not re.search(CAUSES.get(fault.action, ""), text):
        yield f"the error does not have its cause, {CAUSES[fault.action]!r}"
    if not any(name in text for name in case.names()):
        yield "the error names no file"


def judge_files(case, rest, ended, result):
    """Whatever has its final name is what it was, or complete; what it was, if the exit code says so."""
    failed = not ended and result.code != 0 and not case.each and not is_about(result, 1)
    units, old, new = case.units(rest), case.units(case.before), case.units(case.expected)
    for name in sorted(units.keys() | old.keys() | new.keys()):
        # The folder for several outputs may be there when one of them is, or when nobody could take it away.
        if case.each and name == "out" and "out" in units and (ended or len(rest) > 1):
            continue
        if failed and units.get(name) != old.get(name):
            yield f"exit code {result.code}, and {name} is not what it was"
        if units.get(name) not in (old.get(name), new.get(name)):
            yield f"{name} is neither what it was nor complete: {units.get(name)}"


def judge_temporary(case, left, result, ended):
    """Nothing else is left, but by a process that ends at once."""
    if left and ended not in ("killed", "abort"):
        yield f"left behind: {', '.join(left)}"
    # A file without a name gets a temporary one just before it replaces another.
    elif case.unnamed and not case.over and any(TEMPORARY.match(name).group() == name and not (result.folder / name).is_dir() for name in left):
        yield f"left behind, though files need no names: {', '.join(left)}"


def is_memory(fault):
    return fault.kind in ("memory", "map") or fault.action == "ENOMEM"


def is_about(result, descriptor):
    """Whether the fault met standard output (1) or standard error (2)."""
    return bool(re.match(rf"write(v)? {descriptor} ", result.fault or ""))


def is_stricter(fault, rest, expected):
    """Whether all is as it should be but for rights that could not be given, so that nobody can do more."""
    if fault.kind != "rights" or fault.action != "EPERM" or rest.keys() != expected.keys():
        return False
    parts = [(rest[name].rpartition(", "), expected[name].rpartition(", ")) for name in rest if rest[name] != expected[name]]
    return all(ours[0] == theirs[0] and int(ours[2], 8) & ~int(theirs[2], 8) == 0 for ours, theirs in parts)


def said(result):
    """The errors that a run has printed, and the lines on standard error of which nobody knows what they are."""
    errors, others = [], []
    for line in result.stderr.splitlines():
        if line.startswith("error: "):
            errors.append(line)
        elif line.startswith("{") and '"error"' in line:
            errors.append(json.loads(line)["error"])
        elif not line.startswith(("hint: ", "warning: ", '{"warning"')):
            others.append(line)
    # Of several inputs, JSON on standard output has what became of each.
    if result.stdout.startswith(b"[") and result.stdout.endswith(b"]\n"):
        errors += [entry["error"] for entry in json.loads(result.stdout) if "error" in entry]
    return errors, others
