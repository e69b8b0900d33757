// Playing: which tracks, which segment next, and what the element says of it.
import { kidText } from "./bytes.js";
import { readFragments, readInit } from "./boxes.js";
import { Captions, readCues } from "./captions.js";
import { codecName, contentType, Fault } from "./model.js";
import { fetchPlace } from "./net.js";

const AHEAD = 30; // seconds of media that are fetched in advance
const BEHIND = 20; // seconds that stay in the buffer behind the place of play
const TRIES = 2; // of a segment, at least half a second apart
const SAFETY = 0.7; // of the throughput that automatic choice spends
const SLACK = 0.1; // seconds that times of manifest and media may differ

const wait = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds));
const once = (target, name) => new Promise(resolve => target.addEventListener(name, resolve, { once: true }));
const holds = (ranges, time) => Array.from({ length: ranges.length }).some((_, at) => time >= ranges.start(at) && time <= ranges.end(at));

export class Stream extends EventTarget {
  /** A row for each kind of media that plays: { type, set, track, buffer, inits, current }. */
  rows = [];
  throughput = 8e6; // bits per second, until it is measured
  automatic = true;
  ahead = AHEAD;
  closed = false;

  constructor(video, presentation, licences, problems) {
    super();
    Object.assign(this, { video, presentation, licences, problems, captions: new Captions(video) });
    this.refusals = new Map();
  }

  change() {
    this.dispatchEvent(new Event("change"));
  }

  sets(type) {
    return this.presentation.sets.filter(set => set.type === type);
  }

  async start() {
    const { presentation, video, problems } = this;
    presentation.notes.forEach((note, at) => problems.fault("warning", `manifest ${at}`, note));
    if (!window.MediaSource) throw new Fault("This browser has no Media Source Extensions", "They are what plays a stream by pieces.", "Try Chrome, Edge or Firefox on a computer.");
    await this.judge();
    const chosen = [];
    for (const type of ["muxed", "video", "audio"]) {
      const sets = this.sets(type);
      if (!sets.length) continue;
      // The first that plays: its scheme, its codec, and keys for it if there are any.
      const tracks = sets.flatMap(set => set.tracks).filter(track => !this.refusals.get(track));
      const rank = track => (track.kids.length && !track.kids.every(kid => this.have.has(kid)) ? 0 : 10) + track.set.priority;
      const best = tracks.reduce((one, other) => (!one || rank(other) > rank(one) ? other : one), null);
      if (best) chosen.push({ type, set: best.set });
    }
    if (!chosen.length) throw new Fault("Nothing of this stream plays in this browser", "Each track has its reason in the list of tracks.");
    const plays = chosen.flatMap(({ set }) => set.tracks.filter(track => !this.refusals.get(track)));
    const secret = plays.filter(track => track.scheme);
    if (secret.length) {
      await this.licences.prepare(plays);
      this.licences.need([...new Set(secret.flatMap(({ kids }) => kids))], "the manifest");
    }
    this.source = new MediaSource();
    const url = URL.createObjectURL(this.source);
    const opened = once(this.source, "sourceopen");
    video.src = url;
    await opened;
    URL.revokeObjectURL(url);
    this.listen();
    const rows = [];
    for (const { type, set } of chosen) {
      const track = this.best(set);
      await this.load(track);
      const buffer = this.source.addSourceBuffer(contentType(track));
      buffer.addEventListener("error", () => this.problems.add("error", `append ${type}`, "The browser does not take the media",
        `A segment of ${this.row(type)?.track.id} is not what its initialization segment says, or damaged.`));
      rows.push({ type, set, track, buffer, inits: new Map(), current: null, codec: contentType(track) });
    }
    if (presentation.duration > 0) this.source.duration = presentation.duration;
    const text = this.sets("text")[0];
    rows.push({ type: "text", set: text ?? null, track: null, buffer: null, inits: new Map(), current: null });
    this.rows = rows;
    this.change();
    for (const row of this.rows) this.pump(row);
    this.watch();
    await this.begin();
  }

  stop() {
    this.closed = true;
    for (const row of this.rows) row.abort?.abort();
    this.video.removeAttribute("src");
    this.video.load();
  }

  /** Which tracks the browser refuses, and why. */
  async judge() {
    const reasons = new Map();
    for (const set of this.presentation.sets) {
      if (set.type === "text") continue;
      for (const track of set.tracks) {
        let why = null;
        if (!track.codecs) await this.describe(track);
        if (track.codecs && !MediaSource.isTypeSupported(contentType(track))) why = `this browser does not decode ${codecName(track.codecs)} (${track.codecs})`;
        else why = await this.licences.refuses(track);
        this.refusals.set(track, why);
        if (why) reasons.set(why, [...(reasons.get(why) ?? []), track.id]);
      }
    }
    const none = ![...this.refusals.values()].some(why => !why);
    for (const [why, ids] of reasons) {
      this.problems.add(none ? "error" : "warning", `refused ${why}`, `${why[0].toUpperCase()}${why.slice(1)}`, `Left out: ${ids.join(", ")}.`,
        /secure context/.test(why) ? "Open the address that lanelock play printed, with 127.0.0.1 in it." : /HEVC/.test(why) ? "Chromium as many systems build it has no HEVC; Chrome, Edge and Safari use that of the system. `lanelock inspect --key-file` looks at the file itself." : "");
    }
  }

  /** Of a playlist that does not say its codecs: they are in the initialization segment. */
  async describe(track) {
    await this.load(track);
    const init = track.segments[0]?.init;
    if (!init) return;
    const { bytes } = await fetchPlace(init, `The initialization segment of ${track.id}`);
    const found = readInit(bytes);
    const entries = found?.tracks.filter(({ type }) => type === "video" || type === "audio").map(one => ({ ...one.entries[0], type: one.type })) ?? [];
    track.codecs = entries.map(({ codec }) => codec).join(",");
    if (entries.length === 1) track.set.type = entries[0].type;
    if (track.set.type === "audio") track.mime = "audio/mp4";
    for (const { kid, width, height } of entries) {
      if (kid && !track.kids.includes(kid)) track.kids.push(kid);
      if (width) [track.width, track.height] = [width, height];
    }
  }

  async load(track) {
    await track.load();
    if (!track.segments.length) throw new Fault(`${track.id} has no segments`, "The manifest lists none.");
  }

  /** The track of a set for the throughput that was measured. */
  best(set) {
    const tracks = set.tracks.filter(track => !this.refusals.get(track)).sort((one, other) => one.bandwidth - other.bandwidth);
    const fits = tracks.filter(track => track.bandwidth <= this.throughput * SAFETY);
    return fits.at(-1) ?? tracks[0];
  }

  row(type) {
    return this.rows.find(row => row.type === type);
  }

  /** Chooses a track by hand; for video, null chooses by throughput again. */
  async choose(type, track) {
    const row = this.row(type);
    if (!row) return;
    if (type === "video" || type === "muxed") {
      this.automatic = !track;
      if (!track) {
        this.change();
        return;
      }
    }
    row.now = Boolean(track) && track !== row.track;
    await this.switchTo(row, track);
  }

  async switchTo(row, track) {
    if (row.track === track) {
      this.change();
      return;
    }
    if (track) {
      await this.load(track).catch(error => {
        this.problems.fault("error", `track ${track.id}`, error);
        throw error;
      });
      // What was appended of it before may have been replaced since.
      for (const segment of track.segments) if (segment.state !== "fetching") Object.assign(segment, { state: segment.state === "failed" ? "failed" : "idle", tries: 0 });
      if (track.scheme && !this.licences.keys) await this.licences.prepare(this.presentation.sets.flatMap(set => set.tracks).filter(one => !this.refusals.get(one)));
      if (track.scheme) this.licences.need(track.kids, "the manifest");
    }
    row.abort?.abort();
    row.track = track;
    if (track) row.set = track.set;
    if (row.type === "text") this.captions.choose(track);
    this.change();
    this.wake(row);
  }

  /** One segment after the other, as long as the stream is open. */
  async pump(row) {
    while (!this.closed) {
      const segment = this.next(row);
      if (!segment) {
        this.end();
        await this.sleep(row);
        continue;
      }
      try {
        await this.take(row, row.track, segment);
      } catch (error) {
        if (this.closed) return;
        if (error.name === "AbortError") {
          if (segment.state === "fetching") segment.state = "idle";
          continue;
        }
        await this.failed(row, segment, error);
      }
      this.change();
    }
  }

  sleep(row) {
    return new Promise(resolve => {
      row.wake = resolve;
      row.timer = setTimeout(resolve, 250);
    });
  }

  wake(row) {
    clearTimeout(row.timer);
    row.wake?.();
  }

  /** The next segment that is not in the buffer, within reach of the place of play. */
  next(row) {
    const { track } = row, now = this.video.currentTime;
    if (!track || this.video.error) return null;
    for (const segment of track.segments) {
      if (segment.end <= now + (segment.end < this.presentation.duration ? 0.01 : -SLACK)) continue;
      if (segment.start > now + this.ahead) return null;
      if (segment.state === "failed" || segment.state === "fetching") continue;
      if (segment.state === "appended" && this.has(row, segment)) continue;
      return segment;
    }
    return null;
  }

  has(row, segment) {
    if (row.type === "text") return true;
    // The last one may end before the manifest says, an edit list may begin the first one later.
    const from = Math.max(segment.start, this.video.currentTime), to = segment.end;
    return holds(row.buffer.buffered, from + (to - from) / 2) || holds(row.buffer.buffered, segment.start + (segment.end - segment.start) / 2);
  }

  async take(row, track, segment) {
    if (segment.state === "appended" && (segment.tries += 1) > TRIES) {
      throw new Fault(`Segment ${segment.number} of ${track.id} is not where the manifest says`,
        `The manifest says ${segment.start.toFixed(2)} to ${segment.end.toFixed(2)} s; appended, nothing is in the buffer there${segment.mediaStart === undefined ? "" : `: its own times begin at ${segment.mediaStart.toFixed(2)} s`}.`);
    }
    row.abort = new AbortController();
    row.current = segment;
    segment.state = "fetching";
    this.change();
    const { signal } = row.abort;
    const init = segment.init ? await this.init(row, track, segment.init, signal) : null;
    const { bytes, seconds } = await fetchPlace(segment.place, `Segment ${segment.number} of ${track.id}`, signal);
    segment.bytes = bytes.length;
    segment.state = "fetched";
    if (bytes.length > 20000) this.throughput += (bytes.length * 8 / Math.max(seconds, 0.001) - this.throughput) * 0.4;
    this.understand(track, segment, bytes, init);
    if (row.type === "text") {
      if (row.track !== track) return;
      this.captions.add(readCues(bytes, track, init?.facts));
      segment.state = "appended";
      return;
    }
    if (row.track !== track) {
      // Another one was chosen meanwhile.
      segment.state = "idle";
      return;
    }
    const type = contentType(track);
    if (type !== row.codec) {
      await this.idle(row);
      row.buffer.changeType(type);
      [row.codec, row.appended] = [type, null];
    }
    if (init && row.appended !== init) {
      await this.idle(row);
      row.buffer.timestampOffset = track.offset;
      await this.append(row, init.bytes);
      row.appended = init;
    }
    await this.append(row, bytes);
    segment.state = "appended";
    const { currentTime } = this.video;
    if (row.now && row.track === track && currentTime >= segment.start && currentTime < segment.end) {
      // What was chosen by hand is wanted now, and not when the decoder comes to the next sync sample.
      row.now = false;
      if (currentTime > 0) this.video.currentTime = currentTime;
    }
    this.evict(row, BEHIND);
    if (this.automatic && (row.type === "video" || row.type === "muxed")) {
      const best = this.best(row.set);
      if (best !== row.track) {
        await this.load(best);
        [row.track] = [best];
      }
    }
  }

  /** An initialization segment, fetched once. */
  async init(row, track, place, signal) {
    const key = `${place.url} ${place.range}`;
    if (!row.inits.has(key)) {
      const { bytes } = await fetchPlace(place, `The initialization segment of ${track.id}`, signal);
      const facts = readInit(bytes);
      if (!facts) throw new Fault(`The initialization segment of ${track.id} has no moov`, place.url);
      row.inits.set(key, { bytes, facts });
      const kids = facts.tracks.flatMap(one => one.entries.filter(entry => entry.protected).map(({ kid }) => kid));
      const told = track.kids;
      track.kids = [...new Set([...told, ...kids])];
      const entry = facts.tracks[0]?.entries.find(({ scheme }) => scheme);
      if (entry && track.scheme && track.scheme !== "?" && entry.scheme !== track.scheme) {
        this.problems.add("warning", `scheme ${track.id}`, `Manifest and media of ${track.id} say different schemes`, `The manifest says ${track.scheme}, the initialization segment ${entry.scheme}.`);
      }
      if (told.length && kids.length && !kids.some(kid => told.includes(kid))) {
        this.problems.add("warning", `kid ${track.id}`, `Manifest and media of ${track.id} say different KIDs`, `The manifest says ${told.map(kidText).join(", ")}, the initialization segment ${kids.map(kidText).join(", ")}.`, "The manifest belongs to another version of the files.");
      }
      if (entry && !this.licences.keys) {
        // Encrypted, and the manifest did not say so.
        track.scheme ??= entry.scheme;
        this.problems.add("warning", `unsaid ${track.id}`, `${track.id} is encrypted, and the manifest does not say so`, `The initialization segment says ${entry.scheme}.`);
        await this.licences.prepare(this.rows.flatMap(one => one.track ?? []));
      }
      this.licences.initData(facts.pssh, null, `the initialization segment of ${track.id}`);
      this.licences.need(kids, `the initialization segment of ${track.id} (tenc)`);
    }
    return row.inits.get(key);
  }

  /** What fragments say: KIDs of groups of samples, new `pssh` boxes, and their times. */
  understand(track, segment, bytes, init) {
    if (!init) return;
    let fragments;
    try {
      fragments = readFragments(bytes, init.facts);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new Fault(`Segment ${segment.number} of ${track.id} is damaged`, "The counts in its boxes lead beyond its end.");
    }
    if (!fragments.length) throw new Fault(`Segment ${segment.number} of ${track.id} has no moof`, segment.place.url, "It is not a media segment, or an error page in its place.");
    const trafs = fragments.flatMap(({ trafs }) => trafs);
    const kids = new Set(trafs.flatMap(traf => [...traf.kids]));
    segment.kids = [...kids];
    segment.clear = trafs.some(traf => traf.clear);
    segment.read = true;
    const starts = trafs.map(({ time, timescale }) => time / timescale);
    segment.mediaStart = Math.min(...starts) + track.offset;
    const pssh = fragments.flatMap(one => one.pssh);
    if (pssh.length) this.licences.initData(pssh, null, `segment ${segment.number} of ${track.id} (moof)`);
    this.licences.need(segment.kids, `segment ${segment.number} of ${track.id} (seig)`);
    for (const kid of kids) if (!track.kids.includes(kid)) track.kids = [...track.kids, kid];
  }

  async idle(row) {
    while (row.buffer.updating) await once(row.buffer, "updateend");
  }

  async append(row, bytes) {
    for (;;) {
      await this.idle(row);
      try {
        row.buffer.appendBuffer(bytes);
        await once(row.buffer, "updateend");
        return;
      } catch (error) {
        if (error.name !== "QuotaExceededError") throw error;
        // The buffer is full: less behind, then less ahead, until it fits.
        this.ahead = Math.max(4, this.ahead / 2);
        if (!this.evict(row, 2)) await wait(1000);
        if (this.closed) return;
      }
    }
  }

  /** Removes what lies so many seconds behind, if that is something. */
  evict(row, behind) {
    const to = this.video.currentTime - behind, { buffered } = row.buffer;
    if (row.buffer.updating || to <= 0 || !buffered.length || buffered.start(0) >= to - 1) return false;
    row.buffer.remove(0, to);
    return true;
  }

  async failed(row, segment, error) {
    if (this.video.error) {
      // Nothing is taken any more, and the reason is told by the element.
      segment.state = "idle";
      return;
    }
    segment.tries += 1;
    // Of what cannot be decoded another try is the same.
    const again = error.status !== undefined && error.status !== 404 && segment.tries < TRIES;
    segment.state = again ? "idle" : "failed";
    if (again) await wait(500);
    else if (error instanceof Fault) this.problems.fault("error", `segment ${error.url ?? error.title}`, error);
    else this.problems.fault("error", `append ${row.type}`, new Fault(`Segment ${segment.number} of ${row.track?.id} cannot be appended`, `${error.name}: ${error.message}`));
  }

  /** All is in the buffer: the element may end. */
  end() {
    const media = this.rows.filter(row => row.buffer);
    const done = media.every(row => {
      const last = row.track?.segments.at(-1);
      return !row.buffer.updating && last && (last.state === "failed" || (last.state === "appended" && this.has(row, last)));
    });
    if (done && this.source.readyState === "open" && !this.video.error) this.source.endOfStream();
  }

  listen() {
    const { video } = this;
    for (const name of ["seeking", "timeupdate", "ratechange"]) {
      video.addEventListener(name, () => {
        if (this.closed) return;
        for (const row of this.rows) {
          if (name === "seeking" && row.current?.state === "fetching" && (row.current.end < video.currentTime || row.current.start > video.currentTime + this.ahead)) row.abort?.abort();
          this.wake(row);
        }
      });
    }
    video.addEventListener("error", () => !this.closed && this.elementFailed());
  }

  /** The element's error, with what is known of the keys. */
  elementFailed() {
    const { code, message } = this.video.error;
    const secret = this.rows.filter(row => row.track?.scheme);
    const said = message ? `The browser says: ${message.replace(/:? *\{.*/, "")}.` : "";
    if (code === MediaError.MEDIA_ERR_DECODE && secret.length) {
      const usable = [...this.licences.statuses].filter(([, status]) => status === "usable").map(([kid]) => kid);
      const type = /audio/i.test(message) ? "audio" : /video/i.test(message) ? "video" : null;
      const kids = [...new Set(secret.filter(row => !type || row.type === type || row.type === "muxed").flatMap(row => row.track.kids))].filter(kid => usable.includes(kid));
      if (kids.length) {
        this.problems.add("error", "element", `A key seems to be wrong${type ? `: that of the ${type}` : ""}`,
          `The browser has a key for KID ${kids.map(kidText).join(", ")}, and what it decrypts with it cannot be decoded. ${said}`,
          "See which one: `lanelock inspect SEGMENT --init INIT --key-file KEYS` says of each key whether it fits.");
        return;
      }
    }
    this.problems.add("error", "element", { 2: "The network failed", 3: "The media cannot be decoded", 4: "The browser does not take the media" }[code] ?? "Playing failed", said,
      code === 3 ? "The segments are damaged, or not what their initialization segment says." : "");
  }

  async begin() {
    const { video } = this;
    try {
      await video.play();
    } catch (error) {
      if (error.name !== "NotAllowedError") return;
      video.muted = true;
      this.problems.add("note", "autoplay", "The sound is off", "This browser lets pages begin with sound only after a click.", "Turn it on in the controls of the picture.");
      await video.play().catch(() => this.problems.add("note", "autoplay", "Press play", "This browser lets no page begin by itself."));
    }
  }

  /** Goes on behind holes in the buffer, at which play would stand still. */
  async watch() {
    let before = -1, since = 0;
    while (!this.closed) {
      await wait(250);
      const { video } = this, now = video.currentTime;
      if (video.paused || video.ended || video.seeking || video.error) continue;
      since = now === before && video.readyState < 3 ? since + 1 : 0;
      before = now;
      // Sound goes on for a while without pictures: what is known to be absent is not waited for.
      const stuck = this.rows.filter(row => row.buffer && !holds(row.buffer.buffered, now + SLACK) && (since >= 4 || this.segment(row, now + SLACK)?.state === "failed"));
      const starts = stuck.map(row => {
        const { buffered } = row.buffer;
        return Array.from({ length: buffered.length }, (_, at) => buffered.start(at)).find(start => start > now) ?? null;
      });
      if (!stuck.length || starts.includes(null)) continue;
      const to = Math.max(...starts);
      this.problems.add("warning", `gap ${to.toFixed(0)}`, "There is a gap in the stream",
        `From ${now.toFixed(2)} to ${to.toFixed(2)} s there is no ${stuck.map(row => ({ muxed: "media" }[row.type] ?? row.type)).join(" and no ")}. Play goes on behind it.`);
      video.currentTime = to + 0.01;
      since = 0;
    }
  }

  segment(row, time) {
    return row.track?.segments.find(({ start, end }) => time >= start && time < end);
  }
}
