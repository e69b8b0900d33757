"""What two outputs have in common: of files, what `lanelock inspect` says and the packets; of streams,
what the manifests say, too.

A fact has a name; a pair of commands says which facts differ, and all others have to be the same.
"""

import json
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools" / "interop"))

import programs  # noqa: E402
from programs import CACHE, Failed, Missing, packets, run  # noqa: E402, F401

# Of a track, under `protection` of the JSON, and how the page calls them.
PROTECTION = {
    "scheme": ["scheme"], "KIDs": ["kids"], "IVs": ["constant_iv", "first_iv", "iv_size"], "pattern": ["pattern"],
    "protected access units": ["protected_access_units"],
    "subsamples": ["subsamples", "clear_bytes", "protected_bytes"], "ciphertext bytes": ["ciphertext_bytes"],
}  # fmt: skip


class Bench:
    """The programs that look at outputs, and the keys of all of them. FFmpeg is the one that comes with
    Shaka Packager: the one of Debian 12 loses packets of fragmented files without `sidx`."""

    def __init__(self, lanelock, keys):
        self.lanelock, self.keys = lanelock, keys
        self.reader = programs.find_newer_ffmpeg()

    def inspect(self, path):
        return json.loads(run(self.lanelock, "inspect", path, "--json"))

    def files(self, paths):
        """The facts of these files, taken as one output."""
        facts = {"layout": set(), "fragments": [], "brands": set(), "pssh": set(), "tracks": {}}
        for path in paths:
            found = self.inspect(path)
            facts["layout"].add(found["layout"])
            facts["fragments"].append((found["fragments"] or {}).get("count"))
            facts["brands"].update(found["brands"])
            facts["pssh"].update((box["system"], box["version"], frozenset(box["kids"])) for box in found["pssh"])
            for track in found["tracks"]:
                name = name_of(track)
                facts["tracks"][name] = (track["codec"], track["access_units"])
                facts.setdefault("sample entries", {})[name] = track["sample_entries"]
                facts.setdefault("times", {})[name] = (track["timescale"], round(track["duration"], 2))
                facts.setdefault("language", {})[name] = track["language"]
                for fact, fields in PROTECTION.items():
                    protection = track["protection"] or {}
                    facts.setdefault(fact, {})[name] = [protection.get(field) for field in fields]
            facts.setdefault("encrypted packets", {}).update(self.encrypted(path, found))
        return facts

    def encrypted(self, path, found):
        """As they are; nothing of a file that FFmpeg does not open."""
        try:
            return self.packets(path, found)
        except Failed:
            return {}

    def packets(self, path, found, *options):
        """The packets of its video and audio, by the name of the track."""
        named = {}
        for track in found["tracks"]:
            if track["kind"] in ("video", "audio"):
                [named[name_of(track)]] = packets(self.reader, path, *options, streams=(track["kind"][0],))
        return named

    def clear(self, paths):
        return {name: found for path in paths for name, found in self.packets(path, self.inspect(path)).items()}

    def decrypted(self, paths, scratch):
        """The packets that Lanelock gives back."""
        found = {}
        for number, path in enumerate(paths):
            output = scratch / f"decrypted-{number}.mp4"
            keys = [word for key in self.keys for word in ("--key", key)]
            if any(track["protection"] for track in self.inspect(path)["tracks"]):
                run(self.lanelock, "decrypt", path, output, "--quiet", *keys)
                path = output
            found |= self.clear([path])
        return found

    def decrypted_by_ffmpeg(self, paths):
        """The packets that FFmpeg gives back."""
        keys = ":".join(key.replace(":", "=") for key in self.keys)
        found = {}
        for path in paths:
            found |= self.packets(path, self.inspect(path), "-decryption_keys", keys)
        return found


def name_of(track):
    return f"video {track['width']}x{track['height']}" if track["kind"] == "video" else track["kind"]


def boxes(found):
    return {box["box"] for box in found["pssh"]}


def differences(theirs, ours):
    """The facts that are not the same: name, theirs, ours."""
    for fact in sorted(theirs.keys() | ours.keys()):
        if theirs.get(fact) != ours.get(fact):
            yield fact, theirs.get(fact), ours.get(fact)


def stream(folder, scratch):
    """What the manifests of a folder say, and a file for each track: its segments in a row."""
    facts, tracks = {}, {}
    for path in sorted(folder.glob("*.m3u8")):
        text = path.read_text()
        if "#EXT-X-STREAM-INF" in text:
            facts |= multivariant(text)
            for number, media in enumerate(media_playlists(text)):
                file = joined(folder / media, scratch / f"{folder.name}-{number}.mp4")
                if file:
                    tracks[media] = file
                    playlist = (folder / media).read_text()
                    facts.setdefault("HLS keys", set()).update(keys(playlist))
                    facts.setdefault("segments", set()).add(playlist.count("#EXTINF"))
    for path in folder.glob("*.mpd"):
        facts |= presentation(path)
    return facts, list(tracks.values())


def attributes(line):
    return dict(re.findall(r'([A-Z0-9-]+)=("[^"]*"|[^,]*)', line.split(":", 1)[1]))


def multivariant(text):
    lines = text.splitlines()
    variants = [attributes(line) for line in lines if line.startswith("#EXT-X-STREAM-INF:")]
    media = [attributes(line) for line in lines if line.startswith("#EXT-X-MEDIA:")]
    return {
        "HLS variants": {(one.get("RESOLUTION"), codecs(one)) for one in variants},
        "HLS renditions": {one["TYPE"] for one in media},
        "HLS playlists of key frames": text.count("#EXT-X-I-FRAME-STREAM-INF"),
    }


def codecs(variant):
    return frozenset(variant["CODECS"].strip('"').lower().split(","))


def media_playlists(text):
    lines = text.splitlines()
    named = [attributes(line).get("URI", "").strip('"') for line in lines if line.startswith("#EXT-X-MEDIA:")]
    variants = [after for line, after in zip(lines, lines[1:]) if line.startswith("#EXT-X-STREAM-INF:")]
    return dict.fromkeys(name for name in [*variants, *named] if name)


def keys(text):
    for line in text.splitlines():
        if line.startswith("#EXT-X-KEY:"):
            found = attributes(line)
            yield found["METHOD"], found.get("KEYFORMAT", '"identity"').strip('"').lower()


def joined(playlist, output):
    """The initialization segment and the media segments of a playlist; nothing for WebVTT."""
    names = []
    for line in playlist.read_text().splitlines():
        if line.startswith("#EXT-X-MAP:"):
            names.append(attributes(line)["URI"].strip('"'))
        elif line and not line.startswith("#"):
            names.append(line)
    if names[0].endswith(".vtt"):
        return None
    with open(output, "wb") as file:  # a file that byte ranges cut comes once
        for name in dict.fromkeys(names):
            file.write((playlist.parent / name).read_bytes())
    return output


def presentation(path):
    root = ElementTree.parse(path).getroot()
    dash = "{urn:mpeg:dash:schema:mpd:2011}"
    representations, systems, kids = [], set(), set()
    for one in root.iter(f"{dash}AdaptationSet"):
        for inner in one.iter(f"{dash}Representation"):
            values = {**one.attrib, **inner.attrib}
            size = values.get("width", ""), values.get("height", "")
            representations.append((values.get("codecs", "").lower(), *size))
        for inner in one.iter(f"{dash}ContentProtection"):
            systems.add(inner.attrib["schemeIdUri"].lower())
            kids.add(inner.attrib.get("{urn:mpeg:cenc:2013}default_KID", "").replace("-", "").lower())
    whole = re.fullmatch(r"PT(?:(\d+)H)?(?:(\d+)M)?([\d.]+)S", root.attrib["mediaPresentationDuration"])
    return {
        "DASH representations": sorted(representations), "DASH protection systems": systems, "DASH KIDs": kids - {""},
        "DASH type": root.attrib.get("type", "static"), "DASH duration": round(float(whole.group(3)), 1),
    }  # fmt: skip
