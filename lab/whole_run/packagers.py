"""The other packagers: where they come from, and how each is called.

Sources are taken at one commit, so that figures of two days have the same peers. What cannot be had
or built is named with the reason, and its rows say so.
"""

import os
import pathlib
import shutil
import subprocess
import sys

from . import CACHE, IV, KEY, KID, ROOT, Missing

MP4FF = "github.com/Eyevinn/mp4ff", "v0.56.0"
BENTO4 = "https://github.com/axiomatic-systems/Bento4", "b8c50a078356a1c3444ce0a8744634ed488424a4"
GPAC = "https://github.com/gpac/gpac", "d34570e3d994ede1f7fa84075fea793f8939308e"

SILENCE = 60  # seconds that git may wait for a server which says nothing
BUILD = 3600  # seconds for a build


def find(wanted):
    """A Packager for each that is wanted (all, if None); those that are not there say why."""
    makers = {"shaka": shaka, "mp4ff": mp4ff, "gpac": gpac, "bento4": bento4}
    return [maker() for name, maker in makers.items() if wanted is None or name in wanted]


class Packager:
    """Another packager: `command(scheme, input, output, scratch)` gives what encrypts a file, and
    `package(scheme, inputs by name, folder, scratch, seconds)` what makes a stream, if it `packages`."""

    def __init__(self, name, version, program, command, package=None):
        self.name, self.version, self.command, self.reason = name, version, None, None
        self.packages = package is not None
        try:
            found = program()
            self.command = lambda *arguments: command(found, *arguments)
            self.package = lambda *arguments: package(found, *arguments)
        except Missing as reason:
            self.reason = str(reason)
            print(f"not there: {name} ({reason})", file=sys.stderr)


def shaka():
    def program():
        path = os.environ.get("SHAKA_PACKAGER") or CACHE / "bin" / "packager"
        if not pathlib.Path(path).exists():
            raise Missing("`tools/setup test` installs it from PyPI; SHAKA_PACKAGER names another")
        return path

    def options(scheme):
        keys = ["--enable_raw_key_encryption", "--keys", f"label=x:key_id={KID}:key={KEY}"]
        return [*keys, "--protection_scheme", scheme, "--clear_lead", "0", "--io_cache_size", "0"]

    def command(binary, scheme, source, output, _scratch):
        return [binary, f"in={source},stream=video,output={output},drm_label=x", *options(scheme)]

    def package(binary, scheme, sources, folder, _scratch, seconds):
        streams = []
        for name, source in sources.items():
            media = f"init_segment={folder}/{name}/init.mp4,segment_template={folder}/{name}/$Number$.m4s"
            kind = "stream=audio,hls_group_id=audio"
            if name != "audio":
                kind = f"stream=video,iframe_playlist_name={name}-iframes.m3u8"
            streams.append(f"in={source},{kind},{media},playlist_name={name}.m3u8,drm_label=x")
        manifests = ["--mpd_output", f"{folder}/manifest.mpd", "--hls_master_playlist_output", f"{folder}/main.m3u8"]
        times = ["--segment_duration", str(seconds), "--fragment_duration", str(seconds)]
        return [binary, *streams, *options(scheme), *times, *manifests]

    stamp = CACHE / "bin" / "packager.version"
    version = stamp.read_text().strip() if stamp.exists() else "as SHAKA_PACKAGER names it"
    return Packager("Shaka Packager", version, program, command, package)


def mp4ff_program(name, variable="MP4FF"):
    """One of its programs, built once, in a module of its own."""
    if named := os.environ.get(variable):
        return named
    module, version = MP4FF
    folder = CACHE / "packagers" / f"mp4ff-{version}"
    binary = folder / name
    if not binary.exists():
        if not shutil.which("go"):
            raise Missing("needs go, which builds it from the Go module proxy")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "go.mod").write_text(f"module lab\n\nrequire {module} {version}\n")
        build("mp4ff", ["go", "build", "-mod=mod", "-o", binary, f"{module}/cmd/{name}"], folder)
    return binary


def mp4ff():
    def command(binary, scheme, source, output, _scratch):
        iv = IV[:16] if scheme == "cenc" else IV
        return [binary, "-kid", KID, "-key", KEY, "-iv", iv, "-scheme", scheme, source, output]

    return Packager("mp4ff", version("MP4FF", MP4FF), lambda: mp4ff_program("mp4ff-encrypt"), command)


def bento4_program(name, variable="BENTO4"):
    """One of its programs."""
    if named := os.environ.get(variable):
        return named
    folder = checkout("Bento4", "LANELOCK_BENTO4", *BENTO4)
    binary = folder / "build" / name
    if not binary.exists():
        # Without these flags its code for AES-NI is not compiled.
        flags = "-DCMAKE_CXX_FLAGS=-maes -msse4.2" if os.uname().machine == "x86_64" else "-DCMAKE_CXX_FLAGS="
        build("Bento4", ["cmake", "-S", ".", "-B", "build", "-DCMAKE_BUILD_TYPE=Release", flags], folder)
        build("Bento4", ["cmake", "--build", "build", "--target", name, "-j", "2"], folder)
    return binary


def bento4():
    def command(binary, scheme, source, output, _scratch):
        return [
            binary, "--method", f"MPEG-{scheme.upper()}", "--key", f"1:{KEY}:{IV[:16]}",
            "--property", f"1:KID:{KID}", source, output,
        ]

    return Packager("Bento4", version("BENTO4", BENTO4), lambda: bento4_program("mp4encrypt"), command)


def gpac_program():
    if named := os.environ.get("GPAC"):
        return named
    folder = checkout("GPAC", "LANELOCK_GPAC", *GPAC)
    binary = folder / "bin" / "gcc" / "gpac"
    if not binary.exists():
        # Nothing but what encryption of MP4 needs.
        without = [f"--use-{name}=no" for name in ("ffmpeg", "png", "jpeg", "curl")]
        configure = ["./configure", "--static-build", "--static-modules", "--disable-x11", *without]
        build("GPAC", configure, folder)
        if "GPAC_HAS_SSL" not in (folder / "config.h").read_text():
            raise Missing("needs OpenSSL's headers (Debian: libssl-dev): its own AES is no match")
        build("GPAC", ["make", "-j2"], folder)
    return binary


def gpac():
    def drm(scheme, scratch):
        path = scratch / f"gpac-{scheme}.xml"
        pattern = ' crypt_byte_block="1" skip_byte_block="9"' if scheme == "cbcs" else ""
        iv = f'first_IV="0x{IV[:16]}" IV_size="8"'
        if scheme == "cbcs":
            iv = f'constant_IV="0x{IV}" constant_IV_size="16"'
        path.write_text(
            f'<GPACDRM type="{scheme}"><CrypTrack IsEncrypted="1" {iv}{pattern}>'
            f'<key KID="0x{KID}" value="0x{KEY}"/></CrypTrack></GPACDRM>'
        )
        return f"cecrypt:cfile={path}"

    def command(binary, scheme, source, output, scratch):
        return [binary, "-i", source, drm(scheme, scratch), "-o", f"{output}:frag:sfrag"]

    def package(binary, scheme, sources, folder, scratch, seconds):
        inputs = [word for name, source in sources.items() for word in ("-i", f"{source}:#Representation={name}")]
        template = "template=$RepresentationID$/$Init=init$$Number$"
        manifests = f"{folder}/manifest.mpd:dual:profile=live:segdur={seconds}:{template}"
        return [binary, *inputs, drm(scheme, scratch), "-o", manifests]

    return Packager("GPAC", version("GPAC", GPAC), gpac_program, command, package)


def version(variable, pinned):
    return f"as {variable} names it" if os.environ.get(variable) else pinned[1][:9]


def checkout(name, variable, repository, commit):
    """The sources at that commit, from the repository that the variable names, or the authors'."""
    folder = CACHE / "packagers" / f"{name.lower()}-{commit[:9]}"
    if (folder / ".git" / "complete").exists():
        return folder
    if not shutil.which("git"):
        raise Missing("needs git")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    source = os.environ.get(variable) or repository
    waits = ["-c", "http.lowSpeedLimit=1000", "-c", f"http.lowSpeedTime={SILENCE}"]
    steps = [
        ["init", "--quiet"],
        [*waits, "fetch", "--quiet", "--depth", "1", source, commit],
        ["-c", "advice.detachedHead=false", "checkout", "--quiet", commit],
    ]
    for step in steps:
        done = subprocess.run(
            ["git", *step], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            env={**os.environ, "GIT_TERMINAL_PROMPT": "0"},
        )
        if done.returncode != 0:
            shutil.rmtree(folder)
            print(done.stderr.strip(), file=sys.stderr)
            raise Missing(f"its repository cannot be reached; {variable} names another one")
    (folder / ".git" / "complete").touch()
    return folder


def build(name, command, folder):
    """A step of a build; its output goes to a file that is named if it fails."""
    log = CACHE / "packagers" / f"{name.lower()}.log"
    print(f"building {name}: {' '.join(map(str, command))[:80]}", file=sys.stderr)
    with open(log, "a") as file:
        try:
            done = subprocess.run(
                command, cwd=folder, stdin=subprocess.DEVNULL, stdout=file, stderr=file, timeout=BUILD
            )
        except FileNotFoundError:
            raise Missing(f"needs {command[0]}") from None
        except subprocess.TimeoutExpired:
            raise Missing(f"building it took more than {BUILD} s") from None
    if done.returncode != 0:
        raise Missing(f"it does not build: {log.relative_to(ROOT)}")
