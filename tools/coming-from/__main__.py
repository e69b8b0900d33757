"""Commands of other packagers beside those of Lanelock: runs both, compares what comes out, and makes
the page of them.

    python3 tools/coming-from            runs all pairs, and checks the page
    python3 tools/coming-from --write    writes docs/coming-from.md, between its markers, then does that
    python3 tools/coming-from --page     checks the page, and runs nothing
    python3 tools/coming-from --only shaka,gpac,bento4    those alone
    python3 tools/coming-from --keep DIR leaves what comes out there

A pair is two commands and the facts in which their outputs differ (pairs.py). A fact that differs and is
not named there is a failure, as is one that is named and is the same: the page says neither too much nor
too little. Everything is decrypted by Lanelock, and by FFmpeg where it can, and compared with the clear
clip, packet by packet.

Programs are found where tools/setup and lab/whole-run put them, or named by SHAKA_PACKAGER and GPAC (with
MP4Box beside it). One that is not there is skipped, visibly.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import compare  # noqa: E402
import pairs  # noqa: E402
from compare import ROOT, Failed, Missing, programs  # noqa: E402
from programs import packagers  # noqa: E402

PAGE = ROOT / "docs" / "coming-from.md"
BEGIN, END = "<!-- tools/coming-from {}: begin -->", "<!-- tools/coming-from {}: end -->"
FEWEST = 25  # pairs
LIMIT = 120  # seconds for the commands of one side
LONGEST = 300  # characters of a fact that are shown


def main():
    options = parse()
    if options.write:
        write()
    text = PAGE.read_text()
    failures = [f"{PAGE.relative_to(ROOT)}: {fault} (--write writes the sections)" for fault in stale(text)]
    # A page of which a section was changed has to be noticed.
    for peer in pairs.PEERS:
        if not list(stale(text.replace(BEGIN.format(peer), BEGIN.format(peer) + " planted"))):
            failures.append(f"tools/coming-from: a change of the section {peer} is not noticed")
    count = sum(map(len, pairs.PEERS.values()))
    if count < FEWEST:
        failures.append(f"only {count} pairs of commands, where there are at least {FEWEST}")
    print(f"coming-from: {count} pairs of {len(pairs.PEERS)} peers are on the page", file=sys.stderr)
    if not options.page:
        with tempfile.TemporaryDirectory(prefix="lanelock-coming-from-") as folder:
            folder = (options.keep or pathlib.Path(folder)).resolve()
            folder.mkdir(parents=True, exist_ok=True)
            failures += run_all(options, folder)
    for failure in failures:
        print(f"FAILED: {failure}", file=sys.stderr)
    sys.exit(bool(failures))


def parse():
    parser = argparse.ArgumentParser(
        prog="tools/coming-from", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="write the pairs into docs/coming-from.md")
    parser.add_argument("--page", action="store_true", help="check the page, and run nothing")
    parser.add_argument("--only", type=lambda text: text.split(","), metavar="PEER,...", help="these peers alone")
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIR", help="leave what comes out there")
    parser.add_argument("--lanelock", type=pathlib.Path, default=ROOT / "target/release/lanelock", metavar="FILE")
    options = parser.parse_args()
    if not options.page and not options.lanelock.is_file():
        sys.exit(f"{options.lanelock} is not there: cargo build --release -p lanelock-cli")
    return options


# The page


def write():
    text = PAGE.read_text()
    for peer, found in pairs.PEERS.items():
        head, rest = text.split(BEGIN.format(peer))
        text = f"{head}{BEGIN.format(peer)}\n\n{section(found)}\n{END.format(peer)}{rest.split(END.format(peer))[1]}"
    PAGE.write_text(text)


def stale(text):
    for peer, found in pairs.PEERS.items():
        there = text.split(BEGIN.format(peer))[-1].split(END.format(peer))[0]
        if there.strip() != section(found).strip():
            yield f"the section {peer} is not what the pairs say"
    for name, (_, commit) in (("GPAC", packagers.GPAC), ("Bento4", packagers.BENTO4)):
        if f"commit {commit[:9]}" not in text:
            yield f"{name} is at commit {commit[:9]}"


def section(found):
    """A file that is shown once is named afterwards."""
    shown = {}
    return "\n".join(markdown(pair, shown) for pair in found)


def markdown(pair, shown):
    parts = [f"### {pair.title}\n"]
    for name, content in pair.files.items():
        if content in shown:
            parts.append(f"`{name}` as in \"{shown[content]}\".\n")
            continue
        shown[content] = pair.title
        kind = "xml" if name.endswith(".xml") else "text"
        parts.append(f"`{name}`:\n\n```{kind}\n{content.strip()}\n```\n")
    parts.append(f"```sh\n{pair.theirs.strip()}\n```\n")
    parts.append(f"Here:\n\n```sh\n{pair.ours.strip()}\n```\n")
    parts += [f"{text}\n" for text in (pair.notes.strip(), compared(pair)) if text]
    if pair.differs:
        parts.append("Differs:\n")
        parts.append("".join(f"- **{fact}**: {why}\n" for fact, why in pair.differs.items()))
    return "\n".join(parts)


def compared(pair):
    """What is compared where it is not everything."""
    clips = " and ".join(f"`{name}`" for name in pair.clear)
    if pair.kind in ("encrypted", "streams"):
        others = [who for who in ("theirs", "ours") if who not in pair.ffmpeg]
        return f"Decrypted by Lanelock alone, not by FFmpeg: {' and '.join(others)}." if others else ""
    return {
        "clear": f"Compared: the packets of both, with those of {clips}.",
        "boxes": "Compared: the boxes in their file with those that are printed here.",
        "says": f"Compared: both print {', '.join(f'`{text}`' for text in pair.says)}.",
        "refused": "An error here, and no output: " + ", ".join(f'"{text}"' for text in pair.says) + ".",
        "playlists": f"Compared: both have a playlist; the packets of ours with those of {clips}.",
    }[pair.kind]


# The runs


def run_all(options, folder):
    """What is wrong."""
    tools, absent = programs_folder(folder / "bin", options.lanelock.resolve())
    try:
        bench = compare.Bench(options.lanelock.resolve(), [f"{kid}:{key}" for kid, key in pairs.KEYS])
        media = clips(folder / "media")
    except (Missing, Failed) as why:
        skip("coming-from", why)
        return []
    failures = []
    for peer, found in pairs.PEERS.items():
        if options.only and peer not in options.only:
            continue
        if peer in absent:
            skip(f"coming-from, {peer}", absent[peer])
            continue
        for number, pair in enumerate(found):
            print(f"{peer}: {pair.title}", file=sys.stderr)
            place = folder / f"{peer}-{number}"
            failures += [f"{peer}: {pair.title}: {what}" for what in judge(bench, pair, place, media, tools)]
    return failures


def skip(what, why):
    """Visible here, and in the report of tools/long."""
    print(f"SKIPPED: {what}: {why}", file=sys.stderr)
    if record := os.environ.get("LANELOCK_SKIPS"):
        with open(record, "a") as file:
            file.write(f"{what}: {why}\n")


def programs_folder(folder, lanelock):
    """A folder with all programs by the names that people type, and the peers that are not there."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    absent = {}
    for peer, find in (("shaka", shaka), ("gpac", gpac), ("bento4", bento4)):
        try:
            for name, path in find():
                (folder / name).symlink_to(pathlib.Path(path).resolve())
        except Missing as why:
            absent[peer] = str(why)
    (folder / "lanelock").symlink_to(lanelock)
    if "bento4" not in absent:
        scripts(folder)
    return folder, absent


def scripts(folder):
    """What Bento4 installs as mp4dash and mp4hls."""
    sources = packagers.checkout("Bento4", "LANELOCK_BENTO4", *packagers.BENTO4) / "Source" / "Python" / "utils"
    for name in ("dash", "hls"):
        script = folder / f"mp4{name}"
        script.write_text(f'#!/bin/sh\nexec python3 {sources}/mp4-{name}.py --exec-dir {folder} "$@"\n')
        script.chmod(0o755)


def shaka():
    path = programs.find_shaka()
    if (version := programs.shaka_version(path)) not in PAGE.read_text():
        print(f"warning: the page is of another version of Shaka Packager than {version}", file=sys.stderr)
    yield "packager", path


def built(source):
    """A peer that lab/whole-run or tools/interop has built once; to do so takes too long for this."""
    repository, commit = source
    folder = compare.CACHE / "packagers" / f"{repository.rsplit('/', 1)[-1].lower()}-{commit[:9]}"
    if not (folder / ".git" / "complete").is_file():
        raise Missing("`make interop` builds it")


def gpac():
    if not os.environ.get("GPAC"):
        built(packagers.GPAC)
    path = pathlib.Path(packagers.gpac_program())
    box = path.parent / "MP4Box"
    if not box.is_file():
        raise Missing(f"MP4Box is not beside {path}")
    yield "gpac", path
    yield "MP4Box", box


def bento4():
    built(packagers.BENTO4)
    for name in ("encrypt", "decrypt", "fragment", "info", "dump", "split", "2hls", "iframeindex"):
        name = f"mp4{name}"
        yield name, packagers.bento4_program(name, "")


def clips(folder):
    """The committed clip as it is, progressive, and track by track; and its video larger."""
    folder.mkdir(exist_ok=True)
    source, ffmpeg = ROOT / "media" / "demo.mp4", [programs.find_ffmpeg(), "-v", "error", "-y"]
    fragments = ["-movflags", "+frag_keyframe+empty_moov+default_base_moof+delay_moov"]
    second = ["-force_key_frames", "expr:gte(t,n_forced*1)", "-sc_threshold", "0"]
    scale = ["-vf", "setpts=PTS-STARTPTS,scale=1280:720", "-video_track_timescale", "12800"]
    larger = [*scale, "-c:v", "libx264", "-preset", "ultrafast", *second]
    for name, start, words in (
        ("progressive.mp4", "0", ["-map", "0", "-c", "copy"]),
        ("360p.mp4", "-0.08", ["-map", "0:v", "-c", "copy", *fragments]),  # its first picture is shown at 0.08 s
        ("720p.mp4", "0", ["-map", "0:v", *larger, *fragments]),
        ("audio.mp4", "0", ["-map", "0:a", "-c", "copy", *fragments, "-frag_duration", "1000000"]),
    ):
        programs.run(*ffmpeg, "-itsoffset", start, "-i", source, *words, folder / name)
    shutil.copy(source, folder / "in.mp4")
    shutil.copy(ROOT / "media" / "demo.en.vtt", folder / "en.vtt")
    return folder


def judge(bench, pair, place, media, tools):
    """What is not as the pair says."""
    try:
        theirs = perform(pair.theirs, pair, place / "theirs", media, tools)
        ours = perform(pair.ours, pair, place / "ours", media, tools, fails=pair.kind == "refused")
        return list(KINDS[pair.kind](bench, pair, theirs, ours))
    except Failed as why:
        return [str(why) or "other packets"]


def perform(command, pair, folder, media, tools, fails=False):
    """Runs the commands in a new folder that has the clips, the keys and the files of the pair. Gives the
    folder and what was printed; of commands that have to fail, the errors."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in media.iterdir():
        shutil.copy(path, folder / path.name)
    for name, content in {**pairs.FILES, **pair.files}.items():
        (folder / name).write_text(expand(content))
        (folder / name).chmod(0o600)
    environment = {**os.environ, **pairs.VARIABLES, "PATH": f"{tools}:{os.environ['PATH']}"}
    try:
        done = subprocess.run(
            ["bash", "-euc", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
            capture_output=True, timeout=LIMIT,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise Failed(f"no end after {LIMIT} s: {command}") from None
    if fails and done.returncode == 0:
        raise Failed(f"{command}: no error")
    if done.returncode != 0 and not fails:
        raise Failed(f"{command}: {programs.reason(done)}")
    return folder, (done.stderr if fails else done.stdout).decode(errors="replace")


def expand(text):
    for name in sorted(pairs.VARIABLES, key=len, reverse=True):
        text = text.replace(f"${name}", pairs.VARIABLES[name])
    return text


# What is compared


def encrypted(bench, pair, theirs, ours):
    """Files: their facts, and the packets that both decrypt to."""
    paths = [[folder / name for name in names] for (folder, _), names in zip((theirs, ours), pair.outputs)]
    yield from unexpected(pair, *(bench.files(found) for found in paths))
    yield from same_packets(bench, pair, (theirs, ours), paths)


def streams(bench, pair, theirs, ours):
    """Folders: what manifests say, too."""
    paths, facts = [], []
    for (folder, _), name in zip((theirs, ours), pair.outputs):
        said, tracks = compare.stream(folder / name, folder)
        paths.append(tracks)
        facts.append({**bench.files(tracks), **said})
    yield from unexpected(pair, *facts)
    yield from same_packets(bench, pair, (theirs, ours), paths)


def clear(bench, pair, theirs, ours):
    """Files that are clear: their packets are those of the clips."""
    for (folder, _), names, who in zip((theirs, ours), pair.outputs, ("theirs", "ours")):
        if bench.clear([folder / name for name in names]) != bench.clear([folder / name for name in pair.clear]):
            yield f"{who}: other packets than in {', '.join(pair.clear)}"


def boxes(bench, pair, theirs, ours):
    """The pssh boxes of their file are what our command prints."""
    made = set().union(*(compare.boxes(bench.inspect(theirs[0] / name)) for name in pair.outputs[0]))
    said = {line.split()[-1] for line in ours[1].splitlines()}
    yield from unexpected(pair, {"pssh": made}, {"pssh": said})


def says(_bench, pair, theirs, ours):
    """What both print."""
    for (_, printed), who in ((theirs, "theirs"), (ours, "ours")):
        for text in pair.says:
            if text.lower() not in printed.lower():
                yield f"{who} does not say {text}"


def playlists(bench, pair, theirs, ours):
    """Folders whose media cannot be compared: both have a playlist, and ours gives back the clips."""
    for (folder, _), name, who in zip((theirs, ours), pair.outputs, ("theirs", "ours")):
        if not (folder / name / "main.m3u8").is_file():
            yield f"{who}: no main.m3u8"
    _, tracks = compare.stream(ours[0] / pair.outputs[1], ours[0])
    if bench.clear(tracks) != bench.clear([ours[0] / name for name in pair.clear]):
        yield f"ours: other packets than in {', '.join(pair.clear)}"


def refused(bench, pair, theirs, ours):
    """What is made there and is an error here, which names what is wrong and leaves no output."""
    names, absent = pair.outputs
    if not pair.holds(bench.files([theirs[0] / name for name in names])):
        yield "what is said of theirs does not hold"
    for text in pair.says:
        if text not in ours[1]:
            yield f"ours does not say {text}"
    for name in absent:
        if (ours[0] / name).exists():
            yield f"ours left {name}"


KINDS = {
    "encrypted": encrypted, "streams": streams, "clear": clear, "boxes": boxes, "says": says, "playlists": playlists,
    "refused": refused,
}  # fmt: skip


def unexpected(pair, theirs, ours):
    differing = compare.differences(theirs, ours)
    found = {fact: (one, other) for fact, one, other in differing if fact not in pairs.ANYWAY}
    for fact, (one, other) in found.items():
        if fact not in pair.differs:
            if fact == "encrypted packets":
                one, other, numbers = which(one, other)
                other = f"{other} (not the same: {numbers})"
            yield f"{fact} differs: {shown(one)} there, {shown(other)} here"
    for fact in pair.differs:
        if fact not in found:
            yield f"{fact} does not differ: {shown(theirs.get(fact))}"


def which(one, other):
    """How many packets there are, and the numbers of those that differ, of each track."""
    numbers = {
        name: [n for n, pair in enumerate(zip(packets, other.get(name, []))) if pair[0] != pair[1]]
        for name, packets in one.items()
    }
    return *({name: len(packets) for name, packets in side.items()} for side in (one, other)), numbers


def shown(value):
    """Lists of packets, which are long, are cut."""
    text = str(value)
    return text if len(text) < LONGEST else f"{text[:LONGEST]} ..."


def same_packets(bench, pair, sides, paths):
    for (folder, _), found, who in zip(sides, paths, ("theirs", "ours")):
        expected = bench.clear([folder / name for name in pair.clear])
        if bench.decrypted(found, folder) != expected:
            yield f"{who}: Lanelock decrypts it to other packets than in {', '.join(pair.clear)}"
        if who in pair.ffmpeg and bench.decrypted_by_ffmpeg(found) != expected:
            yield f"{who}: FFmpeg decrypts it to other packets than in {', '.join(pair.clear)}"


if __name__ == "__main__":
    main()
