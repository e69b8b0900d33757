"""What came out of a run is looked at once, before it is timed."""

import filecmp
import functools
import itertools
import math
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


def same_folder(path, expected):
    """Both folders have the same files."""
    names = [sorted(file.relative_to(folder) for file in folder.rglob("*")) for folder in (path, expected)]
    if names[0] != names[1]:
        raise Wrong(f"{path.name} has other files than {expected.name}")
    for name in names[0]:
        if (expected / name).is_file():
            same(path / name, expected / name)


def package(folder, sources, init, segment, seconds):
    """A package of these sources, by name, with manifests for DASH and HLS: the tracks are encrypted,
    and cut into segments of that many seconds, if there is a path of segments."""
    for kind in ("mpd", "m3u8"):
        if not list(folder.glob(f"*.{kind}")):
            raise Wrong(f"{folder.name} has no manifest of the kind {kind}")
    joined = folder.with_name("joined.mp4")
    try:
        for name, source in sources.items():
            parts = [folder / init.format(name)]
            if segment:
                numbered = (folder / segment.format(name, number) for number in itertools.count(1))
                parts += itertools.takewhile(pathlib.Path.exists, numbered)
                found, count = len(parts) - 1, math.ceil(round(duration(source), 1) / seconds)
                if found != count:
                    raise Wrong(f"{name} has {found} segments, and not {count}")
            joined.write_bytes(b"".join(part.read_bytes() for part in parts))
            encrypted(joined, source)
    finally:
        joined.unlink(missing_ok=True)


def duration(path):
    """In seconds."""
    command = ["ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", path]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


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
