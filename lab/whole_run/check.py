"""What came out of a run is looked at once, before it is timed."""

import filecmp
import functools
import pathlib
import subprocess

from . import KEY, Wrong


def same(path, expected):
    """Both files have the same bytes."""
    if not filecmp.cmp(path, expected, shallow=False):
        raise Wrong(f"{path.name} is not {expected.name}")


def decrypts(lanelock, path, expected, keys):
    """`lanelock decrypt` gives back the file that was encrypted."""
    clear = path.with_name("decrypted.mp4")
    command = [lanelock, "decrypt", "--quiet", "--key-file", keys, path, clear]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    try:
        if done.returncode != 0:
            raise Wrong(f"decrypting {path.name}: {done.stderr.strip()[:200]}")
        same(clear, expected)
    finally:
        clear.unlink(missing_ok=True)


def encrypted(path, source, key=KEY):
    """FFmpeg reads from it the packets of the source with the key, and others without."""
    clear = source_packets(source)
    if packets(path, key) != clear:
        raise Wrong(f"FFmpeg does not decrypt {path.name} to the packets of {source.name}")
    if packets(path) == clear:
        raise Wrong(f"{path.name} is not encrypted")


@functools.cache
def source_packets(path):
    return packets(path)


def packets(path, key=None):
    """The MD5 of the data of all packets."""
    # Through a pipe: FFmpeg 5 loses the `senc` of later fragments where it can seek.
    command = ["ffmpeg", "-v", "error", *(["-decryption_key", key] if key else []), "-ignore_editlist", "1"]
    command += ["-i", "pipe:0", "-map", "0", "-c", "copy", "-f", "md5", "-"]
    with open(path, "rb") as file:
        done = subprocess.run(command, stdin=file, capture_output=True, text=True)
    if done.returncode != 0 or not done.stdout:
        raise Wrong(f"FFmpeg cannot read {pathlib.Path(path).name}: {done.stderr.strip()[:200]}")
    return done.stdout.strip()
