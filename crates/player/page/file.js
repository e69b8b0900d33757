// One fragmented file, with the index that it has or with one that is made by walking its boxes.
import { boxes, readFragments, readInit, readSidx } from "./boxes.js";
import { Fault, isAudio, makeSegment, makeTrack } from "./model.js";
import { fetchPlace } from "./net.js";

const PART = 1 << 16;

/** Reads a file at places, by parts that are kept. */
class Reader {
  constructor(url) {
    this.url = url;
    this.parts = new Map();
    this.size = Infinity;
  }

  async read(from, to) {
    const made = new Uint8Array(Math.max(0, Math.min(to, this.size) - from));
    for (let part = Math.floor(from / PART); part * PART < Math.min(to, this.size); part += 1) {
      const bytes = await this.part(part);
      const start = Math.max(from, part * PART), end = Math.min(to, part * PART + bytes.length);
      if (end > start) made.set(bytes.subarray(start - part * PART, end - part * PART), start - from);
    }
    return made;
  }

  async part(part) {
    if (!this.parts.has(part)) {
      const range = [part * PART, part * PART + PART - 1];
      const { bytes } = await fetchPlace({ url: this.url, range }, "The file").catch(error => {
        if (error.status === 416) return { bytes: new Uint8Array(0) };
        throw error;
      });
      if (bytes.length < PART) this.size = Math.min(this.size, part * PART + bytes.length);
      this.parts.set(part, bytes);
      if (this.parts.size > 64) this.parts.delete(this.parts.keys().next().value);
    }
    return this.parts.get(part);
  }
}

export async function parseFile(url, name) {
  const reader = new Reader(url);
  const head = [], tops = [];
  let init = null, references = null, at = 0;
  for (;;) {
    const bytes = await reader.read(at, at + 16);
    const box = boxes(bytes, 0, bytes.length).next().value;
    if (!box) break;
    const size = box.end - box.start || reader.size - at;
    if (box.type === "moov") {
      const moov = await reader.read(at, at + size);
      init = readInit(moov);
      if (!init?.fragmented) throw new Fault("The file is progressive", "Its samples are not in fragments, which browsers need to play by pieces.", "`lanelock package` makes a stream of it.");
      head.push([0, at + size - 1]);
    } else if (box.type === "sidx" && init && !references) {
      references = readSidx(await reader.read(at, at + size), at);
      if (references?.some(one => one.indexes)) references = null; // an index of indexes: the boxes themselves will do
      if (references?.length) break;
    } else if (box.type === "moof" || box.type === "mdat") tops.push({ type: box.type, at, end: at + size });
    at += size;
    if (at >= reader.size) break;
  }
  if (!init) throw new Fault("There is no moov in the file", url, "A media segment alone does not play; name the manifest or the folder.");
  references ??= await walked(reader, tops, init);
  if (!references.length) throw new Fault("There are no fragments in the file", url);
  const known = init.tracks.filter(track => track.type === "video" || track.type === "audio");
  const entries = known.map(track => ({ ...track.entries[0], type: track.type, language: track.language }));
  const video = entries.find(({ type }) => type === "video"), audio = entries.find(({ type }) => type === "audio");
  const set = { id: "file", type: known.length > 1 ? "muxed" : known[0]?.type ?? "video", tracks: [], language: "", label: "", role: "", priority: 1 };
  const scheme = entries.find(entry => entry.scheme)?.scheme ?? null;
  const kids = [...new Set(entries.map(({ kid }) => kid).filter(Boolean))];
  const duration = references.at(-1).end;
  const track = makeTrack(set, name, {
    mime: video ? "video/mp4" : "audio/mp4", codecs: entries.map(({ codec }) => codec).join(","), scheme, kids,
    width: video?.width ?? 0, height: video?.height ?? 0, channels: audio?.channels ?? 0, sampleRate: audio?.sampleRate ?? 0,
    bandwidth: Math.round((references.at(-1).last - references[0].first) * 8 / duration),
  });
  if (!video && audio && !isAudio(track.codecs)) set.type = "muxed";
  const place = { url, range: head[0] };
  track.segments = references.map((one, at) => makeSegment(at + 1, one.start, one.end, { url, range: [one.first, one.last] }, place, { scheme }));
  return { kind: "MP4", url, duration, notes: [], sets: [set] };
}

/** The index that the fragments make: each with the data behind it, timed by the first track in it. */
async function walked(reader, tops, init) {
  const found = [];
  for (const [at, { type, at: from, end }] of tops.entries()) {
    if (type !== "moof") continue;
    const { trafs } = readFragments(await reader.read(from, end), init)[0];
    const times = trafs.map(({ time, duration, timescale }) => [time / timescale, (time + duration) / timescale]);
    const last = tops.slice(at + 1).find(top => top.type === "moof")?.at ?? tops.at(-1).end;
    found.push({ start: Math.min(...times.map(([start]) => start)), end: Math.max(...times.map(([, end]) => end)), first: from, last: last - 1, tracks: trafs.length });
  }
  return found;
}
