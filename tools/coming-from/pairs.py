"""What people type elsewhere, what they type here, and what is not the same afterwards.

The page is made of this, and each pair is run. A pair names the facts (of compare.py) that differ, with
the reason; every other fact has to be the same, and those that are named have to differ.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

KID, KEY = "00112233445566778899aabbccddeeff", "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
KID2, KEY2 = "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf", "b0b1b2b3b4b5b6b7b8b9babbbcbdbebf"
IV8, IV = "c0c1c2c3c4c5c6c7", "c0c1c2c3c4c5c6c7c8c9cacbcccdcecf"
# What Shaka Packager makes of one key for the periods of a rotation: KID and key turned by a byte each time.
PERIODS = [(KID[2 * n :] + KID[: 2 * n], KEY[2 * n :] + KEY[: 2 * n]) for n in range(5)]
VARIABLES = {"KID": KID, "KEY": KEY, "KID2": KID2, "KEY2": KEY2, "IV8": IV8, "IV": IV}


@dataclass
class Pair:
    """`kind` says what is compared: see __main__.py."""

    title: str
    theirs: str
    ours: str
    kind: str
    outputs: tuple = ()  # of theirs; then of ours
    differs: dict = field(default_factory=dict)  # fact: why
    notes: str = ""
    files: dict = field(default_factory=dict)  # name: content, shown with the commands
    clear: tuple = ("in.mp4",)  # what decryption has to give back
    says: tuple = ()  # what both print; of what is refused here, what is printed here
    holds: Callable | None = None  # of what is refused here: what is so of the facts of theirs
    ffmpeg: tuple = ("theirs", "ours")  # whose output FFmpeg decrypts, too


# In every folder, and not shown: the page says what is in them.
FILES = {
    "one.txt": "$KID:$KEY\n",
    "keys.txt": "video=$KID:$KEY\naudio=$KID2:$KEY2\n",
    "periods.txt": "".join(f"all@{n}={kid}:{key}\n" for n, (kid, key) in enumerate(PERIODS)),
    "turns.txt": "".join(f"all@{n}={('$KID:$KEY', '$KID2:$KEY2')[n % 2]}\n" for n in range(6)),
}
KEYS = [(KID, KEY), (KID2, KEY2), *PERIODS[1:]]

SHAKA_KEYS = "--enable_raw_key_encryption --keys label=SD:key_id=$KID:key=$KEY,label=AUDIO:key_id=$KID2:key=$KEY2"

SHAKA = [
    Pair(
        "Encrypt a file with `cenc` and one key",
        """
packager in=360p.mp4,stream=video,output=out.mp4 --protection_scheme cenc --clear_lead 0 \\
    --enable_raw_key_encryption --keys label=:key_id=$KID:key=$KEY --iv $IV8 --segment_duration 1
""",
        """
lanelock encrypt 360p.mp4 out.mp4 --scheme cenc --iv $IV8 --key label=:key_id=$KID:key=$KEY
""",
        "encrypted",
        (("out.mp4",), ("out.mp4",)),
        clear=("360p.mp4",),
        differs={
            "subsamples": (
                "as many bytes, at other places: whole blocks begin behind the header of a NAL unit "
                "there, and the rest at its end is clear; here they end with the NAL unit. Both are in "
                "use, and the map in `senc` says which: [interop.md](interop.md)"
            ),
            "encrypted packets": "follow the map; under `cbcs` there is no such choice, and they are the same",
        },
        notes=(
            "`cenc` is the default there; here `--scheme` has no default. `--key` takes keys in the form "
            "of `--keys`."
        ),
    ),
    Pair(
        "Encrypt with `cbcs`, a key for video and one for audio",
        f"""
packager in=in.mp4,stream=video,output=video.mp4 in=in.mp4,stream=audio,output=audio.mp4 \\
    --protection_scheme cbcs --clear_lead 0 --segment_duration 1 --iv $IV \\
    {SHAKA_KEYS}
""",
        """
lanelock encrypt in.mp4 out.mp4 --scheme cbcs --iv $IV --key-file keys.txt
""",
        "encrypted",
        (("video.mp4", "audio.mp4"), ("out.mp4",)),
        notes=(
            "There is a file for each stream there, and one file with all tracks here. Without "
            "`--clear_lead 0` the first 5 s are clear there; a clear lead is 0 here unless asked for. A "
            "track without key is an error here."
        ),
    ),
    Pair(
        "Keys by the size of the picture: SD, HD, AUDIO",
        """
packager in=360p.mp4,stream=video,output=sd.mp4 in=720p.mp4,stream=video,output=hd.mp4 \\
    in=audio.mp4,stream=audio,output=a.mp4 --protection_scheme cbcs --clear_lead 0 --segment_duration 1 --iv $IV \\
    --enable_raw_key_encryption \\
    --keys label=SD:key_id=$KID:key=$KEY,label=HD:key_id=$KID2:key=$KEY2,label=AUDIO:key_id=$KID:key=$KEY
""",
        """
lanelock encrypt 360p.mp4 720p.mp4 audio.mp4 -o out/ --scheme cbcs --iv $IV --key-file labels.txt
""",
        "encrypted",
        (("sd.mp4", "hd.mp4", "a.mp4"), ("out/360p.mp4", "out/720p.mp4", "out/audio.mp4")),
        files={"labels.txt": "sd=$KID:$KEY\nhd=$KID2:$KEY2\naudio=$KID:$KEY"},
        clear=("360p.mp4", "720p.mp4", "audio.mp4"),
        differs={
            "pssh": "each file there lists the KIDs of all labels; here a file lists its own",
        },
        notes=(
            "So with `uhd1` and `uhd2`, and `uhd` for both. The limits are the same, 768x576, 1920x1080 "
            "and 4096x2160; `--picture-limits` changes them, as `--max_sd_pixels` and so on do there."
        ),
    ),
    Pair(
        "A clear lead",
        f"""
packager in=in.mp4,stream=video,output=video.mp4 in=in.mp4,stream=audio,output=audio.mp4 \\
    --protection_scheme cbcs --clear_lead 1.5 --segment_duration 1 --iv $IV \\
    {SHAKA_KEYS}
""",
        """
lanelock encrypt in.mp4 out.mp4 --scheme cbcs --clear-lead 1500ms --iv $IV --key-file keys.txt
""",
        "encrypted",
        (("video.mp4", "audio.mp4"), ("out.mp4",)),
        notes=(
            "Without the option it is 5 s there, and nothing here. Both round up to whole fragments, here "
            "to 2 s, and say by a clear sample entry (`avc1` behind `encv`) that fragments are clear."
        ),
    ),
    Pair(
        "Key rotation",
        """
packager in=360p.mp4,stream=video,output=out.mp4 --protection_scheme cbcs --clear_lead 0 --segment_duration 1 \\
    --crypto_period_duration 2 --iv $IV --enable_raw_key_encryption --keys label=:key_id=$KID:key=$KEY
""",
        """
lanelock encrypt 360p.mp4 out.mp4 --scheme cbcs --rotate 2s --iv $IV --key-file periods.txt
""",
        "encrypted",
        (("out.mp4",), ("out.mp4",)),
        clear=("360p.mp4",),
        ffmpeg=(),
        differs={
            "KIDs": (
                "periods count in decode time there, in presentation time here; this clip is decoded 0.08 "
                "s before it is shown, so the fragment that begins at 2 s belongs to the first period "
                "there, and to the second one here. The default KID is 0 there, and that of the first "
                "period here"
            ),
            "IVs": (
                "the default IV of the track is 0 there, and that of the first period here; in the sample "
                "groups (`seig`) they are what `--iv` says"
            ),
            "encrypted packets": "those of the two fragments whose key is another one",
            "pssh": "of the KIDs above; both have the box of a period in its `moof`",
        },
        notes=(
            "With raw keys, Shaka Packager turns KID and key by one byte from period to period; its "
            "source says that this is for tests alone. Here each period has a key of its own: `lanelock "
            "keys new --periods 24 video audio -o keys.txt`, or a line `all@0=KID:KEY` for each. "
            "`periods.txt` has the keys of theirs."
        ),
    ),
    Pair(
        "`pssh` boxes",
        """
packager in=360p.mp4,stream=video,output=out.mp4 --protection_systems Widevine,PlayReady,CommonSystem \\
    --protection_scheme cbcs --clear_lead 0 --enable_raw_key_encryption --keys label=:key_id=$KID:key=$KEY
""",
        """
lanelock keys pssh --scheme cbcs --drm widevine,playready,common --key-file one.txt
""",
        "boxes",
        (("out.mp4",),),
        notes="The same boxes, byte by byte. `encrypt` and `package` take `--drm` as well.",
    ),
    Pair(
        "Decrypt",
        """
packager in=360p.mp4,stream=video,output=enc.mp4 --clear_lead 0 --enable_raw_key_encryption \\
    --keys label=:key_id=$KID:key=$KEY
packager in=enc.mp4,stream=video,output=clear.mp4 --enable_raw_key_decryption --keys label=:key_id=$KID:key=$KEY
""",
        """
lanelock encrypt 360p.mp4 enc.mp4 --scheme cenc --key-file one.txt
lanelock decrypt enc.mp4 clear.mp4 --key-file one.txt
""",
        "clear",
        (("clear.mp4",), ("clear.mp4",)),
        clear=("360p.mp4",),
        notes=(
            "All tracks at once here, all schemes without being told; a key that is certainly wrong is an "
            "error ([wrong-keys.md](wrong-keys.md))."
        ),
    ),
    Pair(
        "A stream in segments, for Widevine, PlayReady and FairPlay, with subtitles and fast forward",
        """
packager 'in=360p.mp4,stream=video,init_segment=s/360p/init.mp4,segment_template=s/360p/$Number$.m4s,playlist_name=360p.m3u8,iframe_playlist_name=360p-i.m3u8' \\
    'in=720p.mp4,stream=video,init_segment=s/720p/init.mp4,segment_template=s/720p/$Number$.m4s,playlist_name=720p.m3u8,iframe_playlist_name=720p-i.m3u8' \\
    'in=360p.mp4,stream=video,init_segment=s/fast/init.mp4,segment_template=s/fast/$Number$.m4s,trick_play_factor=1,dash_only=1' \\
    'in=audio.mp4,stream=audio,init_segment=s/audio/init.mp4,segment_template=s/audio/$Number$.m4s,playlist_name=audio.m3u8,hls_group_id=audio' \\
    'in=en.vtt,stream=text,language=en,segment_template=s/en/$Number$.vtt,playlist_name=en.m3u8,hls_group_id=text,hls_only=1' \\
    'in=en.vtt,stream=text,language=en,init_segment=s/en/init.mp4,segment_template=s/en/$Number$.m4s,dash_only=1' \\
    --protection_scheme cbcs --clear_lead 0 --iv $IV --segment_duration 2 --enable_raw_key_encryption \\
    --keys label=SD:key_id=$KID:key=$KEY,label=HD:key_id=$KID:key=$KEY,label=AUDIO:key_id=$KID2:key=$KEY2 \\
    --protection_systems Widevine,PlayReady,FairPlay --hls_key_uri skd://example \\
    --mpd_output s/manifest.mpd --generate_static_live_mpd --hls_master_playlist_output s/main.m3u8
""",
        """
lanelock package 360p.mp4 720p.mp4 audio.mp4 en.vtt -o s/ --scheme cbcs --iv $IV --segment 2s --trick-play \\
    --key-file keys.txt --drm widevine,playready,fairplay --skd skd://example \\
    --track type=video --track type=audio --track type=text:language=en
""",
        "streams",
        ("s", "s"),
        clear=("360p.mp4", "720p.mp4", "audio.mp4"),
        differs={
            "DASH duration": "the end of the video there, of the audio, which is 0.08 s longer, here",
            "pssh": "each file there lists the KIDs of all labels; here a file lists its own",
        },
        notes=(
            "Names of files and playlists are made here: `name=` in `--track` sets them, "
            "[packaging.md](packaging.md) has all fields of a stream descriptor. "
            "`--generate_static_live_mpd` is not needed: there are no live streams."
        ),
    ),
    Pair(
        "A stream in a file for each track",
        """
packager in=360p.mp4,stream=video,output=s/360p.mp4,playlist_name=360p.m3u8 \\
    in=audio.mp4,stream=audio,output=s/audio.mp4,playlist_name=audio.m3u8,hls_group_id=audio \\
    --protection_scheme cenc --clear_lead 0 --segment_duration 2 --protection_systems Widevine \\
    --enable_raw_key_encryption --keys label=SD:key_id=$KID:key=$KEY,label=AUDIO:key_id=$KID2:key=$KEY2 \\
    --iv $IV8 --mpd_output s/manifest.mpd --hls_master_playlist_output s/main.m3u8
""",
        """
lanelock package 360p.mp4 audio.mp4 -o s/ --layout single --scheme cenc --segment 2s --drm widevine \\
    --key-file keys.txt --iv $IV8
""",
        "streams",
        ("s", "s"),
        clear=("360p.mp4", "audio.mp4"),
        differs={
            "subsamples": "as above, under `cenc`",
            "encrypted packets": "as above",
            "pssh": "each file there lists the KIDs of all labels; here a file lists its own",
            "DASH duration": "the end of the video there, of the audio, which is 0.08 s longer, here",
            "HLS playlists of key frames": "always here, by `iframe_playlist_name=` there",
        },
    ),
    Pair(
        "One key and one IV for two tracks",
        """
packager in=in.mp4,stream=video,output=video.mp4 in=in.mp4,stream=audio,output=audio.mp4 --clear_lead 0 \\
    --enable_raw_key_encryption --keys label=:key_id=$KID:key=$KEY --iv $IV8
""",
        """
lanelock encrypt in.mp4 out.mp4 --scheme cenc --iv $IV8 --key-file one.txt
""",
        "refused",
        (("video.mp4", "audio.mp4"), ("out.mp4",)),
        says=("it has the key and the given IV of track 1, and cenc must not repeat an IV under one key",),
        holds=lambda facts: all(facts[of]["video 640x360"] == facts[of]["audio"] for of in ("KIDs", "IVs")),
        notes=(
            "There both tracks begin with the same IV under the same key, so their key streams are the "
            "same. Without `--iv` each track here has an IV of its own."
        ),
    ),
    Pair(
        "What is in a file",
        """
packager in=in.mp4 --dump_stream_info
""",
        """
lanelock inspect in.mp4
""",
        "says",
        says=("avc1.64001E", "mp4a.40.2", "48000", "12800"),
        notes="`--json` prints it for programs.",
    ),
]

CENC_XML = """
<GPACDRM type="cenc">
  <CrypTrack trackID="1" IsEncrypted="1" IV_size="8" first_IV="0x$IV8">
    <key KID="0x$KID" value="0x$KEY"/>
  </CrypTrack>
</GPACDRM>
"""
CBCS_XML = """
<GPACDRM type="cbcs">
  <DRMInfo type="pssh" version="1">
    <BS ID128="1077efecc0b24d02ace33c1e52e2fb4b"/>
    <BS bits="32" value="2"/>
    <BS ID128="$KID"/>
    <BS ID128="$KID2"/>
  </DRMInfo>
  <CrypTrack trackID="1" IsEncrypted="1" constant_IV="0x$IV" constant_IV_size="16"
             crypt_byte_block="1" skip_byte_block="9">
    <key KID="0x$KID" value="0x$KEY"/>
  </CrypTrack>
  <CrypTrack trackID="2" IsEncrypted="1" constant_IV="0x$IV" constant_IV_size="16">
    <key KID="0x$KID2" value="0x$KEY2"/>
  </CrypTrack>
</GPACDRM>
"""
TURNS_XML = """
<GPACDRM type="cbcs">
  <CrypTrack trackID="1" IsEncrypted="1" keyRoll="rap" constant_IV="0x$IV" constant_IV_size="16"
             crypt_byte_block="1" skip_byte_block="9">
    <key KID="0x$KID" value="0x$KEY" constant_IV="0x$IV" constant_IV_size="16"/>
    <key KID="0x$KID2" value="0x$KEY2" constant_IV="0x$IV" constant_IV_size="16"/>
  </CrypTrack>
</GPACDRM>
"""

GPAC = [
    Pair(
        "Encrypt a file with `cenc` and one key",
        """
MP4Box -crypt drm.xml 360p.mp4 -out out.mp4
""",
        """
lanelock encrypt 360p.mp4 out.mp4 --scheme cenc --iv $IV8 --key-file one.txt
""",
        "encrypted",
        (("out.mp4",), ("out.mp4",)),
        files={"drm.xml": CENC_XML},
        clear=("360p.mp4",),
        differs={
            "layout": (
                "progressive there, fragmented as the input here; `--layout keep` leaves progressive "
                "input as it is"
            ),
            "pssh": "there is one if a `DRMInfo` describes it; here always, unless `--no-pssh` is given",
        },
        notes=(
            "The same ciphertext, byte by byte. A track without `CrypTrack` stays clear there, with a "
            "warning; here it is an error unless `--clear` names it."
        ),
    ),
    Pair(
        "Encrypt with `cbcs`, a key for video and one for audio; `pssh`",
        """
gpac -i in.mp4 cecrypt:cfile=drm.xml -o out.mp4:frag:sfrag
""",
        """
lanelock encrypt in.mp4 out.mp4 --scheme cbcs --iv $IV --drm common --key-file keys.txt
""",
        "encrypted",
        (("out.mp4",), ("out.mp4",)),
        files={"drm.xml": CBCS_XML},
        notes=(
            "`MP4Box -crypt` takes the same `drm.xml`. Without `:sfrag` a fragment there need not begin "
            "at a key frame."
        ),
    ),
    Pair(
        "A track without key",
        """
MP4Box -crypt drm.xml in.mp4 -out out.mp4
""",
        """
lanelock encrypt in.mp4 out.mp4 --scheme cenc --key video=$KID:$KEY
""",
        "refused",
        (("out.mp4",), ("out.mp4",)),
        files={"drm.xml": CENC_XML},
        says=("track 2 (mp4a): there is no key for it",),
        holds=lambda facts: facts["scheme"]["audio"] == [None] and facts["scheme"]["video 640x360"] == ["cenc"],
        notes=(
            "There the audio is clear, with a warning and exit status 0. If that is what you want: "
            "`--clear audio`."
        ),
    ),
    Pair(
        "Key rotation: two keys in turn, one for each key frame",
        """
gpac -i 360p.mp4 cecrypt:cfile=drm.xml -o out.mp4:frag:sfrag
""",
        """
lanelock encrypt 360p.mp4 out.mp4 --scheme cbcs --rotate 1s --iv $IV --key-file turns.txt
""",
        "encrypted",
        (("out.mp4",), ("out.mp4",)),
        files={"drm.xml": TURNS_XML},
        clear=("360p.mp4",),
        ffmpeg=(),
        differs={
            "pssh": "there is one if a `DRMInfo` describes it; here each period has its own, in its `moof`",
        },
        notes=(
            '`keyRoll="rap"` changes keys at key frames, of which this clip has one each second. Here '
            'keys change with time, and each period has a key: `turns.txt` has the two in turn, '
            '`all@0=$KID:$KEY`, `all@1=$KID2:$KEY2`, `all@2=$KID:$KEY` and so on.'
        ),
    ),
    Pair(
        "Decrypt",
        """
MP4Box -crypt drm.xml in.mp4 -out enc.mp4
MP4Box -decrypt drm.xml enc.mp4 -out clear.mp4
gpac -i enc.mp4 cdcrypt:cfile=drm.xml -o clear2.mp4
""",
        """
lanelock encrypt in.mp4 enc.mp4 --scheme cbcs --key-file keys.txt
lanelock decrypt enc.mp4 clear.mp4 --key-file keys.txt
""",
        "clear",
        (("clear.mp4", "clear2.mp4"), ("clear.mp4",)),
        files={"drm.xml": CBCS_XML},
    ),
    Pair(
        "Fragment",
        """
MP4Box -frag 1000 progressive.mp4 -out out.mp4
""",
        """
lanelock package progressive.mp4 -o s/ --clear all --segment 1s --layout single
""",
        "clear",
        (("out.mp4",), ("s/video-360p.mp4", "s/audio.mp4")),
        clear=("progressive.mp4",),
        notes=(
            "CMAF tracks, a file for each, with manifests. Encryption fragments by itself "
            "(`--fragment-duration`)."
        ),
    ),
    Pair(
        "A stream for DASH and HLS, clear",
        """
MP4Box -dash 2000 -rap -profile live -out s/manifest.mpd:dual \\
    360p.mp4#video:id=360p 720p.mp4#video:id=720p audio.mp4#audio:id=audio
""",
        """
lanelock package 360p.mp4 720p.mp4 audio.mp4 -o s/ --clear all --segment 2s
""",
        "streams",
        ("s", "s"),
        clear=("360p.mp4", "720p.mp4", "audio.mp4"),
        differs={
            "HLS playlists of key frames": "always here",
        },
    ),
    Pair(
        "Encrypt and package in one command",
        """
gpac -i 360p.mp4:#Representation=360p -i 720p.mp4:#Representation=720p cecrypt:cfile=drm.xml \\
    -o 's/manifest.mpd:dual:profile=live:segdur=2:template=$RepresentationID$/$Init=init$$Number$'
""",
        """
lanelock package 360p.mp4 720p.mp4 -o s/ --scheme cbcs --iv $IV --segment 2s --key-file one.txt --drm common
""",
        "streams",
        ("s", "s"),
        files={"drm.xml": CBCS_XML},
        clear=("360p.mp4", "720p.mp4"),
        differs={
            "HLS playlists of key frames": "always here",
            "HLS keys": "`identity` there; by system (`--drm`) here",
            "pssh": "as `drm.xml` lists them, there; the KIDs of the track here",
        },
    ),
    Pair(
        "What is in a file",
        """
MP4Box -info in.mp4 2>&1
""",
        """
lanelock inspect in.mp4
""",
        "says",
        says=("avc1.64001E", "mp4a.40.2", "12800", "48000"),
    ),
]

BENTO4 = [
    Pair(
        "Fragment and encrypt a progressive file with `cenc`",
        """
mp4fragment progressive.mp4 fragmented.mp4
mp4encrypt --method MPEG-CENC --key 1:$KEY:$IV8 --property 1:KID:$KID \\
    --key 2:$KEY2:$IV8 --property 2:KID:$KID2 fragmented.mp4 out.mp4
""",
        """
lanelock encrypt progressive.mp4 out.mp4 --scheme cenc --iv $IV8 --key 1=$KID:$KEY --key 2=$KID2:$KEY2
""",
        "encrypted",
        (("out.mp4",), ("out.mp4",)),
        clear=("progressive.mp4",),
        differs={
            "subsamples": (
                "more is clear there: the first 96 to 111 bytes of each NAL unit, so that whole blocks "
                "remain"
            ),
            "ciphertext bytes": "follow the map",
            "encrypted packets": "follow the map and the IVs",
            "IVs": "16 bytes there, the 8 given and 8 zeros; 8 bytes here",
            "pssh": (
                "`--pssh` and `--pssh-v1` add them there; here there is one for all players, unless "
                "`--no-pssh` is given"
            ),
        },
        notes=(
            "Here a progressive file is fragmented on the way, and `--layout keep` encrypts it as it is. "
            "There, `mp4encrypt` of a progressive file warns, leaves its samples clear, and exits with 0."
        ),
    ),
    Pair(
        "Encrypt with `cbcs`, a key for video and one for audio",
        """
mp4encrypt --method MPEG-CBCS --key 1:$KEY:$IV --property 1:KID:$KID \\
    --key 2:$KEY2:$IV --property 2:KID:$KID2 in.mp4 out.mp4
""",
        """
lanelock encrypt in.mp4 out.mp4 --scheme cbcs --iv $IV --key video=$KID:$KEY --key audio=$KID2:$KEY2
""",
        "encrypted",
        (("out.mp4",), ("out.mp4",)),
        differs={
            "encrypted packets": (
                "could not be compared: FFmpeg does not open what `mp4encrypt` writes of audio under "
                "`cbcs`. Lanelock decrypts it to the packets of the clip"
            ),
            "pssh": "as above",
        },
        ffmpeg=("ours",),
    ),
    Pair(
        "`pssh` boxes, made beforehand",
        """
mp4encrypt --method MPEG-CBCS --key 1:$KEY:$IV --property 1:KID:$KID \\
    --pssh-v1 1077efecc0b24d02ace33c1e52e2fb4b: 360p.mp4 out.mp4
""",
        """
lanelock keys pssh --scheme cbcs --drm common --key-file one.txt
""",
        "boxes",
        (("out.mp4",),),
        notes=(
            "The same box, byte by byte. Those of Widevine and PlayReady, whose content `mp4encrypt` "
            "wants from a file, are made here from scheme and keys: `--drm widevine,playready`. A box "
            "from elsewhere goes in with `--pssh`."
        ),
    ),
    Pair(
        "Decrypt",
        """
mp4encrypt --method MPEG-CBCS --key 1:$KEY:$IV --property 1:KID:$KID \\
    --key 2:$KEY2:$IV --property 2:KID:$KID2 in.mp4 enc.mp4
mp4decrypt --key $KID:$KEY --key $KID2:$KEY2 enc.mp4 clear.mp4
""",
        """
lanelock encrypt in.mp4 enc.mp4 --scheme cbcs --key-file keys.txt
lanelock decrypt enc.mp4 clear.mp4 --key $KID:$KEY --key $KID2:$KEY2
""",
        "clear",
        (("clear.mp4",), ("clear.mp4",)),
        notes=(
            "Keys are found by KID; track IDs as `1:KEY` are not taken. What has no key is copied as it "
            "is there, and is an error here."
        ),
    ),
    Pair(
        "Decrypt with another key",
        """
mp4encrypt --method MPEG-CBCS --key 1:$KEY:$IV --property 1:KID:$KID 360p.mp4 enc.mp4
mp4decrypt --key $KID2:$KEY2 enc.mp4 clear.mp4
""",
        """
lanelock encrypt 360p.mp4 enc.mp4 --scheme cbcs --key-file one.txt
lanelock decrypt enc.mp4 clear.mp4 --key $KID2:$KEY2
""",
        "refused",
        (("clear.mp4",), ("clear.mp4",)),
        says=("there is no key for its KID",),
        holds=lambda facts: facts["scheme"]["video 640x360"] == ["cbcs"],
        notes="There the output is encrypted as the input was, and the exit status 0.",
    ),
    Pair(
        "A stream in segments, for Widevine, PlayReady and FairPlay, with subtitles",
        """
mp4dash -o s --hls --use-segment-timeline --subtitles --encryption-cenc-scheme=cbcs \\
    --encryption-key=video:$KID:$KEY:$IV,audio:$KID2:$KEY2:$IV --widevine --playready --playready-version=4.3 \\
    --fairplay --fairplay-key-uri=skd://example --mpd-name=manifest.mpd --hls-master-playlist-name=main.m3u8 \\
    360p.mp4 720p.mp4 audio.mp4 [+format=webvtt,+language=en]en.vtt
""",
        """
lanelock package 360p.mp4 720p.mp4 audio.mp4 en.vtt -o s/ --scheme cbcs --iv $IV --segment 1s \\
    --key-file keys.txt --drm widevine,playready,fairplay --skd skd://example \\
    --track type=video --track type=audio --track type=text:language=en
""",
        "streams",
        ("s", "s"),
        clear=("360p.mp4", "720p.mp4", "audio.mp4"),
        ffmpeg=("ours",),
        differs={
            "DASH duration": "the end of the video there, of the audio, which is 0.08 s longer, here",
            "DASH protection systems": "FairPlay is named there; here it is not, since it plays HLS alone",
            "DASH representations": (
                "subtitles are a WebVTT file there, and `wvtt` in MP4 here; `--text file` makes them a "
                "file"
            ),
            "HLS keys": "Widevine has no line there, unless `--widevine-header` gives the content of its box",
            "pssh": "as for the keys of HLS: `--widevine` alone makes no box there",
            "encrypted packets": (
                "of the video they are the same; FFmpeg does not open what `mp4encrypt` writes of audio "
                "under `cbcs`. Lanelock decrypts it to the packets of the clip"
            ),
            "segments": "audio may have one more there: its last 0.08 s; here they belong to the last segment",
        },
        notes=(
            "`mp4dash` wants fragmented input (`mp4fragment`), here any MP4 will do. Its segments are the "
            "fragments of the input; here `--segment` says how long they are."
        ),
    ),
    Pair(
        "A stream in a file for each track",
        """
mp4dash -o s --hls --no-split --profiles=on-demand --encryption-cenc-scheme=cbcs \\
    --encryption-key=video:$KID:$KEY:$IV,audio:$KID2:$KEY2:$IV --widevine --mpd-name=manifest.mpd \\
    --hls-master-playlist-name=main.m3u8 360p.mp4 audio.mp4
""",
        """
lanelock package 360p.mp4 audio.mp4 -o s/ --layout single --scheme cbcs --segment 1s --drm widevine \\
    --key-file keys.txt --iv $IV
""",
        "streams",
        ("s", "s"),
        clear=("360p.mp4", "audio.mp4"),
        ffmpeg=("ours",),
        differs={
            "DASH duration": "the end of the video there, of the audio, which is 0.08 s longer, here",
            "HLS keys": "`identity` there, Widevine here",
            "pssh": "`--widevine` alone makes no box there",
            "encrypted packets": (
                "of the video they are the same; FFmpeg does not open what `mp4encrypt` writes of audio "
                "under `cbcs`. Lanelock decrypts it to the packets of the clip"
            ),
            "segments": "audio may have one more there: its last 0.08 s; here they belong to the last segment",
        },
        notes="`--hls` wants `cbcs` there; here `cenc` is possible as well.",
    ),
    Pair(
        "HLS alone",
        """
mp4hls -o s --segment-duration 2 --master-playlist-name main.m3u8 progressive.mp4
""",
        """
lanelock package progressive.mp4 -o s/ --clear all --segment 2s --dash none
""",
        "playlists",
        ("s", "s"),
        clear=("progressive.mp4",),
        notes=(
            "MPEG-TS there, which Lanelock does not write; fragmented MP4 here, in the same playlists as "
            "with DASH."
        ),
    ),
    Pair(
        "What is in a file",
        """
mp4info --format json in.mp4
""",
        """
lanelock inspect in.mp4 --json
""",
        "says",
        says=("avc1.64001E", "mp4a.40.2", "12800", "48000"),
    ),
    Pair(
        "Protection, sample by sample",
        """
mp4encrypt --method MPEG-CBCS --key 1:$KEY:$IV --property 1:KID:$KID 360p.mp4 enc.mp4
mp4dump --verbosity 2 enc.mp4
""",
        """
lanelock encrypt 360p.mp4 enc.mp4 --scheme cbcs --iv $IV --key-file one.txt
lanelock inspect enc.mp4
""",
        "says",
        says=("cbcs",),
        notes=(
            "There is no dump of all boxes here: `inspect` sums up, `mp4dump` remains the tool for single "
            "boxes, and reads what Lanelock writes."
        ),
    ),
]

PEERS = {"shaka": SHAKA, "gpac": GPAC, "bento4": BENTO4}
# Not compared, since every packager writes its own: the page says so.
ANYWAY = {"brands", "fragments"}
