"""What is measured: groups of runs that are interleaved with one another.

Every run names the two copies that it is a multiple of: those by `cp` and by the copier of the same
files, on the same file system, with fsync or without, in the same group; and it may name runs of
peers with the same result.
"""

import dataclasses
import subprocess
import typing

from . import KEY, KID, NEW_KEY, NEW_KID, check, media

NOT_IN_BUILD = "not in this build"

SEGMENT = 6  # seconds
# Where a track is in a package, by its name: the initialization segment, and segments by number.
LAYOUTS = {"segments": ("{}/init.mp4", "{}/{}.m4s"), "single": ("{}.mp4", None)}


@dataclasses.dataclass
class Run:
    """A row."""

    name: str
    # Commands that are started at once; none, if the reason below says why there are none.
    commands: list
    outputs: list
    # Looks at the outputs; raises Wrong.
    check: typing.Callable = None
    # Whose failure is ours.
    ours: bool = True
    # The rows that this one is a multiple of.
    cp: str = "cp"
    copier: str = "copier"
    # Likewise, by the name of the column.
    peers: dict = dataclasses.field(default_factory=dict)
    missing: str = None


@dataclasses.dataclass
class Group:
    name: str
    title: str
    # A generator of runs, given a Bench.
    runs: typing.Callable
    disk: bool = False
    sync: bool = False


def groups():
    fhd, uhd = "fhd30_3M", "uhd24_54M"

    def both(name, title, runs, **options):
        for word, media in (("fhd", fhd), ("uhd", uhd)):
            text = f"`{media}`, {title}"
            yield Group(f"{name}-{word}", text, lambda bench, media=media: runs(bench, media), **options)

    yield from both("tmpfs", "tmpfs", in_memory)
    yield from both("disk", "disk", on_disk, disk=True)
    yield from both("sync", "disk, with fsync", on_disk, disk=True, sync=True)
    yield from both("decrypt", "encrypted with cbcs, tmpfs", decryption)
    title = f"`{fhd}` with a fragment for each frame, tmpfs"
    yield Group("frames", title, lambda bench: fragmented(bench, fhd, "frames"))
    yield Group("several", f"several copies of `{fhd}`, tmpfs", lambda bench: several(bench, fhd))
    yield Group("clip", "`clip_1M`, tmpfs", lambda bench: fragmented(bench, "clip_1M", "frag"))
    title = f"`lanelock package`: a ladder of five renditions and sound, segments of {SEGMENT} s, tmpfs"
    yield Group("ladder", title, ladder)


def in_memory(bench, media):
    source, progressive = bench.input(media, "frag"), bench.input(media)
    yield from bench.copies(source, threads=True)
    yield from (bench.encrypt(scheme, source) for scheme in ("cbcs", "cenc", "cbc1"))
    yield bench.encrypt("cbcs", source, "one worker", ["--workers", "1"], copier="copier, one thread")
    yield bench.write_turns(source)
    yield from bench.copies(progressive, ", progressive", turns=False)
    copies = {"cp": "cp, progressive", "copier": "copier, progressive"}
    for scheme in ("cbcs", "cenc"):
        yield bench.encrypt(scheme, progressive, "progressive in", exact=False, **copies)
    for scheme in ("cbcs", "cenc"):
        yield bench.encrypt(scheme, progressive, "progressive kept", ["--layout", "keep"], **copies)
    yield from bench.peers(source)


def on_disk(bench, media):
    source = bench.input(media, "frag")
    yield from bench.copies(source)
    yield from (bench.encrypt(scheme, source) for scheme in ("cbcs", "cenc"))
    yield bench.write_turns(source)
    if not bench.sync:  # none of the peers has an option for it
        yield from bench.peers(source)


def decryption(bench, media):
    clear = bench.input(media, "frag")
    source = bench.folder / f"{media}.cbcs.mp4"
    subprocess.run(bench.lanelock("encrypt", clear, source, "--scheme", "cbcs"), check=True)
    check.decrypts(bench.tools.lanelock, source, clear, bench.keys)
    bench.files = [source]
    yield from bench.copies(source, turns=False)
    command = bench.lanelock("decrypt", source, bench.out)
    yield bench.run("lanelock decrypt", command, lambda: check.same(bench.out, clear))
    keys = ["--key", f"{KID}:{KEY}", "--to-key", f"{NEW_KID}:{NEW_KEY}"]
    command = [bench.tools.lanelock, "rewrap", "--quiet", source, bench.out, *keys]

    def rewrapped():
        check.decrypts(bench.tools.lanelock, bench.out, clear, bench.new_keys)
        check.encrypted(bench.out, clear, NEW_KEY)

    for scheme in ("cenc", "cbcs"):
        run = bench.run(f"lanelock rewrap to {scheme}, new key", [*command, "--scheme", scheme], rewrapped)
        yield bench.since("rewrap", run)


def fragmented(bench, media, kind):
    source = bench.input(media, kind)
    yield from bench.copies(source, threads=True, turns=False)
    yield from (bench.encrypt(scheme, source) for scheme in ("cbcs", "cenc"))
    yield bench.encrypt("cbcs", source, "one worker", ["--workers", "1"], copier="copier, one thread")
    yield from bench.peers(source)


def several(bench, media):
    sources = [bench.input(media, "frag", name=f"{letter}.mp4") for letter in "abcde"]
    folder = bench.folder / "out"
    folder.mkdir()
    outputs = [folder / source.name for source in sources]

    def copied():
        for pair in zip(outputs, sources):
            check.same(*pair)

    def encrypted(count):
        for source, output in list(zip(sources, outputs))[:count]:
            check.decrypts(bench.tools.lanelock, output, source, bench.keys)
            check.encrypted(output, source)

    five = {"outputs": outputs, "cp": "cp of five files", "copier": "copier, five files"}
    yield bench.run("cp of five files", ["cp", "--reflink=never", *sources, folder], copied, **five)
    yield bench.run("copier, five files", [bench.tools.copier, *sources, "-o", folder], copied, **five)
    options = ["--scheme", "cbcs"]
    one_call = bench.lanelock("encrypt", *sources, "-o", f"{folder}/", *options)
    yield bench.since("-o", bench.run("lanelock cbcs, five files in one call", one_call, lambda: encrypted(5), **five))
    loop = """IFS='\n'; out=$1 files=$2; shift 2; for file in $files; do "$@" "$file" "$out/${file##*/}" || exit; done"""
    calls = ["sh", "-c", loop, "sh", folder, "\n".join(map(str, sources)), *bench.lanelock("encrypt", *options)]
    yield bench.run("lanelock cbcs, five calls in turn", calls, lambda: encrypted(5), **five)

    two = {"outputs": outputs[:2], "cp": "two cp at once", "copier": "two copiers at once"}
    pairs = list(zip(sources, outputs))[:2]

    def at_once(name, command, look):
        return Run(name, [command(*pair) for pair in pairs], check=look, **two)

    def two_copied():
        for source, output in pairs:
            check.same(output, source)

    yield at_once("two cp at once", lambda *pair: ["cp", "--reflink=never", *pair], two_copied)
    yield at_once("two copiers at once", lambda *pair: [bench.tools.copier, *pair], two_copied)
    command = lambda *pair: bench.lanelock("encrypt", *pair, *options)  # noqa: E731
    yield at_once("two lanelock cbcs at once", command, lambda: encrypted(2))


def ladder(bench):
    if "package" not in bench.tools.has:
        yield Run("lanelock package", [], [], missing=NOT_IN_BUILD)
        return
    sources = {name: bench.input(f"ladder_{name}") for name in media.LADDER}
    out = bench.folder / "out"

    def package(scheme, layout, folder, *options):
        # Tracks get the names that the other packagers give them.
        tracks = [word for name, path in sources.items() for word in ("--track", f"file={path.name}:name={name}")]
        options = ["--scheme", scheme, "--layout", layout, "--segment", f"{SEGMENT}s", *tracks, *options]
        return bench.lanelock("package", *sources.values(), "-o", folder, *options)

    for layout, paths in LAYOUTS.items():
        copied = bench.folder / f"copied-{layout}"
        subprocess.run(package("cbcs", layout, copied), check=True)
        look = {
            "copied": lambda copied=copied: check.same_folder(out, copied),
            "packaged": lambda paths=paths: check.package(out, sources, *paths, SEGMENT),
        }

        def run(name, command, what, copier=f"copier, {layout}", cp=f"cp -r, {layout}", look=look, **options):
            return bench.run(name, command, look[what], outputs=[out], cp=cp, copier=copier, **options)

        yield run(f"cp -r, {layout}", ["cp", "-r", "--reflink=never", copied, out], "copied")
        yield run(f"copier, {layout}", [bench.tools.copier, "-r", copied, out], "copied")
        beside = [peer for peer in bench.packagers if peer.packages and layout == "segments"]
        for scheme in ("cbcs", "cenc"):
            peers = {peer.name: f"{peer.name} {scheme}" for peer in beside}
            yield run(f"lanelock {scheme}, {layout}", package(scheme, layout, out), "packaged", peers=peers)
            for peer in beside:
                missing = f"not there: {peer.reason}" if peer.reason else None
                command = [] if missing else peer.package(scheme, sources, out, bench.folder, SEGMENT)
                options = {"peers": peers, "ours": False, "missing": missing}
                yield run(f"{peer.name} {scheme}", command, "packaged", **options)
        name = f"copier, {layout}, one thread"
        yield run(name, [bench.tools.copier, "--threads", "1", "-r", copied, out], "copied", copier=name)
        command = package("cbcs", layout, out, "--workers", "1")
        yield run(f"lanelock cbcs, {layout}, one worker", command, "packaged", copier=name)


class Tools:
    """The programs, and which options this build of ours has."""

    def __init__(self, lanelock, copier):
        self.lanelock, self.copier = lanelock, copier

        def text(*words):
            done = subprocess.run([lanelock, *words], capture_output=True, text=True)
            return done.stdout if done.returncode == 0 else ""

        self.version = text("--version").strip()
        usage = text("encrypt", "--help").replace(",", " ").split()
        self.has = {word for word in ("-o", "--write-turns") if word in usage}
        self.has |= {word for word in ("rewrap", "package") if text(word, "--help")}


class Bench:
    """Makes the runs of a group, in a folder of its own."""

    def __init__(self, tools, media, packagers, folder, sync):
        self.tools, self.media, self.packagers = tools, media, packagers
        self.folder, self.sync, self.out = folder, sync, folder / "out.mp4"
        self.files = []
        self.keys, self.new_keys = folder / "keys", folder / "new-keys"
        for path, text in ((self.keys, f"{KID}:{KEY}\n"), (self.new_keys, f"{NEW_KID}:{NEW_KEY}\n")):
            path.touch(0o600)
            path.write_text(text)

    def input(self, media, kind="", name=None):
        """A copy of an input file in the folder."""
        original = self.media.file(media, kind)
        path = self.folder / (name or original.name)
        subprocess.run(["cp", "--reflink=never", original, path], check=True)
        self.files.append(path)
        return path

    def run(self, name, command, look, **options):
        return Run(name, [command], check=look, **{"outputs": [self.out], **options})

    def since(self, feature, run):
        """The run, or the word that this build has no such thing."""
        return run if feature in self.tools.has else dataclasses.replace(run, commands=[], missing=NOT_IN_BUILD)

    def copies(self, source, suffix="", turns=True, threads=False):
        """By cp, and by the copier: as the packager does it by default, and otherwise."""
        names = {"cp": f"cp{suffix}", "copier": f"copier{suffix}"}
        look = lambda: check.same(self.out, source)  # noqa: E731
        cp = ["cp", "--reflink=never", source, self.out]
        if self.sync:
            cp = ["sh", "-c", 'cp --reflink=never "$1" "$2" && sync "$2"', "sh", source, self.out]
        copier = [self.tools.copier, *(["--sync"] if self.sync else []), source, self.out]
        yield self.run(names["cp"], cp, look, **names)
        yield self.run(names["copier"], copier, look, **names)
        if turns:
            yield self.run(f"copier{suffix}, writes in turns", [*copier, "--turns"], look, **names)
        if threads:
            yield self.run(f"copier{suffix}, one thread", [*copier, "--threads", "1"], look, **names)

    def lanelock(self, command, *arguments):
        sync = ["--sync"] if self.sync else []
        return [self.tools.lanelock, command, "--quiet", "--key-file", self.keys, *sync, *arguments]

    def encrypt(self, scheme, source, what="", options=(), exact=True, **names):
        """`exact`: what is decrypted is the source, byte for byte, and not only packet for packet."""

        def look():
            if exact:
                check.decrypts(self.tools.lanelock, self.out, source, self.keys)
            check.encrypted(self.out, source)

        name = f"lanelock {scheme}{', ' if what else ''}{what}"
        command = self.lanelock("encrypt", "--scheme", scheme, *options, source, self.out)
        return self.run(name, command, look, **names)

    def write_turns(self, source):
        run = self.encrypt("cbcs", source, "writes in turns", ["--write-turns"], copier="copier, writes in turns")
        return self.since("--write-turns", run)

    def peers(self, source):
        """The other packagers."""
        for packager in self.packagers:
            for scheme in ("cbcs", "cenc"):
                name, command, missing = f"{packager.name} {scheme}", [], packager.reason
                if not missing:
                    command = [packager.command(scheme, source, self.out, self.folder)]
                look = lambda: check.encrypted(self.out, source)  # noqa: E731
                reason = f"not there: {missing}" if missing else None
                yield Run(name, command, [self.out], look, ours=False, missing=reason)
