// The streams, the players and the licences, on 127.0.0.1.
//
// All that a case asks for has the case's own prefix, /case/ID/, so that what was asked for is known:
//   page              the page with the player, which the test drives
//   stream/...        the files of the stream
//   licence           a Clear Key licence (W3C Encrypted Media Extensions, 9.1): of {kids} a JWK set
// Without the prefix, /licence answers the case whose page asks, since a manifest cannot know the case, and
// /players/... are the files of the players.
import { createReadStream, statSync } from "node:fs";
import http from "node:http";
import path from "node:path";
import { HERE, MODULES } from "./programs.mjs";

const PLAYERS = {
  "shaka-player.js": "shaka-player/dist/shaka-player.compiled-es2021.js",
  "dash.js": "dashjs/dist/modern/umd/dash.all.min.js",
  "hls.js": "hls.js/dist/hls.min.js",
};
// Of the registrations and of RFC 8216; `.m4s` has none of its own.
const TYPES = {
  html: "text/html; charset=utf-8", js: "text/javascript; charset=utf-8",
  mpd: "application/dash+xml", m3u8: "application/vnd.apple.mpegurl",
  mp4: "video/mp4", m4s: "video/iso.segment", vtt: "text/vtt; charset=utf-8",
};

export class Server {
  #cases = new Map();
  #server = http.createServer((request, response) => this.#answer(request, response));

  async start() {
    await new Promise(resolve => this.#server.listen(0, "127.0.0.1", resolve));
    this.origin = `http://127.0.0.1:${this.#server.address().port}`;
    return this;
  }

  stop() {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /**
   * Serves `folder` under `id`, with `keys`, a map of KIDs to keys. What is asked for is noted. A licence
   * has the keys of all KIDs, or of those alone that it is asked for.
   */
  add(id, folder, keys, all = true) {
    const log = { files: [], licences: 0, missing: [] };
    this.#cases.set(id, { folder, keys, all, log });
    return log;
  }

  remove(id) {
    this.#cases.delete(id);
  }

  #answer(request, response) {
    const { pathname } = new URL(request.url, this.origin);
    const player = /^\/players\/([\w.-]+)$/.exec(pathname);
    if (player) {
      const file = PLAYERS[player[1]];
      return send_file(request, response, file ? path.join(MODULES, file) : path.join(HERE, "page", player[1]));
    }
    const from = pathname === "/licence" ? new URL(request.headers.referer ?? "/", this.origin).pathname : pathname;
    const [, id, rest] = /^\/case\/([^/]+)\/(.*)$/.exec(from) ?? [];
    const subject = this.#cases.get(id);
    if (!subject) return fail(response, 404);
    if (pathname === "/licence" || rest === "licence") return licence(request, response, subject);
    if (rest === "page") return send_file(request, response, path.join(HERE, "page/index.html"));
    const file = path.join(subject.folder, decodeURIComponent(rest.replace(/^stream\//, "")));
    if (!file.startsWith(subject.folder + path.sep)) return fail(response, 404);
    subject.log.files.push(path.relative(subject.folder, file));
    send_file(request, response, file, () => subject.log.missing.push(pathname));
  }
}

function fail(response, status) {
  response.writeHead(status).end();
}

async function licence(request, response, { keys, all, log }) {
  try {
    let text = "";
    for await (const part of request) text += part;
    const { kids } = JSON.parse(text);
    const asked = kids.map(kid => Buffer.from(kid, "base64url").toString("hex"));
    const base64url = digits => Buffer.from(digits, "hex").toString("base64url");
    const known = (all ? [...keys.keys()] : asked).filter(kid => keys.has(kid));
    const jwk = known.map(kid => ({ kty: "oct", kid: base64url(kid), k: base64url(keys.get(kid)) }));
    log.licences += 1;
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ keys: jwk, type: "temporary" }));
  } catch {
    fail(response, 400);
  }
}

/** A file, or the one range of it that is asked for (RFC 9110, 14). */
function send_file(request, response, file, absent = () => {}) {
  let size;
  try {
    const stat = statSync(file);
    if (!stat.isFile()) throw new Error("no file");
    size = stat.size;
  } catch {
    absent();
    return fail(response, 404);
  }
  const type = TYPES[path.extname(file).slice(1)] ?? "application/octet-stream";
  const head = { "content-type": type, "accept-ranges": "bytes", "cache-control": "no-store" };
  const [, from, to] = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range ?? "") ?? [];
  let start = 0, end = size - 1, status = 200;
  if (from || to) {
    start = from ? Number(from) : Math.max(0, size - Number(to));
    end = from && to ? Math.min(Number(to), size - 1) : size - 1;
    if (start > end) {
      response.writeHead(416, { "content-range": `bytes */${size}` }).end();
      return;
    }
    status = 206;
    head["content-range"] = `bytes ${start}-${end}/${size}`;
  }
  head["content-length"] = end - start + 1;
  response.writeHead(status, head);
  if (request.method === "HEAD" || size === 0) return response.end();
  createReadStream(file, { start, end }).on("error", () => response.destroy()).pipe(response);
}
