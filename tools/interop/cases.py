"""What is tried: clips that Lanelock encrypts in every way it has, and clips that others encrypt.

A table has rows; a row has a title, the name of a clip, and for each scheme how to make the file.
"""

import functools
import itertools

import programs
from programs import Failed, Missing, compare, packets, run

KID, KEY = "00112233445566778899aabbccddeeff", "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
OTHER_KID, OTHER_KEY = "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf", "b0b1b2b3b4b5b6b7b8b9babbbcbdbebf"
IV8, IV16 = "c0c1c2c3c4c5c6c7", "c0c1c2c3c4c5c6c7c8c9cacbcccdcecf"
SCHEMES = ("cenc", "cens", "cbc1", "cbcs")
NAMES = {
    "avc": "AVC", "avc_slices": "AVC, 4 slices", "hevc": "HEVC", "av1": "AV1", "av1_tiles": "AV1, 4 tiles",
    "vp9": "VP9", "aac": "AAC", "ac3": "AC-3", "eac3": "E-AC-3", "opus": "Opus", "flac": "FLAC",
    "alac": "ALAC", "avc_aac": "AVC and AAC in one file",
}  # fmt: skip
SHORT = ("--fragment-duration", "0.5")


class Clip:
    """An encrypted file and its keys: pairs of KID and key."""

    def __init__(self, name, path, keys, reader, options=()):
        self.name, self.path, self.keys, self.reader, self.options = name, path, keys, reader, options
        self.numbers = itertools.count()

    def streams(self):
        if self.name == "avc_aac":
            return ("video", "audio")
        return ("video",) if self.name.startswith(("av", "hevc", "vp9")) else ("audio",)

    def scratch(self, name):
        """A file of that name in a new folder."""
        folder = self.path.parent / f"{self.path.stem}.{next(self.numbers)}"
        folder.mkdir()
        return folder / name


class Bench:
    """The clear clips, and what makes encrypted ones of them."""

    def __init__(self, folder, media, lanelock, reader):
        self.folder, self.lanelock, self.reader = folder, lanelock, reader
        self.media = {path.stem: path for path in media}

    @functools.cache
    def clear(self, name):
        return packets(self.reader, self.media[name])

    @functools.cache
    def fragmented(self, name):
        """What packagers take that take no progressive files."""
        output = self.folder / f"{name}.fragmented.mp4"
        flags = "+frag_keyframe+empty_moov+default_base_moof+delay_moov"
        run(
            self.reader, "-v", "error", "-y", "-i", self.media[name], "-map", "0", "-c", "copy",
            "-movflags", flags, "-frag_duration", "500000", output,
        )  # fmt: skip
        return output

    def lanelock_encrypts(self, name, scheme, *options, keys=(("", KID, KEY),), read_with=()):
        output = self.output(name, "lanelock", scheme)
        words = [word for tracks, kid, key in keys for word in ("--key", f"{tracks}{kid}:{key}")]
        run(self.lanelock, "encrypt", self.media[name], output, "--quiet", "--scheme", scheme, *words, *options)
        return Clip(name, output, [(kid, key) for _, kid, key in keys], self.reader, read_with)

    def output(self, name, program, scheme):
        for number in itertools.count():
            path = self.folder / f"{name}.{program}.{scheme}.{number}.mp4"
            if not path.exists():
                return path

    def judge(self, program, clip):
        """Whether the program gives back the packets of the clip, and what it says if it does not."""
        try:
            compare(program.decrypt(clip), self.clear(clip.name))
        except Failed as why:
            return False, str(why)
        return True, ""


def tables():
    """Titles and rows."""
    for title, options in (
        ("Made fragmented, with `sidx`", SHORT),
        ("Fragmented, without `sidx` (`--sidx drop`)", (*SHORT, "--sidx", "drop")),
        ("Progressive (`--layout keep`)", ("--layout", "keep")),
    ):
        yield title, [(title, name, ours(schemes_of(name), *options)) for name, title in NAMES.items()]
    yield "IVs, patterns and keys (made fragmented, with `sidx`)", variants()
    yield "Encrypted by other packagers", others()


def schemes_of(name):
    """AV1 has two of them."""
    return ("cenc", "cbcs") if name.startswith("av1") else SCHEMES


def ours(schemes, *options, **more):
    def maker(scheme):
        return lambda bench, name: bench.lanelock_encrypts(name, scheme, *options, **more)

    return {scheme: maker(scheme) for scheme in schemes}


def variants():
    patterns, counted = ("cens", "cbcs"), ("cenc", "cens", "cbcs")
    encrypt = ("--truncated-runs", "encrypt")
    keys = (("video=", KID, KEY), ("audio=", OTHER_KID, OTHER_KEY))
    return [
        ("IVs of 8 bytes, AVC", "avc", ours(counted, *SHORT, "--iv", IV8)),
        ("IVs of 8 bytes, AAC", "aac", ours(counted, *SHORT, "--iv", IV8)),
        ("IVs of 16 bytes, AVC", "avc", ours(SCHEMES, *SHORT, "--iv", IV16)),
        ("IVs of 16 bytes, AAC", "aac", ours(SCHEMES, *SHORT, "--iv", IV16)),
        ("Pattern 10:0, AVC", "avc", ours(patterns, *SHORT, "--pattern", "10:0")),
        ("Pattern 1:0, AVC", "avc", ours(patterns, *SHORT, "--pattern", "1:0")),
        ("Pattern 5:5, AVC", "avc", ours(patterns, *SHORT, "--pattern", "5:5")),
        (
            "Pattern 5:5, AVC, `--truncated-runs encrypt`",
            "avc",
            ours(patterns, *SHORT, "--pattern", "5:5", *encrypt, read_with=encrypt),
        ),
        ("A key for each track, AVC and AAC", "avc_aac", ours(SCHEMES, *SHORT, keys=keys)),
        ("Audio clear, AVC and AAC", "avc_aac", ours(SCHEMES, *SHORT, "--clear", "audio")),
    ]


def others():
    """All have one key, but those with key rotation, which have two."""
    for encrypter, schemes, encrypt in (
        ("Shaka Packager", SCHEMES, shaka),
        ("Bento4", SCHEMES, bento4),
        ("mp4ff", ("cenc", "cbcs"), mp4ff),
        ("GPAC", SCHEMES, gpac),
        ("GPAC, a key for each key frame (`seig`)", ("cenc", "cbcs"), gpac_rotation),
        ("Bento4, PIFF", ("CTR", "CBC"), bento4_piff),
        ("FFmpeg, progressive", ("cenc",), ffmpeg),
    ):
        for name in ("avc", "hevc", "aac"):
            if encrypt in (gpac_rotation, bento4_piff, ffmpeg) and name != "avc":
                continue
            made = {scheme: theirs(encrypter.split(",")[0], encrypt, scheme) for scheme in schemes}
            yield f"{encrypter}: {NAMES[name]}", name, made


def theirs(encrypter, encrypt, scheme):
    def make(bench, name):
        output = bench.output(name, encrypter.replace(" ", "_"), scheme)
        keys = encrypt(bench, name, scheme, output) or [(KID, KEY)]
        return Clip(name, output, keys, bench.reader)

    return make


def shaka(bench, name, scheme, output):
    stream = "audio" if name == "aac" else "video"
    run(
        programs.find_shaka(), f"in={bench.media[name]},stream={stream},output={output}",
        "--enable_raw_key_encryption", "--keys", f"label=:key_id={KID}:key={KEY}",
        "--protection_scheme", scheme, "--clear_lead", "0", "--quiet", f"--temp_dir={output.parent}",
    )  # fmt: skip


def bento4(bench, name, scheme, output, standard="MPEG"):
    program = programs.packagers.bento4_program("mp4encrypt")
    run(
        program, "--method", f"{standard}-{scheme.upper()}", "--key", f"1:{KEY}:{IV8}", "--property", f"1:KID:{KID}",
        bench.fragmented(name), output,
    )  # fmt: skip


def bento4_piff(bench, name, scheme, output):
    bento4(bench, name, scheme, output, "PIFF")


def mp4ff(bench, name, scheme, output):
    program = programs.packagers.mp4ff_program("mp4ff-encrypt")
    iv = IV8 if scheme == "cenc" else IV16
    run(program, "-kid", KID, "-key", KEY, "-iv", iv, "-scheme", scheme, bench.fragmented(name), output)


def gpac(bench, name, scheme, output, keys=((KID, KEY),), rotation=""):
    drm = output.with_suffix(".xml")
    iv = f'constant_IV="0x{IV16}" constant_IV_size="16"' if scheme == "cbcs" else f'first_IV="0x{IV8}" IV_size="8"'
    pattern = ' crypt_byte_block="1" skip_byte_block="9"' if scheme in ("cens", "cbcs") and name != "aac" else ""
    if scheme in ("cbc1", "cens"):
        iv = f'first_IV="0x{IV16}" IV_size="16"'
    entries = "".join(f'<key KID="0x{kid}" value="0x{key}" {iv}/>' for kid, key in keys)
    drm.write_text(
        f'<GPACDRM type="{scheme}"><CrypTrack trackID="1" IsEncrypted="1" {iv}{pattern}{rotation}>'
        f"{entries}</CrypTrack></GPACDRM>"
    )
    source = bench.fragmented(name)
    run(programs.packagers.gpac_program(), "-i", source, f"cecrypt:cfile={drm}", "-o", f"{output}:frag:sfrag")


def gpac_rotation(bench, name, scheme, output):
    keys = ((KID, KEY), (OTHER_KID, OTHER_KEY))
    gpac(bench, name, scheme, output, keys, ' keyRoll="rap"')
    return list(keys)


def ffmpeg(bench, name, _scheme, output):
    encryption = ("-encryption_scheme", "cenc-aes-ctr", "-encryption_key", KEY, "-encryption_kid", KID)
    run(programs.find_ffmpeg(), "-v", "error", "-i", bench.media[name], "-c", "copy", *encryption, output)


def played():
    """What a browser is asked to play: title, the clips that are played together, how, and makers."""
    both = ("cenc", "cbcs")
    keys = (("video=", KID, KEY), ("audio=", OTHER_KID, OTHER_KEY))
    drop = (*SHORT, "--sidx", "drop")
    yield "AVC and AAC in one file", ["avc_aac"], "MSE", ours(SCHEMES, *SHORT)
    yield "AVC and AAC in two files", ["avc", "aac"], "MSE", ours(both, *SHORT)
    for name in ("avc_slices", "hevc", "aac", "ac3", "eac3", "opus", "flac"):
        yield NAMES[name], [name], "MSE", ours(both, *SHORT)
    yield "One file without `sidx`", ["avc_aac"], "MSE", ours(both, *drop)
    yield "IVs of 16 bytes, two files", ["avc", "aac"], "MSE", ours(both, *SHORT, "--iv", IV16)
    yield "A key for each track, one file", ["avc_aac"], "MSE", ours(both, *SHORT, keys=keys)
    yield "Audio clear, one file", ["avc_aac"], "MSE", ours(both, *SHORT, "--clear", "audio")
    five = ("--pattern", "5:5")
    yield "Pattern 5:5, AVC, 4 slices", ["avc_slices"], "MSE", ours(("cbcs",), *SHORT, *five)
    encrypt = (*five, "--truncated-runs", "encrypt")
    yield "The same, `--truncated-runs encrypt`", ["avc_slices"], "MSE", ours(("cbcs",), *SHORT, *encrypt)
    yield "Pattern 10:0, AVC, 4 slices", ["avc_slices"], "MSE", ours(("cbcs",), *SHORT, "--pattern", "10:0")
    yield "One file, fragmented", ["avc_aac"], "`src`", ours(both, *SHORT)
    yield "One file, progressive (`--layout keep`)", ["avc_aac"], "`src`", ours(both, "--layout", "keep")
    yield "AVC with a wrong key: must not play", ["avc"], "MSE, wrong key", ours(both, *SHORT)
    yield "AAC with a wrong key: must not play", ["aac"], "MSE, wrong key", ours(both, *SHORT)
