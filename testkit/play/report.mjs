// The results as Markdown.
import { COLUMNS } from "./cases.mjs";
import { name } from "./packagers.mjs";

const NAMES = { "shaka-player": "Shaka Player", lanelock: "lanelock play" };
const HEADS = { dash: "DASH", hls: "HLS" };
const head = ({ player, manifest }) => `${NAMES[player] ?? player} ${HEADS[manifest]}`;

export function report(versions, results) {
  const parts = [table(["program", "version"], Object.entries(versions))];
  parts.push("### Streams", grid(results.filter(({ wrong }) => !wrong), played));
  const wrong = results.filter(({ wrong }) => wrong);
  if (wrong.length) parts.push("### Wrong keys", grid(wrong, refused));
  const reasons = new Set(results.flatMap(({ reason }) => reason ?? []));
  if (reasons.size) parts.push([...reasons].map(reason => `- \`-\`: ${reason}`).join("\n"));
  return parts.join("\n\n");
}

const played = ({ plays, good }) => (good ? (plays ? "plays" : "-") : plays ? "**plays**" : "**fails**");

function refused({ good, said }) {
  if (!good) return "**not refused**";
  return said.startsWith("video: 3") ? "decoder's error" : "no right picture";
}

/** A row for each stream (and wrong key), a column for each player and manifest. */
function grid(results, cell) {
  const rows = new Map();
  for (const result of results) {
    const key = name(result.stream) + (result.wrong ?? "");
    if (!rows.has(key)) rows.set(key, { result, cells: COLUMNS.map(() => "") });
    const column = COLUMNS.findIndex(one => one.player === result.player && one.manifest === result.manifest);
    rows.get(key).cells[column] = cell(result);
  }
  const wrong = results.some(({ wrong }) => wrong);
  const lines = [...rows.values()].map(({ result: { stream, wrong: what }, cells }) => [
    stream.video.toUpperCase(), stream.scheme, { aac: "AAC", opus: "Opus" }[stream.audio], stream.layout,
    ...(what ? [{ all: "all", video: "of the pictures" }[what]] : []), ...cells,
  ]);
  return table(["video", "scheme", "audio", "layout", ...(wrong ? ["wrong keys"] : []), ...COLUMNS.map(head)], lines);
}

function table(head, rows) {
  return [head, head.map(() => "---"), ...rows].map(row => `| ${row.join(" | ")} |`).join("\n");
}
