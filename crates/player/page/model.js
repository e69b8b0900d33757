// What the manifests of DASH and HLS, and files, become: one form for all of them.
//
//   Presentation  { kind, url, duration, sets, notes }
//   Set           { id, type: "video" | "audio" | "text" | "muxed", language, label, role, tracks }
//                 tracks between which the player may switch
//   Track         { id, set, mime, codecs, bandwidth, width, height, frameRate, channels, sampleRate,
//                   scheme, kids, licenceUrl, offset, segments, load }
//                 `load` completes what the manifest does not say (an index, a playlist); `offset` in seconds
//                 goes from the times of the media to those of the presentation
//   Segment       { number, start, end, place, init, scheme, kids, clear, state, bytes, tries }
//                 `kids` are those that are known: of the manifest, and of the media when they came
//   Place         { url, range: [first, last] | null }

/** What is wrong with a manifest or a file, in words. */
export class Fault extends Error {
  constructor(title, text = "", hint = "") {
    super(title);
    Object.assign(this, { title, text, hint });
  }
}

export const STATES = ["idle", "fetching", "fetched", "appended", "failed"];

export function makeSegment(number, start, end, place, init, rest = {}) {
  return { number, start, end, place, init, scheme: null, kids: [], clear: false, state: "idle", bytes: 0, tries: 0, ...rest };
}

export function makeTrack(set, id, rest) {
  const track = {
    id, set, mime: "video/mp4", codecs: "", bandwidth: 0, width: 0, height: 0, frameRate: 0, channels: 0, sampleRate: 0,
    scheme: null, kids: [], licenceUrl: null, offset: 0, segments: [], load: async () => {}, ...rest,
  };
  set.tracks.push(track);
  return track;
}

/** The type as `MediaSource.isTypeSupported` takes it. */
export const contentType = track => (track.codecs ? `${track.mime}; codecs="${track.codecs}"` : track.mime);

const CODECS = [
  [/^avc[13]/, "H.264 (AVC)"], [/^(hvc1|hev1)/, "H.265 (HEVC)"], [/^(dvh1|dvhe)/, "Dolby Vision"], [/^(vvc1|vvi1)/, "H.266 (VVC)"],
  [/^av01/, "AV1"], [/^vp0?9/, "VP9"], [/^vp0?8/, "VP8"], [/^mp4a\.40/, "AAC"], [/^mp4a/, "MPEG audio"], [/^opus/i, "Opus"],
  [/^flac/i, "FLAC"], [/^ac-3/, "AC-3"], [/^ec-3/, "E-AC-3"], [/^ac-4/, "AC-4"], [/^dts|^dtsx/, "DTS"],
  [/^(mhm|mha)/, "MPEG-H"], [/^wvtt/, "WebVTT"], [/^stpp/, "TTML"],
];

/** The name by which people know a codec. */
export function codecName(codecs) {
  const names = codecs.split(",").map(codec => CODECS.find(([form]) => form.test(codec.trim()))?.[1] ?? codec.trim());
  return names.join(" and ");
}

export const isText = codec => /^(wvtt|stpp)/.test(codec);
export const isAudio = codec => /^(mp4a|opus|flac|ac-[34]|ec-3|dts|mh[ma])/i.test(codec);
