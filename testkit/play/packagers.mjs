// One stream of the matrix, made of the clear clips by a packager: a folder with manifest.mpd and main.m3u8.
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { OTHERS } from "./cases.mjs";
import { CACHE, programs, run } from "./programs.mjs";
import { LANGUAGES, SECONDS, SEGMENT, WIDTHS, clip } from "./sources.mjs";

/** Keys, by what they are for; digits. */
const KEYS = {
  video: { kid: "00112233445566778899aabbccddeeff", key: "0f1e2d3c4b5a69788796a5b4c3d2e1f0" },
  audio: { kid: "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf", key: "b0b1b2b3b4b5b6b7b8b9babbbcbdbebf" },
};
/** Of pictures up to 320x180, where each size has a key of its own. */
const SMALL = { kid: "c0c1c2c3c4c5c6c7c8c9cacbcccdcecf", key: "d0d1d2d3d4d5d6d7d8d9dadbdcdddedf" };
const LEAD = SEGMENT; // seconds
const PERIOD = 2 * SEGMENT;

/** Keys of a stream, by what they are for; digits. */
export function keys_of({ scheme, motion }) {
  if (scheme === "sizes") return { ...KEYS, sd: SMALL };
  // Whatever is turned is another number.
  const turned = (digits, by) => digits.slice(2 * by) + digits.slice(0, 2 * by);
  const other = ({ kid, key }, by) => ({ kid: turned(kid, by), key: turned(key, by) });
  if (!motion?.startsWith("rotate")) return KEYS;
  const periods = Array.from({ length: SECONDS / PERIOD }, (_, period) => period);
  return Object.fromEntries(Object.entries(KEYS).flatMap(([what, key]) =>
    periods.map(period => [`${what}@${period}`, other(key, period)])));
}

/** The times at which the keys change, or a clear lead ends. */
export function boundaries({ motion }) {
  const rotation = motion?.startsWith("rotate") ? [PERIOD, 2 * PERIOD] : [];
  return motion?.includes("lead") ? [LEAD, ...rotation] : rotation;
}

/**
 * Makes the stream `{video, scheme, audio, layout, motion}` and gives its folder. `origin` is where it will
 * be served from. `motion` is how the keys change, if they do:
 *   rotate                    from one period to the next
 *   lead-entry, lead-group    with a clear lead, which is said to be clear in these ways
 *   rotate-lead               both
 */
export async function pack(packager, stream, origin) {
  const folder = path.join(CACHE, "streams", packager, name(stream));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await { shaka, lanelock }[packager](stream, folder, origin);
  return folder;
}

export const name = ({ video, scheme, audio, layout, motion }) =>
  [video, scheme, audio, layout, ...(motion ? [motion] : [])].join("-");

async function lanelock(stream, folder, origin) {
  const { video, scheme, audio, layout, motion } = stream;
  const keys = `${folder}.keys`;
  const lines = Object.entries(keys_of(stream)).map(([what, { kid, key }]) => `${what}=${kid}:${key}\n`);
  writeFileSync(keys, lines.join(""), { mode: 0o600 });
  const inputs = [
    ...Object.keys(WIDTHS).map(height => `${video}_${height}.mp4`),
    ...Object.keys(LANGUAGES).map(language => `${audio}_${language}.mp4`),
    "subs_en.vtt",
  ];
  const protection = scheme === "clear" ? ["--clear", "all"] : [
    "--scheme", OTHERS[scheme] ?? scheme, "--key-file", keys, "--drm", "clearkey,common", "--laurl", `clearkey=${origin}/licence`,
  ];
  await run(programs.lanelock(), [
    "package", ...inputs.map(clip), "-o", folder, ...protection, "--segment", `${SEGMENT}s`, "--layout", layout,
    ...(scheme === "sizes" ? ["--picture-limits", "sd=320x180"] : []),
    ...(motion?.startsWith("rotate") ? ["--rotate", `${PERIOD}s`] : []),
    ...(motion?.includes("lead") ? ["--clear-lead", `${LEAD}s`] : []),
    ...(motion === "lead-group" ? ["--clear-lead-form", "group"] : []),
    // WebVTT does not say its language.
    ...["type=video", "type=audio", "type=text:language=en"].flatMap(track => ["--track", track]), "--quiet",
  ]);
}

/** Shaka Packager: a control, which says that the test itself is right. */
async function shaka({ video, scheme, audio, layout }, folder, origin) {
  const single = layout === "single";
  const track = (what, output) =>
    single
      ? `,output=${folder}/${output}.mp4,playlist_name=${output}.m3u8${what}`
      : `,init_segment=${folder}/${output}/init.mp4,segment_template=${folder}/${output}/$Number$.m4s,playlist_name=${output}.m3u8${what}`;
  // dash.js asks for an initialization segment, which WebVTT has not; hls.js reads no captions from MP4.
  const captions = ([only, type, output]) =>
    `in=${clip("subs_en.vtt")},stream=text,language=en,hls_group_id=text,hls_name=en,playlist_name=subs_en.m3u8` +
    (only ? `,${only}_only=1,segment_template=${folder}/${output}/$Number$.${type}` : `,output=${folder}/${output}`) +
    (type === "m4s" ? `,init_segment=${folder}/${output}/init.mp4` : "");
  const inputs = [
    ...Object.keys(WIDTHS).map(height =>
      `in=${clip(`${video}_${height}.mp4`)},stream=video${track(",drm_label=video", `video_${height}`)}`),
    ...Object.entries(LANGUAGES).map(([language]) =>
      `in=${clip(`${audio}_${language}.mp4`)},stream=audio,language=${language}` +
      track(`,drm_label=audio,hls_group_id=audio,hls_name=${language}`, `audio_${language}`)),
    ...(single ? [["", "", "subs_en.vtt"]] : [["dash", "m4s", "subs_dash"], ["hls", "vtt", "subs_hls"]]).map(captions),
  ];
  const labels = Object.entries(KEYS).map(([label, { kid, key }]) => `label=${label}:key_id=${kid}:key=${key}`);
  const protection = scheme === "clear" ? [] : [
    "--enable_raw_key_encryption", "--keys", labels.join(","), "--protection_scheme", scheme, "--clear_lead", "0",
  ];
  await run(programs.shaka(), [
    ...inputs, ...protection, "--segment_duration", String(SEGMENT), "--generate_static_live_mpd",
    "--default_language", "en", "--mpd_output", `${folder}/manifest.mpd`,
    "--hls_master_playlist_output", `${folder}/main.m3u8`, "--temp_dir", folder, "--quiet",
  ]);
  if (scheme === "clear") return;
  name_server(path.join(folder, "manifest.mpd"), origin);
  for (const what of ["video", "audio"]) {
    const lists = readdirSync(folder).filter(file => file.startsWith(`${what}_`) && file.endsWith(".m3u8"));
    for (const file of lists) name_key(path.join(folder, file), scheme, KEYS[what].kid);
  }
}

/**
 * Shaka Packager knows no Clear Key of DASH-IF, only the common system, whose `pssh` dash.js takes for a list
 * of KIDs; and it names no licence server.
 */
function name_server(manifest, origin) {
  const system =
    '<ContentProtection schemeIdUri="urn:uuid:e2719d58-a985-b3c9-781a-b030af78d30e" value="ClearKey1.0">' +
    `<dashif:Laurl xmlns:dashif="https://dashif.org/CPS">${origin}/licence</dashif:Laurl></ContentProtection>`;
  const common = /<ContentProtection schemeIdUri="urn:uuid:1077efec[^]*?<\/ContentProtection>/g;
  writeFileSync(manifest, readFileSync(manifest, "utf8").replace(common, system));
}

/** Nor does it name a key in a playlist as hls.js wants it: by its KID. */
function name_key(playlist, scheme, kid) {
  const method = scheme === "cbcs" ? "SAMPLE-AES" : "SAMPLE-AES-CTR";
  const uri = `data:text/plain;base64,${Buffer.from(kid, "hex").toString("base64")}`;
  const line = `#EXT-X-KEY:METHOD=${method},URI="${uri}",KEYFORMAT="org.w3.clearkey"`;
  const text = readFileSync(playlist, "utf8").split("\n").filter(line => !line.startsWith("#EXT-X-KEY"));
  text.splice(text.findIndex(line => line.startsWith("#EXT-X-MAP")) + 1, 0, line);
  writeFileSync(playlist, text.join("\n"));
}
