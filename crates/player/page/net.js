// Fetching, with errors in words.
import { Fault } from "./model.js";

/** What the network says of one try. `status` is 0 if there was no answer. */
export class NetFault extends Fault {
  constructor(url, status, ...words) {
    super(...words);
    Object.assign(this, { url, status });
  }
}

const local = url => new URL(url, location).origin === location.origin;

/** The bytes of a place: { bytes, seconds }. */
export async function fetchPlace({ url, range }, what, signal) {
  const started = performance.now();
  const headers = range ? { Range: `bytes=${range[0]}-${range[1]}` } : {};
  let answer;
  try {
    answer = await fetch(url, { headers, signal, cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw unreachable(url, what);
  }
  if (!answer.ok) {
    const said = local(url) ? (await answer.text().catch(() => "")).trim().slice(0, 200) : "";
    const hint = { 404: "Look whether the file is where the manifest says, and whether its name is written alike.",
      416: "The manifest asks for bytes that the file does not have: it was made of another file." }[answer.status] ?? "";
    throw new NetFault(url, answer.status, `${what} is not there: ${answer.status} ${answer.statusText}`, `${url}${said ? `: ${said}` : ""}`, hint);
  }
  let bytes = new Uint8Array(await answer.arrayBuffer());
  if (range && answer.status === 200) {
    if (bytes.length <= range[1]) throw new NetFault(url, 200, `${what}: the server answers no byte ranges`, url, "Serve the stream from a server that does.");
    bytes = bytes.slice(range[0], range[1] + 1);
  }
  return { bytes, seconds: (performance.now() - started) / 1000 };
}

function unreachable(url, what) {
  if (!navigator.onLine && !local(url)) return new NetFault(url, 0, `${what} cannot be fetched: this machine is offline`, url);
  if (local(url)) {
    return new NetFault(url, 0, `${what} cannot be fetched: the server does not answer`, url, "Is `lanelock play` still running? Start it again, and reload this page.");
  }
  return new NetFault(url, 0, `${what} cannot be fetched from ${new URL(url).host}`,
    `${url}: either nothing answers there, or it does not allow pages of other origins (CORS); browsers do not tell which.`,
    "Let that server send `Access-Control-Allow-Origin: *` with manifests and media, or play a copy of the folder with `lanelock play`.");
}

export async function fetchText(url, what) {
  const { bytes } = await fetchPlace({ url, range: null }, what);
  return new TextDecoder().decode(bytes);
}
