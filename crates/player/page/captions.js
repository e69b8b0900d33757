// Captions: WebVTT, whole or in segments, and in MP4; TTML as text alone.
import { readStpp, readWvtt } from "./boxes.js";
import { utf8 } from "./bytes.js";

const seconds = text => text.split(":").reduce((sum, part) => sum * 60 + Number(part), 0);

/** The cues of a WebVTT file (W3C WebVTT, 4). Times of HLS segments are those of the map that they begin with. */
export function readVtt(text) {
  const cues = [];
  let shift = 0;
  for (const block of text.replace(/\r\n?/g, "\n").split(/\n{2,}/)) {
    const [, mpegts] = /MPEGTS:(\d+)/.exec(block) ?? [], [, local] = /LOCAL:([\d:.]+)/.exec(block) ?? [];
    if (mpegts && local) shift = Number(mpegts) / 90000 - seconds(local);
    const rows = block.split("\n");
    const at = rows.findIndex(row => row.includes("-->"));
    if (at < 0) continue;
    const [, start, end, settings] = /^\s*([\d:.]+)\s+-->\s+([\d:.]+)\s*(.*)$/.exec(rows[at]) ?? [];
    if (start) cues.push({ start: seconds(start) + shift, end: seconds(end) + shift, text: rows.slice(at + 1).join("\n").trimEnd(), id: at > 0 ? rows[at - 1] : "", settings });
  }
  return cues;
}

/** The paragraphs of a TTML document, as plain text. */
function readTtml(text) {
  const xml = new DOMParser().parseFromString(text, "application/xml");
  const time = value => {
    const [, count, unit] = /^([\d.]+)(h|ms|m|s)$/.exec(value) ?? [];
    return unit ? Number(count) * { h: 3600, m: 60, s: 1, ms: 0.001 }[unit] : seconds(value);
  };
  const words = node => [...node.childNodes].map(child => (child.localName === "br" ? "\n" : child.nodeType === 3 ? child.data : words(child))).join("");
  return [...xml.getElementsByTagNameNS("*", "p")].filter(one => one.hasAttribute("begin") && one.hasAttribute("end"))
    .map(one => ({ start: time(one.getAttribute("begin")), end: time(one.getAttribute("end")), text: words(one).trim(), id: "", settings: "" }));
}

/** The cues of a segment, with times of the presentation. */
export function readCues(bytes, track, init) {
  if (/wvtt/.test(track.codecs)) return move(readWvtt(bytes, init), track.offset);
  if (/stpp/.test(track.codecs)) {
    // A document is shown while its sample lasts.
    return move(readStpp(bytes, init).flatMap(({ start, end, text }) =>
      readTtml(text).map(cue => ({ ...cue, start: Math.max(start, cue.start), end: Math.min(end, cue.end) })).filter(cue => cue.end > cue.start)), track.offset);
  }
  const text = utf8(bytes);
  return /ttml/.test(track.mime) ? readTtml(text) : readVtt(text);
}

const move = (cues, by) => cues.map(cue => ({ ...cue, start: cue.start + by, end: cue.end + by }));

/** One text track of the element, which is filled segment by segment. */
export class Captions {
  constructor(video) {
    this.video = video;
    this.shown = null;
    this.tracks = new Map();
  }

  choose(track) {
    for (const one of this.tracks.values()) one.mode = "disabled";
    this.shown = null;
    if (!track) return;
    if (!this.tracks.has(track)) this.tracks.set(track, this.video.addTextTrack("subtitles", track.set.label || track.set.language || track.id, track.set.language));
    this.shown = this.tracks.get(track);
    this.shown.mode = "showing";
  }

  add(cues) {
    const known = new Set(Array.from(this.shown.cues ?? [], cue => `${cue.startTime} ${cue.text}`));
    for (const { start, end, text, id, settings } of cues) {
      // A cue that lasts beyond a segment is in the next one, too.
      if (known.has(`${start} ${text}`)) continue;
      const neighbour = Array.from(this.shown.cues ?? []).find(cue => cue.text === text && cue.id === id && Math.abs(cue.endTime - start) < 0.002);
      if (neighbour) {
        neighbour.endTime = end;
        continue;
      }
      const cue = new VTTCue(start, end, text);
      cue.id = id;
      for (const [, name, value] of (settings ?? "").matchAll(/(line|position|size|align|vertical):(\S+)/g)) {
        try {
          if (name === "align" || name === "vertical") cue[name] = value;
          else if (name === "line" && !value.includes("%")) [cue.snapToLines, cue.line] = [true, Number.parseFloat(value)];
          else {
            if (name === "line") cue.snapToLines = false;
            cue[name] = Number.parseFloat(value);
          }
        } catch { /* a setting that the browser does not take */ }
      }
      this.shown.addCue(cue);
    }
  }
}
