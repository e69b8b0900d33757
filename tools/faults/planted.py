"""A program that breaks one rule when a write goes wrong or a signal comes, by its flaw; without flaw, none. What the tool
is tried on first."""

import os
import sys

PART = ".lanelock-planted.part"

# Which rule each flaw breaks, in the words of rules.py, and at which fault of a write.
FLAWS = {
    "none": ("", "ENOSPC ENOSPC+ EINTR short short+ int kill"),
    "dies": ("a signal ends it: -9", "ENOSPC"),
    "hangs": ("it ends with none: it does not end", "ENOSPC"),
    "claims success": ("exit code 0, and the output is not as it should be", "ENOSPC"),
    "overlooks stdout": ("exit code 0, and standard output is not as it should be", "ENOSPC"),
    "prints other things": ("standard output is not the beginning of what it should be", "ENOSPC"),
    "does what it refuses": ("exit code 0, and it should be refused", "ENOSPC"),
    "panics": ("it panics", "ENOSPC"),
    "gives up": ("it fails where it should go on", "short"),
    "exits with 7": ("it ends with 7", "ENOSPC"),
    "exits with 2": ("exit code 2 is not of a failure of the system", "ENOSPC"),
    "exits with 3": ("a signal ends it with another exit code", "int"),
    "is silent": ("no error is printed", "ENOSPC"),
    "says it twice": ("more than one error is printed", "ENOSPC"),
    "says more": ("other lines on standard error", "ENOSPC"),
    "hides the cause": ("the error does not have its cause", "ENOSPC"),
    "hides the name": ("the error names no file", "ENOSPC"),
    "writes in place": ("exit code 3, and out.mp4 is not what it was", "ENOSPC"),
    "is cut in place": ("out.mp4 is neither what it was nor complete", "kill"),
    "leaves a file": (f"left behind: {PART}", "ENOSPC"),
    # As the one without flaw, where files need no names.
    "needs a name": ("left behind, though files need no names", "kill"),
    "stumbles": ("the run after a kill does not make what it should", "kill"),
}


def main(flaw, path, source):
    in_place = flaw in ("writes in place", "is cut in place")
    place = path if in_place else PART
    mode = os.O_EXCL if flaw == "stumbles" else os.O_TRUNC
    try:
        if flaw == "does what it refuses" and refuses():
            os._exit(1)
        file = os.open(place, os.O_WRONLY | os.O_CREAT | mode, 0o600)
        for text in (b"first\n", b"second\n"):
            write(file, text, flaw)
        os.rename(place, path)
        if flaw == "writes to its input":
            os.truncate(source, 0)
        path = "standard output"
        try:
            write(1, b"done\n", flaw)
        except OSError:
            if flaw != "overlooks stdout":
                raise
    except (OSError, KeyboardInterrupt) as error:
        end(flaw, path, error)


def refuses():
    try:
        os.write(2, b"error: refused\n")
    except OSError:
        return False
    return True


def write(file, text, flaw):
    while text:
        text = text[os.write(file, text):]
        if text and flaw == "gives up":
            raise OSError("No space left on device")


def end(flaw, path, error):
    """The end of a run that fails."""
    is_signal = isinstance(error, KeyboardInterrupt)
    if flaw == "dies":
        os.kill(os.getpid(), 9)
    if flaw == "hangs":
        os.read(os.pipe()[0], 1)
    if flaw == "claims success":
        os.rename(PART, path)
        return
    if flaw not in ("leaves a file", "writes in place") and os.path.exists(PART):
        os.remove(PART)
    if flaw == "prints other things":
        os.write(1, b"other\n")
    cause = "interrupted" if is_signal else error.strerror or str(error)
    text = f"error: cannot write {path}: {cause}\n"
    if flaw == "hides the cause":
        text = f"error: cannot write {path}\n"
    elif flaw == "hides the name":
        text = f"error: {cause}\n"
    elif flaw == "is silent":
        text = ""
    elif flaw == "says it twice":
        text *= 2
    elif flaw == "says more":
        text += "well\n"
    elif flaw == "panics":
        text += "thread 'main' panicked\n"
    os.write(2, text.encode())
    codes = {"exits with 7": 7, "exits with 2": 2, "exits with 3": 3}
    os._exit(codes.get(flaw, 130 if is_signal else 3))


if __name__ == "__main__":
    main(*sys.argv[1:])
