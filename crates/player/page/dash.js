// DASH manifests (ISO/IEC 23009-1), in the forms that packagers write for static streams.
import { kidOf, unbase64 } from "./bytes.js";
import { readPsshs, readSidx } from "./boxes.js";
import { Fault, isAudio, isText, makeSegment, makeTrack } from "./model.js";
import { fetchPlace } from "./net.js";

const CLEAR_KEY = "urn:uuid:e2719d58-a985-b3c9-781a-b030af78d30e";
const PROTECTION = "urn:mpeg:dash:mp4protection:2011";
const TRICK = "http://dashif.org/guidelines/trickmode";

const children = (element, name) => [...element.children].filter(child => child.localName === name);
const child = (element, name) => children(element, name)[0];
const number = (element, name, usual) => (element?.hasAttribute(name) ? Number(element.getAttribute(name)) : usual);

/** Seconds of an `xs:duration`. */
export function seconds(text) {
  const parts = /^PT?(?:(\d+)D)?T?(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?$/.exec(text ?? "");
  return parts ? [86400, 3600, 60, 1].reduce((sum, unit, at) => sum + unit * Number(parts[at + 1] ?? 0), 0) : 0;
}

const range = text => text?.split("-").map(Number) ?? null;

export function parseDash(text, url) {
  const xml = new DOMParser().parseFromString(text, "application/xml");
  const broken = xml.querySelector("parsererror");
  if (broken) {
    const [, line, column, what] = /line (\d+) at column (\d+): ([^\n]*)/.exec(broken.textContent) ?? [];
    throw new Fault("The manifest is not XML", line ? `Line ${line}, column ${column}: ${what.replace(/Below is a rendering.*/, "")}.` : broken.textContent.trim().slice(0, 200), "It may be cut off, or edited by hand.");
  }
  const mpd = xml.documentElement;
  if (mpd.localName !== "MPD") throw new Fault("This is not a DASH manifest", `Its root is <${mpd.localName}> and not <MPD>.`);
  const notes = [];
  if (mpd.getAttribute("type") === "dynamic") notes.push(new Fault("This is a live stream", "The page plays what the manifest has now, and does not ask for it again."));
  const periods = children(mpd, "Period");
  if (!periods.length) throw new Fault("The manifest has no Period", "There is nothing to play in it.");
  if (periods.length > 1) notes.push(new Fault(`The manifest has ${periods.length} periods`, "The page plays the first one alone."));
  const [period] = periods;
  const start = seconds(period.getAttribute("start"));
  const length = seconds(period.getAttribute("duration")) || seconds(mpd.getAttribute("mediaPresentationDuration")) - start;
  const base = [mpd, period].reduce(resolve, url);
  const sets = children(period, "AdaptationSet").map((element, at) => adaptationSet(element, at, { period, base, start, length }));
  const duration = length > 0 ? start + length : Math.max(0, ...sets.flatMap(set => set.tracks.map(track => track.segments.at(-1)?.end ?? 0)));
  return { kind: "DASH", url, duration, notes, sets: sets.filter(set => set.tracks.length && !set.trick) };
}

const resolve = (base, element) => {
  const text = child(element, "BaseURL")?.textContent.trim();
  return text ? new URL(text, base).href : base;
};

function adaptationSet(element, at, { period, base, start, length }) {
  const attribute = (representation, name) => representation.getAttribute(name) ?? element.getAttribute(name) ?? "";
  const representations = children(element, "Representation");
  const [one] = representations;
  const mime = one ? attribute(one, "mimeType") : "", codecs = one ? attribute(one, "codecs") : "";
  const said = element.getAttribute("contentType") || mime.split("/")[0];
  const type = isText(codecs) || /vtt|ttml/.test(mime) || said === "text" ? "text" : said === "audio" || isAudio(codecs) ? "audio" : "video";
  const set = {
    id: element.getAttribute("id") ?? `set ${at + 1}`, type, tracks: [],
    language: element.getAttribute("lang") ?? "", label: child(element, "Label")?.textContent.trim() ?? "",
    role: [...children(element, "Role"), ...children(element, "Accessibility")].map(role => role.getAttribute("value")).filter(role => role && role !== "main" && role !== "subtitle").join(", "),
    priority: number(element, "selectionPriority", 1),
    trick: children(element, "EssentialProperty").concat(children(element, "SupplementalProperty")).some(property => property.getAttribute("schemeIdUri") === TRICK),
  };
  for (const representation of representations) {
    const id = representation.getAttribute("id") ?? `${set.id}/${set.tracks.length + 1}`;
    const rate = attribute(representation, "frameRate").split("/").map(Number);
    const levels = [representation, element, period];
    const channels = [representation, element].map(level => child(level, "AudioChannelConfiguration")).find(Boolean);
    const track = makeTrack(set, id, {
      mime: attribute(representation, "mimeType"), codecs: attribute(representation, "codecs"),
      bandwidth: number(representation, "bandwidth", 0), width: Number(attribute(representation, "width")), height: Number(attribute(representation, "height")),
      frameRate: rate[0] ? rate[0] / (rate[1] ?? 1) : 0, sampleRate: Number(attribute(representation, "audioSamplingRate").split(" ")[0]),
      channels: /ChannelConfiguration/i.test(channels?.getAttribute("schemeIdUri") ?? "") ? number(channels, "value", 0) : 0,
      ...protection([representation, element]),
    });
    addressing(track, levels, resolve(resolve(base, element), representation), start, length);
  }
  return set;
}

/** Scheme, KIDs and licence server of the ContentProtection elements. */
function protection(levels) {
  const elements = levels.flatMap(level => children(level, "ContentProtection"));
  const kids = new Set();
  let scheme = null, licenceUrl = null;
  for (const element of elements) {
    const id = (element.getAttribute("schemeIdUri") ?? "").toLowerCase();
    for (const text of (element.getAttributeNS("urn:mpeg:cenc:2013", "default_KID") ?? "").split(/\s+/)) {
      const kid = kidOf(text);
      if (kid) kids.add(kid);
    }
    if (id === PROTECTION) scheme = (element.getAttribute("value") ?? "").toLowerCase() || scheme;
    if (id === CLEAR_KEY) licenceUrl = [...element.children].find(child => /^laurl$/i.test(child.localName))?.textContent.trim() || licenceUrl;
    for (const child of element.children) {
      const box = child.localName === "pssh" ? unbase64(child.textContent) : null;
      if (box) for (const pssh of readPsshs(box)) for (const kid of pssh.kids) kids.add(kid);
    }
  }
  return { scheme: elements.length ? scheme ?? "?" : null, kids: [...kids], licenceUrl };
}

/** Segments, by the element that the innermost level has; attributes of outer ones count, too (5.3.9.1). */
function addressing(track, levels, base, start, length) {
  const found = name => levels.map(level => child(level, name)).filter(Boolean);
  const template = found("SegmentTemplate"), single = found("SegmentBase");
  const list = found("SegmentList");
  const rest = { scheme: track.scheme, kids: track.kids };
  const place = (url, bytes = null) => ({ url, range: bytes });
  if (template.length) {
    const value = (name, usual = null) => template.map(one => one.getAttribute(name)).find(one => one !== null) ?? usual;
    const timescale = Number(value("timescale", 1)), offset = Number(value("presentationTimeOffset", 0));
    track.offset = start - offset / timescale;
    const expand = (text, name = {}) => new URL(text.replace(/\$(\w*)(?:%0(\d+)d)?\$/g, (_, word, width) =>
      word === "" ? "$" : String({ RepresentationID: track.id, Bandwidth: track.bandwidth, ...name }[word] ?? "").padStart(Number(width ?? 0), "0")), base).href;
    const media = value("media"), initialization = value("initialization");
    if (!media) throw new Fault(`Representation ${track.id} has a SegmentTemplate without media`);
    const init = initialization ? place(expand(initialization)) : null;
    let count = Number(value("startNumber", 1));
    const add = (time, duration) => {
      const from = time / timescale + track.offset;
      track.segments.push(makeSegment(count, from, from + duration / timescale, place(expand(media, { Number: count, Time: time })), init, { ...rest }));
      count += 1;
    };
    const timeline = template.map(one => child(one, "SegmentTimeline")).find(Boolean);
    if (timeline) {
      let time = 0;
      const all = children(timeline, "S");
      all.forEach((one, at) => {
        time = number(one, "t", time);
        const duration = number(one, "d", 0), repeat = number(one, "r", 0);
        const until = number(all[at + 1], "t", offset + length * timescale);
        const times = repeat < 0 ? Math.ceil((until - time) / duration) : repeat + 1;
        for (let n = 0; n < times; n += 1, time += duration) add(time, duration);
      });
    } else {
      const duration = Number(value("duration", 0));
      if (!duration) throw new Fault(`Representation ${track.id} has neither SegmentTimeline nor @duration`, "So the times of its segments are not known.");
      for (let n = 0; n * duration < length * timescale - 1; n += 1) add(offset + n * duration, Math.min(duration, length * timescale - n * duration));
    }
  } else if (single.length && single.some(one => one.hasAttribute("indexRange"))) {
    const value = name => single.map(one => one.getAttribute(name)).find(one => one !== null);
    const timescale = Number(value("timescale") ?? 1);
    track.offset = start - Number(value("presentationTimeOffset") ?? 0) / timescale;
    const index = range(value("indexRange"));
    const initialization = single.map(one => child(one, "Initialization")).find(Boolean);
    const init = place(base, range(initialization?.getAttribute("range")) ?? [0, index[0] - 1]);
    track.load = once(async () => {
      const { bytes } = await fetchPlace(place(base, index), `The index of ${track.id}`);
      const references = readSidx(bytes, index[0]);
      if (!references) throw new Fault(`There is no index (sidx) of ${track.id}`, `${base}: bytes ${index.join("-")}`, "The manifest was made for another file.");
      track.segments = references.map((one, at) =>
        makeSegment(at + 1, one.start + track.offset, one.end + track.offset, place(base, [one.first, one.last]), init, { ...rest }));
    });
  } else if (list.length) {
    const value = name => list.map(one => one.getAttribute(name)).find(one => one !== null);
    const step = Number(value("duration") ?? 0) / Number(value("timescale") ?? 1) || length;
    const initialization = list.map(one => child(one, "Initialization")).find(Boolean);
    const source = initialization?.getAttribute("sourceURL");
    const init = initialization ? place(source ? new URL(source, base).href : base, range(initialization.getAttribute("range"))) : null;
    children(list[0], "SegmentURL").forEach((one, at) => {
      const media = one.getAttribute("media");
      track.segments.push(makeSegment(at + 1, start + at * step, start + (at + 1) * step, place(media ? new URL(media, base).href : base, range(one.getAttribute("mediaRange"))), init, { ...rest }));
    });
  } else {
    track.segments = [makeSegment(1, start, start + length, place(base), null, { ...rest })];
  }
}

export function once(work) {
  let done = null;
  return () => (done ??= work().catch(error => { done = null; throw error; }));
}
