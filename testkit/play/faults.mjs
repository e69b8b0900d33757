// Streams that are damaged on purpose, which a case must not let pass: the test of the test.
import { copyFileSync, cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { COLUMNS } from "./cases.mjs";
import { keys_of } from "./packagers.mjs";

const [SHAKA_DASH, , DASH_JS, HLS_JS, OWN_DASH, OWN_HLS] = COLUMNS;

const edit = (folder, file, change) => {
  const whole = path.join(folder, file);
  writeFileSync(whole, change(readFileSync(whole, "utf8")));
};
const late = text => text.replace(/00:00:(\d\d)/g, (_, seconds) => `00:00:${String(Number(seconds) + 2).padStart(2, "0")}`);
const garble = file => {
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.map((byte, at) => (at < bytes.length / 2 ? byte : ~byte)));
};

const ABSENT = /page: Segment 4 of \S+ is not there: 404 Not Found: http:\S+\/4\.m4s/;

const change = (folder, files, edit) => {
  for (const file of files) {
    const bytes = readFileSync(path.join(folder, file));
    edit(bytes);
    writeFileSync(path.join(folder, file), bytes);
  }
};
const VIDEO = ["video-180p", "video-360p"];

/** The KID of `seig` (ISO/IEC 23001-7, 6), which is behind the `pssh` of the fragment. */
const previous_kid = bytes => {
  const keys = keys_of({ motion: "rotate" });
  const at = bytes.indexOf(Buffer.from(keys["video@1"].kid, "hex"), bytes.indexOf("sgpd"));
  Buffer.from(keys["video@0"].kid, "hex").copy(bytes, at);
};
/** `sample_description_index` of `tfhd` (ISO/IEC 14496-12, 8.8.7), where no base_data_offset is before it. */
const encrypted_entry = bytes => bytes.writeUInt32BE(1, bytes.indexOf("tfhd") + 12);
/** The second key of a playlist, one segment further on. */
const late_key = text => {
  const [first, second] = [...text.matchAll(/#EXT-X-KEY:.*\n/g)].map(([line]) => line);
  return text.replace(new RegExp(`(${first.replace(/[^\w]/g, "\\$&")}[^]*?)${second.replace(/[^\w]/g, "\\$&")}(#EXTINF.*\n.*\n)`), `$1$2${second}`);
};

/** What is done to a stream (of Shaka Packager, where its keys stay) or to its keys, and what is said then. */
export const FAULTS = [
  {
    what: "a wrong key is the right one", layout: "segments", column: SHAKA_DASH, wrong: "video",
    keys: right => right, says: /with a wrong key, frame \d+ is shown/,
  },
  {
    what: "the licences are empty", layout: "segments", column: DASH_JS, wrong: "video",
    keys: () => new Map(), says: /the key of video is not known/,
  },
  {
    what: "nothing is there to decrypt", layout: "segments", column: SHAKA_DASH, wrong: "video",
    damage: folder => rmSync(path.join(folder, "video_180"), { recursive: true }), says: /not there: /,
  },
  {
    what: "a segment is absent", layout: "segments", column: SHAKA_DASH,
    damage: folder => rmSync(path.join(folder, "video_360/4.m4s")), says: /404/,
  },
  {
    what: "a segment is garbled", layout: "segments", column: HLS_JS,
    damage: folder => garble(path.join(folder, "video_360/4.m4s")), says: /the seek is done|the larger pictures are shown/,
  },
  {
    what: "the pictures are five frames early", layout: "segments", column: SHAKA_DASH,
    damage: folder => edit(folder, "manifest.mpd", text =>
      text.replaceAll('timescale="12800" init', 'presentationTimeOffset="2560" timescale="12800" init')),
    says: /frame \d+ is shown and not/,
  },
  {
    what: "both renditions are the smaller one", layout: "segments", column: SHAKA_DASH,
    damage: folder => edit(folder, "manifest.mpd", text => text.replaceAll("video_360/", "video_180/")),
    says: /"width":320/,
  },
  {
    what: "a language is absent", layout: "segments", column: SHAKA_DASH,
    damage: folder => edit(folder, "manifest.mpd", text => text.replace(/<AdaptationSet[^>]*lang="de"[^]*?<\/AdaptationSet>/, "")),
    says: /audio \["en"\] and not/,
  },
  {
    what: "the other language is the first", layout: "single", column: SHAKA_DASH,
    damage: folder => copyFileSync(path.join(folder, "audio_en.mp4"), path.join(folder, "audio_de.mp4")),
    says: /the language is de, of/,
  },
  ...[SHAKA_DASH, DASH_JS, HLS_JS].map(column => ({
    what: "the captions are late", layout: "single", column,
    damage: folder => edit(folder, "subs_en.vtt", late), says: /"Caption 3" was not shown/,
  })),
  ...[OWN_DASH, OWN_HLS].map(column => ({
    what: "a segment is absent", layout: "segments", column,
    damage: folder => rmSync(path.join(folder, "video_360/4.m4s")), says: ABSENT,
  })),
  {
    what: "the manifest is cut off", layout: "segments", column: OWN_DASH,
    damage: folder => edit(folder, "manifest.mpd", text => text.slice(0, text.length / 2)), says: /page: The manifest is not XML: Line \d+, column \d+/,
  },
  {
    what: "the licences are empty", layout: "segments", column: OWN_HLS, keys: () => new Map(), says: /page: A key is missing: No key is given for KID /,
  },
  {
    what: "a fragment names the key of another period", layout: "segments", motion: "rotate", column: SHAKA_DASH,
    damage: folder => change(folder, VIDEO.map(video => `${video}/3.m4s`), previous_kid), says: /video: 3 /,
  },
  {
    what: "a playlist names the next key too late", layout: "segments", motion: "rotate", column: HLS_JS,
    damage: folder => VIDEO.forEach(video => edit(folder, `${video}.m3u8`, late_key)),
    says: /the keys of video-\d+p\.m3u8 change at 6, 8 s and not at 4, 8 s/,
  },
  {
    what: "a clear segment is said to be encrypted", layout: "segments", motion: "lead-entry", column: DASH_JS,
    damage: folder => change(folder, VIDEO.map(video => `${video}/1.m4s`), encrypted_entry), says: /video: 3 /,
  },
];

/** One for the short form: of a stream of Lanelock. */
export const SHORT_FAULT = {
  what: "a segment of lanelock is absent", layout: "segments", column: OWN_DASH,
  damage: folder => rmSync(path.join(folder, "video-360p/4.m4s")), says: ABSENT,
};

/** A copy of the stream with the fault. */
export function damaged(folder, number, { damage }) {
  const copy = `${folder}-fault-${number}`;
  rmSync(copy, { recursive: true, force: true });
  cpSync(folder, copy, { recursive: true });
  damage?.(copy);
  return copy;
}
