"""The runs of the command that faults meet, and the files that they read."""

import collections
import hashlib
import os
import re
import shutil
import subprocess

from places import COMMAND, INPUTS, ROOT, RUNS

KEYS = {
    "keys": "video=00112233445566778899aabbccddeeff:0f1e2d3c4b5a69788796a5b4c3d2e1f0\n"
            "audio=00112233445566778899aabbccddee00:102132435465768798a9bacbdcedfe0f\n",
    "new-keys": "video=a0a1a2a3a4a5a6a7a8a9aaabacadaeaf:b0b1b2b3b4b5b6b7b8b9babbbcbdbebf\n"
                "audio=a0a1a2a3a4a5a6a7a8a9aaabacadae00:c0c1c2c3c4c5c6c7c8c9cacbcccdcecf\n",
}
# Given, so that a run makes the same bytes every time.
IVS = {"cenc": "5a00000000000001", "cens": "5a00000000000001", "cbc1": "5a" + 14 * "00" + "01", "cbcs": "5a" + 14 * "00" + "01"}
BEFORE = b"what was there before\n"
TEMPORARY = re.compile(r"(?:.*/)?\.lanelock-[^/]*\.part(?=/|$)")


class Case:
    """A run. {in} in its arguments, a list or a text, is the folder of inputs; other paths are in the folder of the run."""

    def __init__(self, name, arguments, *, over=None, folder=None, link=None, copies=(), stdin=None, each=False, again=True,
                 unnamed=True, random=None, masked=None, code=0, program=COMMAND):
        self.name, self.program = name, program
        arguments = arguments.split() if isinstance(arguments, str) else arguments
        self.arguments = [argument.replace("{in}", str(INPUTS)) for argument in arguments]
        # What is there before: a file, an empty folder, a link to out.mp4, copies of inputs.
        self.over, self.folder, self.link, self.copies = over, folder, link, copies
        self.stdin = stdin
        # How it ends: what the command refuses has another exit code than 0, and changes nothing.
        self.code = code
        # Whether several outputs come one by one into a folder.
        self.each = each
        # Whether the same run succeeds when its output is there.
        self.again = again
        # Whether the file system has files without names.
        self.unnamed = unnamed
        # What is random in outputs, and what changes from run to run on standard output.
        self.random = re.compile(random) if random else None
        self.masked = re.compile(masked) if masked else None
        self.before, self.expected, self.expected_stdout = None, None, None

    def command(self):
        return [str(self.program), *self.arguments]

    def names(self):
        """What an error may name: paths of the run, and what is none."""
        paths = [argument for argument in self.arguments if "/" in argument or "." in argument or argument == "out"]
        return [*paths, "standard input", "standard output", "stdin", "signals", "keys", "in memory"]

    def prepare(self, folder):
        if self.folder:
            (folder / self.folder).mkdir()
            (folder / self.folder).chmod(0o750)
        if self.over:
            (folder / self.over).write_bytes(BEFORE)
            (folder / self.over).chmod(0o640)
        if self.link:
            (folder / self.link).symlink_to("out.mp4")
        for name in self.copies:
            copy = shutil.copytree if (INPUTS / name).is_dir() else shutil.copy
            copy(INPUTS / name, folder / name)

    def learn(self, run):
        """Remembers what `run` makes, twice the same."""
        before = RUNS / f"{self.name}-before"
        before.mkdir()
        self.prepare(before)
        self.before = self.state(before)
        for _ in range(2):
            result = run(self, None)
            learned = (self.state(result.folder), self.mask(result.stdout))
            if result.code != self.code or self.expected is not None and learned != (self.expected, self.expected_stdout):
                raise SystemExit(f"error: {self.name} does not make the same twice ({result.folder}): {result.code} {result.stderr}")
            self.expected, self.expected_stdout = learned
            shutil.rmtree(result.folder)

    def mask(self, stdout):
        return self.masked.sub(b"", stdout) if self.masked else stdout

    def state(self, folder):
        """What is in a folder, by relative paths."""
        def what(path):
            if path.is_symlink():
                return f"link to {os.readlink(path)}"
            mode = f"{path.stat().st_mode & 0o777:o}"
            if path.is_dir():
                return f"folder, {mode}"
            data = path.read_bytes()
            if self.random:
                data = self.random.sub(b"", data)
            return f"{len(data)} bytes, {hashlib.sha256(data).hexdigest()[:16]}, {mode}"

        return {str(path.relative_to(folder)): what(path) for path in sorted(folder.rglob("*"))}

    def units(self, state):
        """The parts of a state that are there whole or not at all."""
        units = collections.defaultdict(dict)
        for name, what in state.items():
            parts = name.split("/")
            units["/".join(parts[:2 if self.each else 1])][name] = what
        return units


def parted(state):
    """The temporary names in a state, and the rest of it."""
    left = [name for name in state if TEMPORARY.match(name)]
    return left, {name: what for name, what in state.items() if name not in left}


def all_cases():
    def encrypt(scheme, more="-q"):
        return f"{more} --scheme {scheme} --iv {IVS[scheme]} --key-file {{in}}/keys"

    def rewrap(paths):
        return f"rewrap {paths} -q --key-file {{in}}/keys --scheme cenc --iv {IVS['cenc']} --to-key-file {{in}}/new-keys"

    demo, small, segments, long, out = "{in}/demo.mp4", "{in}/avc_aac.mp4", "{in}/segments", "{in}/long.mp4", "out.mp4"
    times = rb'"(?:seconds|plan|read|map|crypto|look|write)": [^,\n}]+,?|"workers": \d+|"(?:output|input)": "[^"]*"'
    hexadecimal = rb"[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}"
    return [
        Case("encrypt-fragmented-cenc", f"encrypt {demo} {out} {encrypt('cenc')}"),
        Case("encrypt-over-file-cbcs", f"encrypt {demo} {out} {encrypt('cbcs')}", over=out),
        Case("encrypt-progressive-cbc1", f"encrypt {small} {out} {encrypt('cbc1')}"),
        Case("encrypt-keep-cens-sync", f"encrypt {small} {out} {encrypt('cens')} --layout keep --sync", over=out),
        Case("encrypt-long-3-workers", f"encrypt {long} {out} {encrypt('cbcs')} --workers 3", over=out),
        Case("encrypt-over-link", f"encrypt {small} link.mp4 {encrypt('cbcs')}", over=out, link="link.mp4"),
        Case("encrypt-over-dangling-link", f"encrypt {small} link.mp4 {encrypt('cbcs')}", link="link.mp4"),
        Case("encrypt-named", f"encrypt {demo} {out} {encrypt('cbcs')}", unnamed=False),
        Case("encrypt-named-over-file", f"encrypt {small} {out} {encrypt('cbcs')} --sync", over=out, unnamed=False),
        Case("encrypt-json", f"encrypt {small} {out} {encrypt('cbcs', '--json')}", masked=times),
        Case("encrypt-summary", f"encrypt {small} {out} {encrypt('cbcs', '-v')}"),
        Case("encrypt-pipes", f"encrypt - - {encrypt('cbcs')}", stdin="demo.mp4"),
        Case("encrypt-pipe-to-file", f"encrypt - {out} {encrypt('cenc')}", stdin="demo.mp4", over=out),
        Case("encrypt-to-stdout", f"encrypt {small} - {encrypt('cenc')}"),
        Case("encrypt-keys-on-stdin", f"encrypt {small} {out} {encrypt('cbcs').replace('{in}/keys', '-')}", stdin="keys"),
        Case("encrypt-cpix", f"encrypt {small} {out} -q --scheme cbcs --iv {IVS['cbcs']} --cpix {{in}}/keys.xml"),
        Case("encrypt-segments", f"encrypt {segments} out {encrypt('cbcs')}", again=False),
        Case("encrypt-lone-segment", f"encrypt {segments}/2.m4s out.m4s --init {segments}/init.mp4 {encrypt('cbcs')}"),
        Case("decrypt-segments", "decrypt {in}/sealed out -q --key-file {in}/keys", again=False),
        Case("decrypt-lone-segment", "decrypt {in}/sealed/2.m4s out.m4s --init {in}/sealed/init.mp4 -q --key-file {in}/keys"),
        Case("encrypt-several", f"encrypt {small} {demo} {long} -o out {encrypt('cbcs')}", each=True),
        Case("encrypt-several-json", f"encrypt {small} {demo} -o out {encrypt('cbcs', '--json')}", each=True, masked=times),
        Case("decrypt-fragmented", f"decrypt {{in}}/cbcs.mp4 {out} -q --key-file {{in}}/keys", over=out),
        Case("decrypt-progressive-sync", f"decrypt {{in}}/cens.mp4 {out} -q --key-file {{in}}/keys --sync"),
        Case("decrypt-pipes", "decrypt - - -q --key-file {in}/keys", stdin="cenc.mp4"),
        Case("rewrap", rewrap(f"{{in}}/cbcs.mp4 {out}"), over=out),
        Case("rewrap-pipes", rewrap("- -"), stdin="cbcs.mp4"),
        Case("package", f"package {demo} {{in}}/demo.en.vtt -o out {encrypt('cbcs')}", again=False),
        Case("package-over-folder-sync", f"package {demo} -o out {encrypt('cbcs')} --layout segments --sync", folder="out", again=False),
        Case("package-json", f"package {small} -o out {encrypt('cbcs', '--json')}", again=False, masked=times),
        Case("package-dry-run", f"package {demo} -o out --dry-run {encrypt('cbcs', '--json')}", masked=times),
        Case("inspect", "inspect {in}/cbcs.mp4"),
        Case("inspect-json-keys", "inspect {in}/cens.mp4 --json --key-file {in}/keys"),
        Case("inspect-pipe", "inspect - --json", stdin="cbcs.mp4"),
        Case("keys-new", "keys new video audio -o new.txt", again=False, random=hexadecimal),
        Case("keys-new-json", "keys new 3 -o new.txt --json", again=False, random=hexadecimal, masked=hexadecimal),
        Case("keys-new-named", "keys new video audio -o new.txt", again=False, random=hexadecimal, unnamed=False),
        Case("keys-to-stdout", "keys new 3", masked=hexadecimal),
        Case("keys-cpix", "keys cpix --key-file {in}/keys --scheme cbcs --drm widevine -o new.xml", again=False),
        Case("keys-cpix-named", "keys cpix --key-file {in}/keys --scheme cbcs -o new.xml", again=False, unnamed=False),
        Case("keys-pssh", "keys pssh --key-file {in}/keys --scheme cbcs --drm playready"),
        Case("cpu", "cpu --json"),
        Case("help", "help encrypt"),
        Case("man", "man encrypt"),
        Case("completions", "completions bash"),
        # What is refused stays refused, whatever fails.
        Case("refuse-over-input", f"encrypt avc_aac.mp4 avc_aac.mp4 {encrypt('cbcs')}", copies=["avc_aac.mp4"], code=2),
        Case("refuse-over-input-in-folder", f"encrypt avc_aac.mp4 {demo} -o . {encrypt('cbcs')}", copies=["avc_aac.mp4"], code=2),
        Case("refuse-over-keys", f"encrypt {small} keys {encrypt('cbcs').replace('{in}/', '')}", copies=["keys"], code=2),
        Case("refuse-over-keys-of-cpix", f"encrypt {small} keys.xml -q --scheme cbcs --cpix keys.xml", copies=["keys.xml"], code=2),
        Case("refuse-over-key-file", "keys new 3 -o new.txt", over="new.txt", code=3),
        Case("refuse-over-key-file-named", "keys new 3 -o new.txt", over="new.txt", code=3, unnamed=False),
        Case("refuse-segments-inside", f"encrypt ./segments ./segments/out {encrypt('cbcs')}", copies=["segments"], code=2),
        Case("refuse-package-over-files", f"package {demo} -o ./segments {encrypt('cbcs')}", copies=["segments"], code=3),
        Case("refuse-other-keys", f"decrypt {{in}}/cbcs.mp4 {out} -q --key-file {{in}}/new-keys", over=out, code=1),
    ]


def make_inputs():
    """The files that runs read, none of which may change."""
    (INPUTS / "segments").mkdir(parents=True)
    for path in ("media/demo.mp4", "media/demo.en.vtt", "testkit/media/avc_aac.mp4"):
        shutil.copy(ROOT / path, INPUTS)
    for name, text in KEYS.items():
        (INPUTS / name).write_text(text)
        (INPUTS / name).chmod(0o600)
    demo = list(boxes((INPUTS / "demo.mp4").read_bytes()))
    first = next(at for at, (kind, _) in enumerate(demo) if kind == b"moof")
    init = b"".join(data for kind, data in demo[:first] if kind != b"sidx")
    media = [data for kind, data in demo[first:] if kind in (b"moof", b"mdat")]
    (INPUTS / "segments/init.mp4").write_bytes(init)
    for at in range(0, len(media), 2):
        (INPUTS / f"segments/{at // 2 + 1}.m4s").write_bytes(b"".join(media[at:at + 2]))
    # Long enough for several workers: the same fragments again and again.
    (INPUTS / "long.mp4").write_bytes(init + b"".join(media) * 12)

    def lanelock(*arguments):
        subprocess.run([COMMAND, *arguments, "--key-file", INPUTS / "keys"], check=True, capture_output=True)

    for scheme, source, layout in (("cbcs", "demo", "fragmented"), ("cenc", "demo", "fragmented"), ("cens", "avc_aac", "keep")):
        lanelock("encrypt", INPUTS / f"{source}.mp4", INPUTS / f"{scheme}.mp4", "--scheme", scheme, "--iv", IVS[scheme], "--layout", layout)
    lanelock("encrypt", INPUTS / "segments", INPUTS / "sealed", "--scheme", "cbcs", "--iv", IVS["cbcs"])
    lanelock("keys", "cpix", "--scheme", "cbcs", "-o", INPUTS / "keys.xml")


def boxes(data):
    """The top-level boxes of a file: kind and bytes."""
    at = 0
    while at < len(data):
        size = int.from_bytes(data[at:at + 4], "big")
        yield data[at + 4:at + 8], data[at:at + size]
        at += size


def digests():
    """What the inputs are."""
    return {path: hashlib.sha256(path.read_bytes()).digest() for path in INPUTS.rglob("*") if path.is_file()}
