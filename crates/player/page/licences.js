// Keys: Clear Key sessions of Encrypted Media Extensions, and what was said in them. Keys themselves pass
// through to the browser and are kept nowhere.
import { base64url, hex, kidText, unbase64, unhex, utf8 } from "./bytes.js";
import { readPsshs } from "./boxes.js";
import { isAudio } from "./model.js";

const SYSTEM = "org.w3.clearkey";
const COMMON = ["1077efecc0b24d02ace33c1e52e2fb4b"];
const list = kids => kids.map(kidText).join(", ");

/** What is asked of the browser for some tracks: a capability is of one kind, also where a track has both. */
function configuration(tracks) {
  const found = { initDataTypes: ["keyids", "cenc"] };
  for (const track of tracks) {
    for (const codec of track.codecs.split(",").filter(Boolean)) {
      const [name, mime] = isAudio(codec) ? ["audioCapabilities", "audio/mp4"] : ["videoCapabilities", "video/mp4"];
      const one = { contentType: `${mime}; codecs="${codec}"`, ...(track.scheme && track.scheme !== "?" ? { encryptionScheme: track.scheme } : {}) };
      found[name] = [...(found[name] ?? []), one];
    }
  }
  return found;
}

export class Licences extends EventTarget {
  /** Sessions in their order: { number, source, kids, events, state }. */
  sessions = [];
  /** What the browser says of each KID: usable, ... or "asked" or "missing". */
  statuses = new Map();
  /** The licence server of this page knows it by the end of its address. */
  url = `/licence?${location.hash.slice(1)}`;

  constructor(video, problems) {
    super();
    Object.assign(this, { video, problems, keys: null, known: new Set() });
    video.addEventListener("encrypted", event => this.encrypted(event));
    video.addEventListener("waitingforkey", () => this.waiting());
  }

  change() {
    this.dispatchEvent(new Event("change"));
  }

  /** Whether the browser decrypts this track by Clear Key: null if it does, else why not. */
  async refuses(track) {
    if (!track.scheme) return null;
    if (!navigator.requestMediaKeySystemAccess) {
      return isSecureContext ? "this browser has no Encrypted Media Extensions" : "this page is not in a secure context, and browsers decrypt in no other";
    }
    try {
      await navigator.requestMediaKeySystemAccess(SYSTEM, [configuration([track])]);
      return null;
    } catch {
      return `this browser does not decrypt ${track.scheme} with Clear Key`;
    }
  }

  /** Gives the element its keys object, before there is anything to decrypt. */
  async prepare(tracks) {
    const access = await navigator.requestMediaKeySystemAccess(SYSTEM, [configuration(tracks)]);
    this.keys = await access.createMediaKeys();
    await this.video.setMediaKeys(this.keys);
  }

  /** Asks for keys of which only the KIDs are known. */
  need(kids, source) {
    const wanted = kids.filter(kid => !this.known.has(kid));
    if (!wanted.length || !this.keys) return;
    const data = new TextEncoder().encode(JSON.stringify({ kids: wanted.map(kid => base64url(unhex(kid))) }));
    this.open("keyids", data, wanted, source);
  }

  encrypted({ initDataType, initData }) {
    if (!initData) return;
    const boxes = initDataType === "cenc" ? readPsshs(initData) : [];
    this.initData(boxes, initDataType === "cenc" ? initData : null, "the media (encrypted event)");
  }

  /** `pssh` boxes, of initialization segments or of fragments. */
  initData(boxes, data, source) {
    const common = boxes.filter(({ id }) => COMMON.includes(id));
    const kids = [...new Set(common.flatMap(({ kids }) => kids))];
    const wanted = kids.filter(kid => !this.known.has(kid));
    if (!wanted.length || !this.keys) return;
    const bytes = data ?? new Uint8Array(common.flatMap(({ bytes }) => [...bytes]));
    this.open("cenc", bytes, kids, `${source}, pssh ${[...new Set(boxes.map(({ system }) => system))].join(", ")}`);
  }

  async open(type, data, kids, source) {
    for (const kid of kids) {
      this.known.add(kid);
      if (!this.statuses.has(kid)) this.statuses.set(kid, "asked");
    }
    const session = this.keys.createSession("temporary");
    const entry = { number: this.sessions.length + 1, source, type, kids, events: [], state: "asking", started: performance.now() };
    this.sessions.push(entry);
    const note = (what, detail = null) => {
      entry.events.push({ what, detail, after: performance.now() - entry.started });
      this.change();
    };
    session.addEventListener("message", event => this.message(session, event, entry, note));
    session.addEventListener("keystatuseschange", () => {
      for (const [kid, status] of session.keyStatuses) this.statuses.set(hex(new Uint8Array(kid)), status);
      entry.state = "answered";
      note(`The browser has ${session.keyStatuses.size} ${session.keyStatuses.size === 1 ? "key" : "keys"}: ${[...session.keyStatuses].map(([, status]) => status).join(", ")}`);
    });
    this.change();
    try {
      await session.generateRequest(type, data);
    } catch (error) {
      entry.state = "failed";
      note(`The browser takes no init data of this kind: ${error.message}`);
      this.problems.add("error", `session ${type}`, "The browser refused the init data", `${type}, of ${source}: ${error.message}`);
    }
  }

  async message(session, event, entry, note) {
    const asked = utf8(new Uint8Array(event.message));
    note("Licence request", asked);
    let answer;
    try {
      answer = await fetch(this.url, { method: "POST", headers: { "Content-Type": "application/json" }, body: asked });
    } catch {
      entry.state = "failed";
      note("The licence server does not answer");
      this.problems.add("error", "licence server", "The licence server does not answer", `${new URL(this.url, location).href}`, "Is lanelock play still running? A server elsewhere has to allow this page (CORS).");
      return;
    }
    const text = await answer.text();
    let set = null;
    try {
      set = JSON.parse(text);
    } catch { /* told below */ }
    const given = (set?.keys ?? []).map(key => unbase64(key.kid ?? "")).filter(Boolean).map(hex);
    const missing = entry.kids.filter(kid => !given.includes(kid));
    for (const kid of missing) this.statuses.set(kid, "missing");
    // What comes back is keys: their KIDs alone are told.
    note(given.length ? `Answer ${answer.status}: keys of ${given.length} ${given.length === 1 ? "KID" : "KIDs"}` : `Answer ${answer.status}: ${set?.error ?? (text.trim().slice(0, 200) || "no keys")}`,
      given.length ? list(given) : null);
    if (answer.status === 403) {
      this.problems.add("error", "licence server", "The licence server gives this page nothing", text.trim().slice(0, 300), "Open the address that `lanelock play` printed, whole.");
    } else if (missing.length) this.missing(missing);
    if (!given.length) {
      entry.state = "failed";
      this.change();
      return;
    }
    try {
      await session.update(new TextEncoder().encode(text));
    } catch (error) {
      entry.state = "failed";
      note(`The browser takes no such licence: ${error.message}`);
      this.problems.add("error", "licence", "The browser refused the licence", error.message);
    }
  }

  missing(kids) {
    for (const kid of kids) {
      this.problems.add("error", `key ${kid}`, "A key is missing", `No key is given for KID ${kidText(kid)}.`,
        `Start again with that key: \`lanelock play … --key ${kid}:KEY\`, or with a line of that form in a file for \`--key-file\`.`);
    }
    this.change();
  }

  waiting() {
    const without = [...this.statuses].filter(([, status]) => status !== "usable").map(([kid]) => kid);
    if (without.length) return;
    this.problems.add("warning", "waiting for key", "The browser waits for a key", "What comes next is encrypted with a key that it does not have, and no KID of it was found.");
  }
}
