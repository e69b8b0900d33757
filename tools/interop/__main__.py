"""Who decrypts what: encrypts clips of every codec in every scheme and layout, by Lanelock and by other
packagers, has each program that is there decrypt them, and compares the packets that come out with
the clear clip's.

    python3 tools/interop            the tables of docs/interop.md, on standard output
    python3 tools/interop --write    puts them into the page, between its two markers
    python3 tools/interop --keep DIR leaves the encrypted files there, to try a command on them

Programs are found where tools/setup and lab/whole-run put them, or named by FFMPEG, FFMPEG_NEWER,
SHAKA_PACKAGER, MP4DECRYPT and BENTO4 (its mp4encrypt), MP4FF_DECRYPT and MP4FF (its mp4ff-encrypt),
GPAC, CHROMIUM. What is not there is named in the list of programs. It takes some minutes.
"""

import argparse
import collections
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True

import browser  # noqa: E402
import cases  # noqa: E402
import programs  # noqa: E402
from programs import CACHE, ROOT, Failed, Missing  # noqa: E402

PAGE = ROOT / "docs" / "interop.md"
BEGIN, END = "<!-- tools/interop: begin -->", "<!-- tools/interop: end -->"


def main():
    options = parse()
    with tempfile.TemporaryDirectory(prefix="lanelock-interop-") as folder:
        folder = options.keep or pathlib.Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        text = report(options.lanelock.resolve(), folder.resolve())
    if not options.write:
        print(text)
        return
    head, rest = PAGE.read_text().split(BEGIN)
    PAGE.write_text(f"{head}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}")


def parse():
    parser = argparse.ArgumentParser(
        prog="tools/interop", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="write the tables into docs/interop.md")
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIR", help="leave the encrypted files there")
    parser.add_argument("--lanelock", type=pathlib.Path, default=ROOT / "target/release/lanelock", metavar="FILE")
    options = parser.parse_args()
    if not options.lanelock.is_file():
        sys.exit(f"{options.lanelock} is not there: cargo build --release -p lanelock-cli")
    return options


def report(lanelock, folder):
    every = programs.find(lanelock)
    there = [program for program in every if not program.missing]
    try:
        bench = cases.Bench(folder, clips(folder), lanelock, programs.find_ffmpeg())
    except Missing as why:
        sys.exit(f"ffmpeg lists the packets, and it is not there: {why}")
    chromium = browser.Chromium()
    rows = [[program.name, program.missing or program.version] for program in [*every, chromium]]
    parts = [markdown(["program", "version"], rows)]
    for title, rows in cases.tables():
        print(title, file=sys.stderr)
        parts.append(table(bench, there, title, rows))
    if not chromium.missing:
        parts.append(browser_table(bench, chromium))
    return "\n\n".join(parts)


def clips(folder):
    """Those of tools/make-test-media, and ALAC."""
    codecs = CACHE / "media" / "codecs"
    media = [codecs / f"{name}.mp4" for name in cases.NAMES if name != "alac"]
    if absent := [path.name for path in media if not path.is_file()]:
        sys.exit(f"no {', '.join(absent)}: `tools/setup test` makes the clips")
    alac = folder / "alac.mp4"
    programs.run(programs.find_ffmpeg(), "-v", "error", "-y", "-i", codecs / "flac.mp4", "-c:a", "alac", alac)
    return [*media, alac]


def table(bench, there, title, rows):
    """A cell has the schemes whose packets come back. What the programs say of others stands below."""
    lines, said = [], set()
    for what, name, makers in rows:
        files = {}
        for scheme, make in makers.items():
            try:
                files[scheme] = make(bench, name)
            except (Missing, Failed) as why:
                said.add(f"{what} {scheme} cannot be made: {why}")
        line = [what]
        for program in there:
            good = []
            for scheme, clip in files.items():
                same, message = bench.judge(program, clip)
                good += [scheme] if same else []
                said |= {f"{program.name}: {message}"} if message else set()
            line.append("all" if len(good) == len(makers) > 1 else ", ".join(good) or "-")
        lines.append(line)
    return part(title, markdown(["", *(program.name for program in there)], lines), said)


def part(title, table, said):
    return f"### {title}\n\n" + "\n".join([table, "", *(f"- {line}" for line in sorted(said))]).strip()


def markdown(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def browser_table(bench, chromium):
    """Which schemes play, and below what is said of those that do not."""
    rows = list(cases.played())
    plays = [
        (row, scheme, browser.Play(rows[row][2], [make(bench, name) for name in rows[row][1]]))
        for row in range(len(rows))
        for scheme, make in rows[row][3].items()
    ]
    results = chromium.play(bench.folder, [play for _, _, play in plays])
    good, said = collections.defaultdict(list), set()
    for (row, scheme, play), result in zip(plays, results):
        if why := play.wrong(bench, result):
            said.add(f"{rows[row][0]}: {why}")
        else:
            good[row].append(scheme)
    lines = [[what, how, ", ".join(good[row]) or "-"] for row, (what, _, how, _) in enumerate(rows)]
    return part("Chromium", markdown(["", "by", "plays"], lines), said)


if __name__ == "__main__":
    main()
