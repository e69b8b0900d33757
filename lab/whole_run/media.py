"""The input files, made once and kept.

The large ones are those of `tools/make-bench-media`; the others are cut from them, without encoding
again, so that access units stay what an encoder made.
"""

import subprocess

from . import ROOT

FRAGMENTS = "+empty_moov+default_base_moof"
KINDS = {
    "": "+faststart",
    "frag": f"+frag_keyframe{FRAGMENTS}",
    "frames": f"+frag_every_frame{FRAGMENTS}",  # a fragment for each frame
}

LADDER = ("1080p", "720p", "480p", "360p", "240p", "audio")

# The names of the cuts: the file that they are the beginning of, and the number of frames (of sound:
# of packets).
CUTS = {
    "clip_1M": ("fhd30_3M", 80),
    "fhd30_3M.short": ("fhd30_3M", 600),
    "uhd24_54M.short": ("uhd24_54M", 192),
    **{f"ladder_{name}.short": (f"ladder_{name}", 938 if name == "audio" else 600) for name in LADDER},
}
SHORT = {source: name for name, (source, _) in CUTS.items() if name.endswith(".short")}


class Media:
    """The files in a folder; `short` takes the first seconds of the large ones instead."""

    def __init__(self, folder, short):
        self.folder, self.short = folder, short

    def file(self, name, kind=""):
        """The file of that name, progressive, `frag` or `frames`."""
        return self._file(SHORT.get(name, name) if self.short else name, kind)

    def _file(self, name, kind):
        path = self.folder / f"{name}{'.' if kind else ''}{kind}.mp4"
        if path.exists():
            return path
        if kind:
            source, frames = self._file(name, ""), []
        elif name in CUTS:
            source, count = CUTS[name]
            source, frames = self._file(source, ""), ["-frames", str(count)]
        else:
            subprocess.run([ROOT / "tools" / "make-bench-media", "--dir", self.folder, name], check=True)
            return path
        # Under another name until it is whole.
        part = path.with_suffix(".part")
        command = ["ffmpeg", "-v", "error", "-nostdin", "-y", "-i", source, "-c", "copy", *frames]
        subprocess.run([*command, "-movflags", KINDS[kind], "-f", "mp4", part], check=True)
        part.rename(path)
        return path
