// The results as Markdown.
import { COLUMNS } from "./cases.mjs";
import { name } from "./packagers.mjs";

const NAMES = { "shaka-player": "Shaka Player", lanelock: "lanelock play" };
const HEADS = { dash: "DASH", hls: "HLS" };
const head = ({ player, manifest }) => `${NAMES[player] ?? player} ${HEADS[manifest]}`;

export function report(versions, results) {
  const parts = [table(["program", "version"], Object.entries(versions))];
  const part = (title, cell, holds) => {
    const some = results.filter(holds);
    if (some.length) parts.push(`### ${title}`, grid(some, cell));
  };
  part("Streams", played, ({ stream, wrong }) => !stream.motion && !wrong);
  part("Wrong keys", refused, ({ stream, wrong }) => !stream.motion && wrong);
  part("Keys that change", played, ({ stream, wrong }) => stream.motion && !wrong);
  part("Wrong keys among those that change", refused, ({ stream, wrong }) => stream.motion && wrong);
  const reasons = new Set(results.flatMap(({ reason }) => reason ?? []));
  if (reasons.size) parts.push([...reasons].map(reason => `- \`-\`: ${reason}`).join("\n"));
  return parts.join("\n\n");
}

const played = ({ plays, good }) => (good ? (plays ? "plays" : "-") : plays ? "**plays**" : "**fails**");

function refused({ good, said, seen }) {
  if (!good) return "**not refused**";
  const what = said.startsWith("video: 3") ? "decoder's error" : "no right picture";
  return seen.limit ? `${what} at ${seen.limit} s` : what;
}

const MOTION = {
  rotate: "rotation", "lead-entry": "clear lead (sample entry)", "lead-group": "clear lead (sample group)",
  "rotate-lead": "rotation and clear lead",
};
const WRONG = { all: "all", video: "of the pictures", "all@1": "all of period 1", "video@1": "of the pictures, period 1" };

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
  const motion = results.some(({ stream }) => stream.motion);
  const lines = [...rows.values()].map(({ result: { stream, wrong: what }, cells }) => [
    stream.video.toUpperCase(), stream.scheme, { aac: "AAC", opus: "Opus" }[stream.audio], stream.layout,
    ...(motion ? [MOTION[stream.motion]] : []), ...(what ? [WRONG[what]] : []), ...cells,
  ]);
  return table(["video", "scheme", "audio", "layout", ...(motion ? ["keys"] : []), ...(wrong ? ["wrong keys"] : []), ...COLUMNS.map(head)], lines);
}

function table(head, rows) {
  return [head, head.map(() => "---"), ...rows].map(row => `| ${row.join(" | ")} |`).join("\n");
}
