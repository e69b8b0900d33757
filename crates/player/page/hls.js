// HLS playlists (RFC 8216), of fragmented MP4 and WebVTT.
import { hex, kidOf, unbase64 } from "./bytes.js";
import { readPsshs } from "./boxes.js";
import { once } from "./dash.js";
import { Fault, isAudio, isText, makeSegment, makeTrack } from "./model.js";
import { fetchText } from "./net.js";

const SCHEMES = { "SAMPLE-AES": "cbcs", "SAMPLE-AES-CTR": "cenc" };

/** The attributes of a tag (4.2). */
function attributes(text) {
  const found = {};
  for (const [, name, quoted, plain] of text.matchAll(/([A-Z0-9-]+)=(?:"([^"]*)"|([^,]*))/g)) found[name] = quoted ?? plain.trim();
  return found;
}

/** The lines that say something: { number, tag, value } or { number, uri }. */
function* lines(text, what) {
  const all = text.split(/\r?\n/);
  if (all[0].replace(/^\ufeff/, "").trim() !== "#EXTM3U") {
    throw new Fault(`${what} is not a playlist`, `Line 1 is not #EXTM3U but ${JSON.stringify(all[0].slice(0, 60))}.`);
  }
  for (const [at, line] of all.entries()) {
    const [, tag, value] = /^#(EXT[A-Z0-9-]*):?(.*)$/.exec(line.trim()) ?? [];
    if (tag) yield { number: at + 1, tag, value };
    else if (line.trim() && !line.startsWith("#")) yield { number: at + 1, uri: line.trim() };
  }
}

export async function parseHls(text, url) {
  const entries = [...lines(text, "The manifest")];
  const notes = [], sets = [];
  const setOf = (key, rest) => {
    let set = sets.find(set => set.key === key);
    if (!set) sets.push((set = { key, id: key, tracks: [], language: "", label: "", role: "", priority: 1, ...rest }));
    return set;
  };
  if (!entries.some(({ tag }) => tag === "EXT-X-STREAM-INF")) {
    const set = setOf("playlist", { type: "muxed" });
    const track = makeTrack(set, url.split("/").at(-1).replace(/\.m3u8.*$/i, ""), {});
    track.load = once(async () => mediaPlaylist(track, text, url, true));
    await track.load();
    return finish("HLS", url, sets, notes);
  }
  const groups = new Map();
  for (const { tag, value, number } of entries) {
    if (tag !== "EXT-X-MEDIA") continue;
    const media = attributes(value);
    const type = { AUDIO: "audio", SUBTITLES: "text" }[media.TYPE];
    if (!type) continue;
    if (!media["GROUP-ID"] || !media.NAME) throw new Fault("A line of the manifest is not complete", `Line ${number}: EXT-X-MEDIA without ${media.NAME ? "GROUP-ID" : "NAME"}.`);
    if (!media.URI) continue;
    if (!groups.has(media["GROUP-ID"])) groups.set(media["GROUP-ID"], []);
    groups.get(media["GROUP-ID"]).push({ ...media, type });
  }
  for (let at = 0; at < entries.length; at += 1) {
    const { tag, value, number } = entries[at];
    if (tag !== "EXT-X-STREAM-INF") continue;
    const variant = attributes(value), uri = entries.slice(at + 1).find(entry => entry.uri || entry.tag === "EXT-X-STREAM-INF")?.uri;
    if (!uri) throw new Fault("A variant has no playlist", `Line ${number}: no URI follows EXT-X-STREAM-INF.`);
    const codecs = (variant.CODECS ?? "").split(",").map(codec => codec.trim()).filter(Boolean);
    const sound = codecs.filter(isAudio), pictures = codecs.filter(codec => !isAudio(codec) && !isText(codec));
    const media = [...(groups.get(variant.AUDIO) ?? []), ...(groups.get(variant.SUBTITLES) ?? [])];
    const apart = media.some(({ type }) => type === "audio");
    const type = pictures.length ? (apart || !sound.length ? "video" : "muxed") : apart ? null : "audio";
    const own = apart ? pictures : [...pictures, ...sound];
    const [width, height] = (variant.RESOLUTION ?? "0x0").split("x").map(Number);
    const whole = new URL(uri, url).href;
    if (type && !sets.some(set => set.tracks.some(track => track.playlist === whole))) {
      const set = setOf(`${type} ${own.map(codec => codec.split(".")[0]).join()}`, { type });
      addTrack(set, whole, { codecs: own.join(","), bandwidth: Number(variant["AVERAGE-BANDWIDTH"] ?? variant.BANDWIDTH ?? 0), width, height, frameRate: Number(variant["FRAME-RATE"] ?? 0), shared: apart });
    }
    for (const one of media) {
      const whole = new URL(one.URI, url).href;
      if (sets.some(set => set.tracks.some(track => track.playlist === whole))) continue;
      const set = setOf(`${one.type} ${one["GROUP-ID"]} ${one.NAME}`, {
        type: one.type, language: one.LANGUAGE ?? "", label: one.NAME === one.LANGUAGE ? "" : one.NAME, priority: one.DEFAULT === "YES" ? 2 : 1,
        role: [one.FORCED === "YES" ? "forced" : "", ...(one.CHARACTERISTICS ?? "").split(",").map(word => word.replace(/^public\.(accessibility\.)?/, ""))].filter(Boolean).join(", "),
      });
      addTrack(set, whole, { codecs: one.type === "audio" ? sound.join(",") : "", channels: Number(one.CHANNELS?.split("/")[0] ?? 0), mime: one.type === "audio" ? "audio/mp4" : "text/vtt" });
    }
  }
  // Small, and they say what the multivariant playlist does not: keys, segments, times.
  const tracks = sets.flatMap(set => set.tracks);
  const failed = await Promise.all(tracks.map(track => track.load().then(() => null, error => error)));
  for (const set of sets) set.tracks = set.tracks.filter(track => !failed[tracks.indexOf(track)]);
  const faults = failed.filter(Boolean);
  if (faults.length && !sets.some(set => set.type !== "text" && set.tracks.length)) throw faults[0];
  notes.push(...faults);
  return finish("HLS", url, sets.filter(set => set.tracks.length), notes);
}

function addTrack(set, playlist, rest) {
  const id = decodeURIComponent(playlist.split("/").at(-1).replace(/\.m3u8.*$/i, ""));
  const track = makeTrack(set, id, { ...rest, playlist });
  track.load = once(async () => mediaPlaylist(track, await fetchText(playlist, `The playlist of ${id}`), playlist));
}

const finish = (kind, url, sets, notes) => {
  const ends = sets.filter(set => set.type !== "text").flatMap(set => set.tracks.map(track => track.segments.at(-1)?.end ?? 0));
  return { kind, url, sets, notes, duration: Math.max(0, ...ends) };
};

/** KIDs of a key line: each system has its own place for them. */
function keysOf(key) {
  const data = /^data:[^,]*;base64,(.*)$/.exec(key.URI ?? "");
  const bytes = data ? unbase64(data[1]) : null;
  if (key.KEYFORMAT === "org.w3.clearkey" && bytes?.length === 16) return [hex(bytes)];
  if (kidOf(key.KEYID)) return [kidOf(key.KEYID)];
  return bytes ? readPsshs(bytes).flatMap(({ kids }) => kids) : [];
}

function mediaPlaylist(track, text, url) {
  const what = `The playlist of ${track.id}`;
  let init = null, keys = [], time = 0, length = null, bytes = null, next = 0, last = "", count = 0, ended = false;
  const byteRange = (value, uri) => {
    const [size, at] = value.split("@").map(Number);
    const from = at ?? (uri === last ? next : 0);
    next = from + size;
    return [from, next - 1];
  };
  track.segments = [];
  for (const { number, tag, value, uri } of lines(text, what)) {
    if (tag === "EXT-X-MEDIA-SEQUENCE") count = Number(value) - 1;
    else if (tag === "EXT-X-ENDLIST") ended = true;
    else if (tag === "EXTINF") {
      length = Number.parseFloat(value);
      if (!(length >= 0)) throw new Fault(`${what} has a segment without duration`, `Line ${number}: #EXTINF:${value}`);
    } else if (tag === "EXT-X-BYTERANGE") bytes = value;
    else if (tag === "EXT-X-MAP") {
      const map = attributes(value);
      if (!map.URI) throw new Fault(`${what} has an EXT-X-MAP without URI`, `Line ${number}`);
      const place = new URL(map.URI, url).href;
      init = { url: place, range: map.BYTERANGE ? byteRange(map.BYTERANGE.includes("@") ? map.BYTERANGE : `${map.BYTERANGE}@0`, place) : null };
    } else if (tag === "EXT-X-KEY") {
      const key = attributes(value);
      if (key.METHOD === "AES-128") throw new Fault(`${what} encrypts whole segments (METHOD=AES-128)`, `Line ${number}`, "The page plays Common Encryption: SAMPLE-AES and SAMPLE-AES-CTR.");
      // Lines of other systems for the same segments follow one another; one after a segment is a new key.
      if (key.METHOD === "NONE" || keys.used) keys = [];
      if (key.METHOD !== "NONE") keys = [...keys, key];
    } else if (uri) {
      if (length === null) throw new Fault(`${what} has a segment without #EXTINF`, `Line ${number}: ${uri}`);
      const place = new URL(uri, url).href;
      const scheme = keys.length ? SCHEMES[keys[0].METHOD] ?? keys[0].METHOD : null;
      const kids = [...new Set(keys.flatMap(keysOf))];
      count += 1;
      track.segments.push(makeSegment(count, time, time + length, { url: place, range: bytes && byteRange(bytes, place) }, init, { scheme, kids, clear: !keys.length }));
      [time, length, bytes, last] = [time + length, null, null, place];
      keys.used = true;
    }
  }
  if (!track.segments.length) throw new Fault(`${what} has no segments`, url);
  if (!ended) track.live = true;
  const [{ place }] = track.segments;
  if (/\.(ts|aac|mp3)(\?|$)/i.test(place.url)) throw new Fault(`${what} is not of fragmented MP4`, place.url, "The page plays CMAF; `lanelock package` makes it.");
  track.mime = track.mime === "text/vtt" && init ? "application/mp4" : track.mime;
  track.scheme = track.segments.find(({ scheme }) => scheme)?.scheme ?? null;
  track.kids = [...new Set(track.segments.flatMap(({ kids }) => kids))];
}
