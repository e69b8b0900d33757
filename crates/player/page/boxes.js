// Boxes of ISO/IEC 14496-12 and 23001-7, as far as a player wants to know of them.
import { hex, utf8 } from "./bytes.js";

const CONTAINERS = new Set(["moov", "trak", "mdia", "minf", "stbl", "mvex", "moof", "traf", "sinf", "schi", "edts"]);
const SYSTEMS = {
  "1077efecc0b24d02ace33c1e52e2fb4b": "Common (W3C)", "e2719d58a985b3c9781ab030af78d30e": "Clear Key",
  edef8ba979d64acea3c827dcd51d21ed: "Widevine", "9a04f07998404286ab92e65be0885f95": "PlayReady",
  "94ce86fb07ff4f43adb893d2fa968ca2": "FairPlay",
};

const bytesOf = buffer => (buffer instanceof Uint8Array ? buffer : new Uint8Array(buffer));
const viewOf = bytes => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const fourcc = (bytes, at) => String.fromCharCode(...bytes.subarray(at, at + 4));

/** The boxes of a range: type, where it begins, where its body does, where it ends. What is cut off is left out. */
export function* boxes(bytes, from = 0, to = bytes.length) {
  const view = viewOf(bytes);
  for (let at = from; at + 8 <= to;) {
    let size = view.getUint32(at), head = 8;
    if (size === 1 && at + 16 <= to) [size, head] = [Number(view.getBigUint64(at + 8)), 16];
    if (size === 0) size = to - at;
    if (size < head) return;
    yield { type: fourcc(bytes, at + 4), start: at, body: at + head, end: at + size, whole: at + size <= to };
    at += size;
  }
}

/** All boxes of a type below a range, at any depth of the containers above. */
export function* all(bytes, type, from = 0, to = bytes.length) {
  for (const box of boxes(bytes, from, to)) {
    if (!box.whole) return;
    if (box.type === type) yield box;
    else if (CONTAINERS.has(box.type)) yield* all(bytes, type, box.body, box.end);
  }
}

const first = (bytes, type, from, to) => all(bytes, type, from, to).next().value;

/** A `pssh` box (ISO/IEC 23001-7, 8.1). */
export function readPssh(bytes, box) {
  const view = viewOf(bytes), at = box.body;
  const id = hex(bytes.subarray(at + 4, at + 20));
  const kids = [];
  if (bytes[at] > 0) {
    const count = Math.min(view.getUint32(at + 20), Math.floor((box.end - at - 24) / 16));
    for (let n = 0; n < count; n += 1) kids.push(hex(bytes.subarray(at + 24 + 16 * n, at + 40 + 16 * n)));
  }
  return { id, system: SYSTEMS[id] ?? id, kids, bytes: bytes.slice(box.start, box.end) };
}

export const readPsshs = buffer => {
  const bytes = bytesOf(buffer);
  return [...all(bytes, "pssh")].map(box => readPssh(bytes, box));
};

/** What an initialization segment says of its tracks. */
export function readInit(buffer) {
  const bytes = bytesOf(buffer), view = viewOf(bytes);
  const moov = first(bytes, "moov");
  if (!moov) return null;
  const tracks = [];
  for (const trak of boxes(bytes, moov.body, moov.end)) {
    if (trak.type !== "trak") continue;
    const within = type => first(bytes, type, trak.body, trak.end);
    const [tkhd, mdhd, hdlr, stsd] = ["tkhd", "mdhd", "hdlr", "stsd"].map(within);
    if (!tkhd || !mdhd || !hdlr || !stsd) continue;
    const long = bytes[mdhd.body] === 1;
    const packed = view.getUint16(mdhd.body + (long ? 32 : 20));
    const track = {
      id: view.getUint32(tkhd.body + (bytes[tkhd.body] === 1 ? 20 : 12)),
      timescale: view.getUint32(mdhd.body + (long ? 20 : 12)),
      language: String.fromCharCode(...[10, 5, 0].map(shift => 0x60 + ((packed >> shift) & 31))),
      type: { vide: "video", soun: "audio", text: "text", subt: "text" }[fourcc(bytes, hdlr.body + 8)] ?? "other",
      entries: [], defaults: null,
    };
    for (const entry of boxes(bytes, stsd.body + 8, stsd.end)) track.entries.push(readEntry(bytes, view, entry, track));
    tracks.push(track);
  }
  for (const trex of all(bytes, "trex", moov.body, moov.end)) {
    const track = tracks.find(({ id }) => id === view.getUint32(trex.body + 4));
    if (track) track.defaults = { duration: view.getUint32(trex.body + 12), size: view.getUint32(trex.body + 16) };
  }
  const mehd = first(bytes, "mehd", moov.body, moov.end), mvhd = first(bytes, "mvhd", moov.body, moov.end);
  let duration = 0;
  if (mvhd) {
    const long = bytes[mvhd.body] === 1;
    const timescale = view.getUint32(mvhd.body + (long ? 20 : 12));
    const number = (box, at) => (bytes[box.body] === 1 ? Number(view.getBigUint64(at)) : view.getUint32(at));
    duration = (mehd ? number(mehd, mehd.body + 4) : number(mvhd, mvhd.body + (long ? 24 : 16))) / timescale;
  }
  return { tracks, duration, fragmented: Boolean(first(bytes, "mvex", moov.body, moov.end)), pssh: readPsshs(bytes) };
}

/** A sample entry: its codec as RFC 6381 writes it, and its protection (ISO/IEC 23001-7, 8.2). */
function readEntry(bytes, view, entry, track) {
  const head = { video: 78, audio: 28 }[track.type] ?? 8;
  const found = { format: entry.type, codec: entry.type, scheme: null, kid: null, width: 0, height: 0, channels: 0, sampleRate: 0 };
  if (track.type === "video") [found.width, found.height] = [view.getUint16(entry.body + 24), view.getUint16(entry.body + 26)];
  if (track.type === "audio") [found.channels, found.sampleRate] = [view.getUint16(entry.body + 16), view.getUint16(entry.body + 24)];
  const children = [...boxes(bytes, Math.min(entry.body + head, entry.end), entry.end)].filter(({ whole }) => whole);
  const sinf = children.find(({ type }) => type === "sinf");
  if (sinf) {
    const within = type => first(bytes, type, sinf.body, sinf.end);
    const [frma, schm, tenc] = ["frma", "schm", "tenc"].map(within);
    if (frma) found.format = fourcc(bytes, frma.body);
    if (schm) found.scheme = fourcc(bytes, schm.body + 4);
    if (tenc) {
      found.kid = hex(bytes.subarray(tenc.body + 8, tenc.body + 24));
      found.protected = bytes[tenc.body + 6] === 1;
    }
  }
  found.codec = codecOf(bytes, found.format, children) ?? found.format;
  return found;
}

function codecOf(bytes, format, children) {
  const body = name => {
    const box = children.find(({ type }) => type === name);
    return box && bytes.subarray(box.body, box.end);
  };
  const two = number => String(number).padStart(2, "0");
  const avc = body("avcC"), hevc = body("hvcC"), av1 = body("av1C"), vp = body("vpcC"), esds = body("esds");
  if (avc) return `${format}.${hex(avc.subarray(1, 4)).toUpperCase()}`;
  if (hevc) {
    const flags = viewOf(hevc).getUint32(2);
    let reversed = 0;
    for (let bit = 0; bit < 32; bit += 1) if (flags & (1 << bit)) reversed |= 1 << (31 - bit);
    const constraints = Array.from(hevc.subarray(6, 12));
    while (constraints.length && constraints.at(-1) === 0) constraints.pop();
    const space = ["", "A", "B", "C"][hevc[1] >> 6], tier = hevc[1] & 32 ? "H" : "L";
    return [format, `${space}${hevc[1] & 31}`, (reversed >>> 0).toString(16).toUpperCase(), `${tier}${hevc[12]}`,
      ...constraints.map(byte => byte.toString(16).toUpperCase())].join(".");
  }
  if (av1) {
    const depth = av1[2] & 64 ? (av1[2] & 32 ? 12 : 10) : 8;
    return `${format}.${av1[1] >> 5}.${two(av1[1] & 31)}${av1[2] & 128 ? "H" : "M"}.${two(depth)}`;
  }
  if (vp) return `${format}.${two(vp[4])}.${two(vp[5])}.${two(vp[6] >> 4)}`;
  if (esds) {
    // The object type of the decoder configuration, and the audio object type of what follows it (ISO/IEC 14496-1, 7.2.6).
    for (let at = 4; at < esds.length - 2;) {
      const tag = esds[at++];
      let size = 0, byte;
      do [byte, size] = [esds[at++], (size << 7) | (esds[at - 1] & 127)]; while (byte & 128);
      if (tag === 3) at += 3;
      else if (tag === 4) {
        if (esds[at] !== 0x40) return `${format}.${esds[at].toString(16).toUpperCase()}`;
        at += 13;
      } else if (tag === 5) {
        const kind = esds[at] >> 3;
        return `${format}.40.${kind === 31 ? 32 + (((esds[at] & 7) << 3) | (esds[at + 1] >> 5)) : kind}`;
      } else at += size;
    }
  }
  return { Opus: "opus", fLaC: "flac" }[format] ?? null;
}

/** The fragments of a media segment: times, KIDs, and new `pssh` boxes. */
export function readFragments(buffer, init) {
  const bytes = bytesOf(buffer), view = viewOf(bytes), fragments = [];
  for (const moof of boxes(bytes)) {
    if (moof.type !== "moof" || !moof.whole) continue;
    const pssh = [...all(bytes, "pssh", moof.body, moof.end)].map(box => readPssh(bytes, box));
    const trafs = [];
    for (const traf of boxes(bytes, moof.body, moof.end)) {
      if (traf.type === "traf") trafs.push(readTraf(bytes, view, traf, init, moof.start));
    }
    fragments.push({ pssh, trafs });
  }
  return fragments;
}

function readTraf(bytes, view, traf, init, base) {
  const found = { track: 0, timescale: 1, time: 0, duration: 0, samples: [], kids: new Set(), clear: false };
  const groups = { kids: [], runs: null };
  let duration = 0, size = 0, entry = 0, track = null;
  for (const box of boxes(bytes, traf.body, traf.end)) {
    const at = box.body, flags = view.getUint32(at) & 0xffffff, version = bytes[at];
    if (box.type === "tfhd") {
      found.track = view.getUint32(at + 4);
      track = init?.tracks.find(({ id }) => id === found.track) ?? null;
      found.timescale = track?.timescale ?? 1;
      ({ duration, size } = track?.defaults ?? { duration: 0, size: 0 });
      let next = at + 8;
      const read = flag => (flags & flag ? view.getUint32((next += 4) - 4) : null);
      if (flags & 1) next += 8;
      entry = (read(2) ?? 1) - 1;
      duration = read(8) ?? duration;
      size = read(16) ?? size;
    } else if (box.type === "tfdt") {
      found.time = version === 1 ? Number(view.getBigUint64(at + 4)) : view.getUint32(at + 4);
    } else if (box.type === "trun") {
      let next = at + 8;
      const count = view.getUint32(at + 4);
      let place = base + (flags & 1 ? view.getInt32((next += 4) - 4) : 0);
      if (flags & 4) next += 4;
      for (let n = 0; n < count && next <= box.end; n += 1) {
        const read = (flag, usual) => (flags & flag ? view.getUint32((next += 4) - 4) : usual);
        const sample = { time: found.time + found.duration, duration: read(0x100, duration), size: read(0x200, size), place };
        if (flags & 0x400) next += 4;
        if (flags & 0x800) next += 4;
        found.duration += sample.duration;
        place += sample.size;
        found.samples.push(sample);
      }
    } else if (box.type === "sgpd" && fourcc(bytes, at + 4) === "seig") {
      groups.kids = readSeig(bytes, view, box, version);
    } else if (box.type === "sbgp" && fourcc(bytes, at + 4) === "seig") {
      let next = at + 8 + (version === 1 ? 4 : 0);
      const count = view.getUint32(next);
      groups.runs = [];
      for (let n = 0; n < count && next + 12 <= box.end; n += 1) groups.runs.push([view.getUint32(next + 4), view.getUint32((next += 8))]);
    }
  }
  // The KIDs of the samples: of their group (ISO/IEC 23001-7, 6), else of the sample entry.
  const usual = track?.entries[entry];
  const note = kid => (kid ? found.kids.add(kid) : (found.clear = true));
  let grouped = 0;
  for (const [count, index] of groups.runs ?? []) {
    grouped += count;
    if (index > 0x10000) note(groups.kids[index - 0x10001]);
    else note(usual?.protected ? usual.kid : null);
  }
  if (grouped < found.samples.length) note(usual?.protected ? usual.kid : null);
  return found;
}

/** The KID of each description; null for samples that are clear. */
function readSeig(bytes, view, box, version) {
  const kids = [];
  let at = box.body + 8, length = 0;
  if (version === 1) length = view.getUint32((at += 4) - 4);
  if (version >= 2) at += 4;
  const count = view.getUint32(at);
  at += 4;
  for (let n = 0; n < count && at + 20 <= box.end; n += 1) {
    const size = version === 1 && length === 0 ? view.getUint32((at += 4) - 4) : length;
    const secret = bytes[at + 2] === 1;
    kids.push(secret ? hex(bytes.subarray(at + 4, at + 20)) : null);
    at += size || 20 + (secret && bytes[at + 3] === 0 ? 1 + bytes[at + 20] : 0);
  }
  return kids;
}

/** The references of an index (`sidx`): times in seconds, places in bytes of the file. */
export function readSidx(buffer, offset = 0) {
  const bytes = bytesOf(buffer), view = viewOf(bytes);
  const sidx = first(bytes, "sidx");
  if (!sidx) return null;
  const at = sidx.body, long = bytes[at] === 1;
  const timescale = view.getUint32(at + 8);
  const number = place => (long ? Number(view.getBigUint64(place)) : view.getUint32(place));
  let time = number(at + 12), place = offset + sidx.end + number(at + (long ? 20 : 16)), next = at + (long ? 28 : 20);
  const count = view.getUint16(next + 2), references = [];
  next += 4;
  for (let n = 0; n < count && next + 12 <= sidx.end; n += 1, next += 12) {
    const word = view.getUint32(next), size = word & 0x7fffffff, duration = view.getUint32(next + 4);
    references.push({ indexes: word > 0x7fffffff, start: time / timescale, end: (time + duration) / timescale, first: place, last: place + size - 1 });
    time += duration;
    place += size;
  }
  return references;
}

/** The cues of a segment of WebVTT in MP4 (ISO/IEC 14496-30, 7): those of neighbouring samples that are the same are one. */
export function readWvtt(buffer, init) {
  const bytes = bytesOf(buffer), cues = [];
  for (const { trafs } of readFragments(bytes, init)) {
    for (const { timescale, samples } of trafs) {
      for (const { time, duration, place, size } of samples) {
        for (const box of boxes(bytes, place, place + size)) {
          if (box.type !== "vttc") continue;
          const parts = Object.fromEntries([...boxes(bytes, box.body, box.end)].map(part => [part.type, utf8(bytes.subarray(part.body, part.end))]));
          cues.push({ start: time / timescale, end: (time + duration) / timescale, text: parts.payl ?? "", id: parts.iden ?? "", settings: parts.sttg ?? "" });
        }
      }
    }
  }
  return cues;
}

/** The documents of a segment of TTML in MP4, each with its time. */
export function readStpp(buffer, init) {
  const bytes = bytesOf(buffer);
  return readFragments(bytes, init).flatMap(({ trafs }) => trafs.flatMap(({ timescale, samples }) =>
    samples.map(({ time, duration, place, size }) =>
      ({ start: time / timescale, end: (time + duration) / timescale, text: utf8(bytes.subarray(place, place + size)) }))));
}

