// Plays one case in Chromium, and says what was wrong.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { LANGUAGES, RATE, SECONDS, SEGMENT, WIDTHS, caption } from "./sources.mjs";
import { WRONG, manifest_of } from "./cases.mjs";
import { boundaries, keys_of } from "./packagers.mjs";
import { ENOUGH, Picture } from "./picture.mjs";
import { HERE, Problem, programs, require } from "./programs.mjs";

const { chromium } = require("playwright-core");

const PATIENCE = 20_000; // milliseconds for one step
const SLACK = 4; // frames
const WRONG_FOR = 6; // seconds in which a wrong key may show its pictures
const VIEW = { width: WIDTHS[360], height: 360 };

export class Browser {
  static async launch(server) {
    const args = ["--autoplay-policy=no-user-gesture-required"];
    const options = { executablePath: programs.chromium(), headless: true, chromiumSandbox: process.getuid?.() !== 0, args };
    const browser = new Browser();
    browser.server = server;
    browser.chromium = await chromium.launch(options);
    return browser;
  }

  close() {
    return this.chromium.close();
  }

  /** What the case showed. Throws a `Problem` if right keys do not play, or wrong ones do. */
  async play(subject, id, folder) {
    const keys = subject.keys?.(keys_for(subject.stream, null)) ?? keys_for(subject.stream, subject.wrong);
    // Of an MPD the players take for Clear Key nothing but `default_KID`, the KID of the first period: the
    // licence has to bring the others unasked.
    const { stream, manifest } = subject;
    const all = manifest === "dash" && Boolean(stream.motion?.startsWith("rotate"));
    const page = await this.chromium.newPage({ viewport: VIEW });
    const own = subject.player === "lanelock" ? await Own.start(page, folder, keys) : null;
    const log = own ? own.log : this.server.add(id, folder, keys, all);
    try {
      const play = new Play(page, subject, folder, keys, log);
      await page.goto(own ? own.url.replace("#", `?manifest=${manifest_of(subject)}#`) : `${this.server.origin}/case/${id}/page`);
      return subject.wrong ? await play.wrong() : await play.right();
    } finally {
      await page.close();
      await own?.stop();
      this.server.remove(id);
    }
  }
}

/** The keys that the server gives out, with the wrong ones inverted. */
function keys_for(stream, wrong) {
  const invert = digits => Buffer.from(digits, "hex").map(byte => ~byte).toString("hex");
  const bad = WRONG[wrong] ?? /^$/;
  return new Map(Object.entries(keys_of(stream)).map(([what, { kid, key }]) => [kid, bad.test(what) ? invert(key) : key]));
}

/** The frames before this one have a right key, or none. */
function first_wrong({ stream, wrong }) {
  const times = boundaries(stream);
  if (stream.motion?.includes("lead")) return times[0] * RATE;
  return wrong.endsWith("@1") ? times[0] * RATE : 0;
}

/** The language of the media header (ISO/IEC 14496-12, 8.4.2) in a file, if it begins with one. */
function language(file) {
  const head = readFileSync(file).subarray(0, 1 << 16);
  const at = head.indexOf("mdhd");
  if (at < 0) return null;
  const packed = head.readUInt16BE(at + 8 + (head[at + 4] === 1 ? 28 : 16));
  return String.fromCharCode(...[10, 5, 0].map(shift => 0x60 + ((packed >> shift) & 31)));
}

/** Whether the caption of that time was shown in its segment, alone. It is an error if it was not. */
function captioned({ time, shown }, at) {
  const [wanted, end] = [caption(at), (Math.floor(at / SEGMENT) + 1) * SEGMENT];
  const during = shown.filter(([time]) => time >= end - SEGMENT && time < end).map(([, texts]) => texts.join());
  if (during.includes(wanted)) return true;
  if (time >= end) throw new Problem(`"${wanted}" was not shown until ${end} s, but ${JSON.stringify([...new Set(during)])}`);
  return false;
}

/** `lanelock play`: its own server and page, of which `page/lanelock.js` makes a player like the others. */
class Own {
  static async start(page, folder, keys) {
    const own = new Own();
    own.log = { files: [], licences: 0, missing: [] };
    // Keys by standard input: other users of the machine see a command line.
    const args = ["play", folder, "--json", ...(keys.size ? ["--key-file", "-"] : [])];
    own.process = spawn(programs.lanelock(), args, { stdio: ["pipe", "pipe", "ignore"] });
    own.process.stdin.end([...keys].map(([kid, key]) => `${kid}:${key}\n`).join(""));
    own.ended = new Promise(resolve => own.process.once("exit", resolve));
    const line = await Promise.race([new Promise(resolve => own.process.stdout.once("data", resolve)), own.ended]);
    if (!(line instanceof Buffer)) throw new Problem(`lanelock play ended with exit code ${line}`);
    own.url = JSON.parse(line).url;
    page.on("response", answer => own.note(answer));
    await page.addInitScript({ path: path.join(HERE, "page/lanelock.js") });
    return own;
  }

  note(answer) {
    const { pathname } = new URL(answer.url());
    if (pathname === "/licence" && answer.ok()) this.log.licences += 1;
    if (!pathname.startsWith("/stream/")) return;
    this.log.files.push(decodeURIComponent(pathname.slice("/stream/".length)));
    if (answer.status() === 404) this.log.missing.push(pathname);
  }

  /** As a person ends it: that is no failure. */
  async stop() {
    this.process.kill("SIGINT");
    const code = await this.ended;
    if (code !== 0) throw new Problem(`lanelock play ended with exit code ${code}`);
  }
}

class Play {
  constructor(page, subject, folder, keys, log) {
    Object.assign(this, { page, subject, folder, keys, log });
  }

  /** From the start over a change of everything to beyond a boundary of segments. */
  async right() {
    await this.start();
    await this.until("the second segment is played", state => state.time > SEGMENT + 0.4);
    await this.page.evaluate(() => video.pause());
    const first = await this.look();
    const small = (await this.state()).width;
    if (small !== WIDTHS[180]) throw new Problem(`the pictures are ${small} wide and not ${WIDTHS[180]}`);

    await this.lists("heights", Object.keys(WIDTHS).map(Number));
    await this.lists("audio", ["en", "de"]);
    await this.lists("text", ["en"]);
    // One change after the other, each waited for: at once they are a test of the players, of which Shaka
    // Player then waits for ever.
    await this.page.evaluate(() => { video.play(); playing.chooseHeight(360); });
    await this.until("the larger pictures are shown", state => state.ready >= 2 && state.width === WIDTHS[360]);
    const looks = await this.boundaries();
    const frame = 7 * RATE;
    const second = await this.seek(frame);

    const asked = this.log.files.length;
    await this.page.evaluate(() => playing.chooseAudio("de"));
    await this.page.waitForTimeout(300);
    const before = await this.state();
    await this.page.evaluate(() => { video.play(); });
    const beyond = 4 * SEGMENT + 0.6;
    const after = await this.until("the next segment is played", state => state.time > beyond);
    await this.until("captions are shown", state => captioned(state, frame / RATE) && captioned(state, beyond));
    await this.page.evaluate(() => video.pause());
    const third = await this.look();
    if (after.audio <= before.audio) throw new Problem("no sound is decoded after the change of language");
    const tongue = await this.page.evaluate(() => playing.chosen());
    const files = this.log.files.slice(asked);
    if (tongue !== "de" || !files.some(file => language(path.join(this.folder, file)) === LANGUAGES.de)) {
      throw new Problem(`the language is ${tongue}, of ${files.join(", ")}`);
    }
    if (after.frames - before.frames < RATE) throw new Problem(`${after.frames - before.frames} frames in ${beyond - 7} s`);
    this.decrypted(after);
    this.playlists();
    return { psnr: Math.min(first, ...looks, second, third), dropped: after.dropped, requests: this.log.files.length };
  }

  /**
   * Seeks over all changes of the keys into the last segment, then plays over each change but the one at
   * which all cases play on.
   */
  async boundaries() {
    const times = boundaries(this.subject.stream);
    if (times.length === 0) return [];
    const looks = [await this.seek((SECONDS - 1) * RATE)];
    for (const time of times.filter(time => time !== 4 * SEGMENT)) {
      looks.push(await this.seek((time - 0.4) * RATE));
      await this.page.evaluate(() => { video.play(); });
      await this.until(`the keys of ${time} s are used`, state => state.time > time + 0.4);
      await this.page.evaluate(() => video.pause());
      looks.push(await this.look());
    }
    return looks;
  }

  /** In the middle of a frame, so that it is this one and no other. */
  async seek(frame) {
    await this.page.evaluate(time => { video.pause(); video.currentTime = time; }, (frame + 0.5) / RATE);
    await this.until("the seek is done", state => !state.seeking && state.ready >= 2);
    return this.look(frame);
  }

  /** A wrong key must be refused by the decoder, or show nothing that is right for some seconds. */
  async wrong() {
    const failed = await this.start().catch(error => error);
    const limit = first_wrong(this.subject);
    const end = Date.now() + WRONG_FOR * 1000 + (limit / RATE) * 1000;
    let seen = 0, last = -1, state;
    do {
      state = await this.state();
      const picture = await this.screenshot();
      const number = picture.number();
      const expected = Math.floor(state.time * RATE);
      if (number !== null && Math.abs(number - expected) <= RATE && picture.likeness(number).psnr >= ENOUGH) {
        if (number >= limit) throw new Problem(`with a wrong key, frame ${number} is shown`);
        last = Math.max(last, number);
      }
      seen += 1;
      await this.page.waitForTimeout(200);
    } while (state.errors.length === 0 && Date.now() < end);
    // The element's error can come after that of the player.
    await this.page.waitForTimeout(300);
    state = await this.state();
    // It is the keys that did it only if they were given to the browser, and media with them.
    this.decrypted(state);
    const { errors } = state;
    this.until_limit(limit, last, errors);
    if (errors.length === 0) {
      if (failed) throw failed;
      if (!(state.buffered > 0)) throw new Problem("with a wrong key, nothing was loaded");
      return { refused: `no right picture in ${WRONG_FOR} s (${seen} looks, ${state.frames} frames)`, last, limit: limit / RATE };
    }
    const words = "page: A key seems to be wrong";
    if (this.subject.player === "lanelock" && !errors.some(error => error.startsWith(words))) {
      throw new Problem(`the page does not say "${words}" but ${errors.join("; ")}`);
    }
    const decoder = errors.find(error => error.startsWith("video: 3 "));
    if (!decoder) throw new Problem(`with a wrong key, another error than the decoder's: ${errors.join("; ")}`);
    if (!WRONG[this.subject.wrong].test("audio@1") && decoder.includes("audio")) {
      throw new Problem(`the key of the sound is right, but ${decoder}`);
    }
    return { refused: decoder.replace(/:? *\{.*/, ""), last, limit: limit / RATE };
  }

  /**
   * Before the first wrong key, right pictures were shown, and what could not be decoded is behind it. Without
   * an error the pictures alone can say so, of which a busy machine shows not every one.
   */
  until_limit(limit, last, errors) {
    if (limit === 0) return;
    const failed = errors.map(error => /timestamp=(\d+)/.exec(error)?.[1]).find(Boolean);
    // A frame of audio begins shortly before the pictures do.
    const behind = failed ? Number(failed) / 1e6 >= limit / RATE - 0.1 : last >= limit - RATE;
    if (last < 0 || !behind) {
      throw new Problem(`with a right key until frame ${limit}, none behind ${last} is shown: ${errors.join("; ")}`);
    }
  }

  /**
   * A licence server that the MPD names must be found there. Shaka Player knows no playlist's name of Clear
   * Key, so that it is given the keys.
   */
  start() {
    const { player, manifest, stream } = this.subject;
    const clearLead = stream.motion?.includes("lead") ?? false;
    const file = manifest_of(this.subject);
    const keys = player === "shaka-player" && manifest === "hls" ? Object.fromEntries(this.keys) : null;
    const named = readFileSync(path.join(this.folder, file), "utf8").includes("Laurl");
    const licence = named || keys ? null : new URL("licence", this.page.url()).href;
    this.asks = !keys;
    const bothSchemes = stream.scheme === "both";
    const options = { player, manifest: `stream/${file}`, licence, clearKeys: keys, clearLead, bothSchemes };
    return this.page.evaluate(options => start(options), options).catch(async error => {
      const { errors } = await this.state();
      throw new Problem(errors.join("; ") || error.message.split("\n")[0]);
    });
  }

  state() {
    return this.page.evaluate(() => state());
  }

  async until(what, holds) {
    const end = Date.now() + PATIENCE;
    for (;;) {
      const now = await this.state();
      if (now.errors.length) throw new Problem(`before ${what}: ${now.errors.join("; ")}`);
      if (holds(now)) return now;
      if (Date.now() > end) {
        throw new Problem(`after ${PATIENCE / 1000} s it does not hold that ${what}: ${JSON.stringify({ ...now, shown: undefined })}, after ${this.log.files.slice(-9).join(", ")}`);
      }
      await this.page.waitForTimeout(50);
    }
  }

  async screenshot() {
    return new Picture(await this.page.screenshot({ type: "png" }));
  }

  /**
   * The picture is that frame. Without one, it is about that of the current time, which on a busy machine
   * does not keep up with the pictures.
   */
  async look(frame) {
    const end = Date.now() + 5000;
    let said;
    do {
      const { time } = await this.state();
      const picture = await this.screenshot();
      const number = picture.number();
      const wanted = frame ?? Math.floor(time * RATE);
      if (number === null) said = `no frame number is to be read at ${time} s`;
      else if (Math.abs(number - wanted) > (frame === undefined ? SLACK : 0)) {
        said = `frame ${number} is shown and not ${wanted}, at ${time} s`;
      } else {
        const { psnr, best } = picture.likeness(number);
        if (psnr >= ENOUGH && best === number) return psnr;
        said = `frame ${number} is like the source by ${psnr.toFixed(1)} dB only, and most like frame ${best}`;
      }
      await this.page.waitForTimeout(100);
    } while (Date.now() < end);
    throw new Problem(said);
  }

  async lists(what, wanted) {
    const found = await this.page.evaluate(what => playing[what](), what);
    const sorted = list => JSON.stringify([...list].sort());
    if (sorted(found) !== sorted(wanted)) throw new Problem(`${what} ${JSON.stringify(found)} and not ${JSON.stringify(wanted)}`);
  }

  /** The playlists that were read name another key where the keys change. */
  playlists() {
    for (const file of this.log.files.filter(file => /^(video|audio)-\w+\.m3u8$/.test(file))) {
      let time = 0, key = null;
      const changes = [];
      for (const line of readFileSync(path.join(this.folder, file), "utf8").split("\n")) {
        if (line.startsWith("#EXTINF:")) time += parseFloat(line.slice(8));
        if (!line.startsWith("#EXT-X-KEY:") || line === key) continue;
        key = line;
        if (time > 0) changes.push(Math.round(time));
      }
      const wanted = boundaries(this.subject.stream);
      if (changes.join() !== wanted.join()) {
        throw new Problem(`the keys of ${file} change at ${changes.join(", ")} s and not at ${wanted.join(", ")} s`);
      }
    }
  }

  /** Encrypted Media Extensions were used, with the keys of this server. */
  decrypted(state) {
    if (this.log.missing.length) throw new Problem(`not there: ${this.log.missing.join(", ")}`);
    if (this.subject.stream.scheme === "clear") {
      if (state.mediaKeys) throw new Problem("the element has mediaKeys, though all is clear");
      return;
    }
    if (!state.mediaKeys) throw new Problem("the element has no mediaKeys");
    if (this.asks && this.log.licences === 0) throw new Problem("no licence was asked for");
    for (const [what, { kid }] of Object.entries(keys_of(this.subject.stream))) {
      if (state.keyStatuses[kid] !== "usable") throw new Problem(`the key of ${what} is ${state.keyStatuses[kid] ?? "not known"}`);
    }
  }
}
