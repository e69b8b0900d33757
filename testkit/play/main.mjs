// tools/play-test: packages clear clips, and plays the streams in Chromium with Shaka Player, dash.js, hls.js
// and the page of lanelock play, with Clear Key. See docs/playback.md for what a case asserts.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { Browser } from "./browser.mjs";
import { cannot, full, short } from "./cases.mjs";
import { FAULTS, SHORT_FAULT, damaged } from "./faults.mjs";
import { name, pack } from "./packagers.mjs";
import { Problem, ROOT, versions } from "./programs.mjs";
import { report } from "./report.mjs";
import { Server } from "./server.mjs";
import { make_sources } from "./sources.mjs";

const USAGE = `usage: tools/play-test [--short] [--packager shaka|lanelock] [--only TEXT]... [--jobs N] [--json] [--write]
       tools/play-test --faults

  --short     some cases of each kind, for every change
  --packager  what makes the streams (lanelock); Shaka Packager is a control of the test itself
  --only      only cases whose name has this text, as avc-cbcs-aac-single or hls.js
  --jobs      cases that are played at once (3)
  --json      the results as JSON instead of a table
  --write     the table into docs/playback.md
  --faults    streams that are damaged on purpose, each of which must be found`;
const PAGE = path.join(ROOT, "docs/playback.md");
const MARKS = ["<!-- tools/play-test: begin -->", "<!-- tools/play-test: end -->"];

async function main() {
  const started = Date.now();
  const options = parse();
  const cases = (options.faults ? faults() : options.short ? [...short(), ...own(options)] : full())
    .map(subject => ({ ...subject, id: label(subject) }))
    // The control has no keys that change.
    .filter(({ stream, fault }) => fault || options.packager === "lanelock" || !stream.motion)
    .filter(({ id }) => options.only.every(text => id.includes(text)));
  if (cases.length === 0) throw new Problem("no case has such a name");
  await make_sources();
  const server = await new Server().start();
  let results;
  try {
    const folders = await packages(options.packager, cases, server.origin);
    const browser = await Browser.launch(server);
    try {
      results = await each(cases, options.jobs, subject => judge(browser, subject, folders));
      // Under load a picture may come late: what failed is tried once more, alone. Planted faults are not.
      for (const [index, { good }] of results.entries()) {
        if (good || options.faults) continue;
        console.error("once more, alone:");
        results[index] = await judge(browser, cases[index], folders);
      }
    } finally {
      await browser.close();
    }
  } finally {
    server.stop();
  }
  const seconds = Math.round((Date.now() - started) / 1000);
  const used = versions(options.packager);
  if (options.json) console.log(JSON.stringify({ versions: used, seconds, results }, null, 2));
  const text = options.faults ? "" : report(used, results.filter(({ fault }) => !fault));
  if (options.write) {
    const [head, rest] = readFileSync(PAGE, "utf8").split(MARKS[0]);
    writeFileSync(PAGE, `${head}${MARKS[0]}\n\n${text}\n\n${MARKS[1]}${rest.split(MARKS[1])[1]}`);
  } else if (text && !options.json) console.log(`\n${text}\n`);
  const bad = results.filter(({ good }) => !good);
  console.error(`${results.length - bad.length} passed, ${bad.length} failed`);
  console.error(`${seconds} s in all`);
  return bad.length === 0;
}

function parse() {
  const options = {
    short: { type: "boolean" }, packager: { type: "string", default: "lanelock" }, json: { type: "boolean" },
    only: { type: "string", multiple: true, default: [] }, jobs: { type: "string", default: "3" },
    write: { type: "boolean" }, faults: { type: "boolean" }, help: { type: "boolean" },
  };
  let values;
  try {
    ({ values } = parseArgs({ options }));
  } catch (error) {
    throw new Problem(`${error.message}\n${USAGE}`);
  }
  if (values.help) {
    console.log(USAGE);
    process.exit(0);
  }
  if (!["shaka", "lanelock"].includes(values.packager)) throw new Problem(`no packager ${values.packager}\n${USAGE}`);
  if (!/^[1-9]\d?$/.test(values.jobs)) throw new Problem(`--jobs ${values.jobs} is no number of 1 to 99`);
  if (values.write && (values.short || values.faults || values.only.length)) throw new Problem("--write wants all cases");
  if (values.faults && values.packager !== "shaka") throw new Problem("--faults are of streams of Shaka Packager");
  return { ...values, jobs: Number(values.jobs) };
}

const label = ({ stream, player, manifest, wrong, fault }) =>
  [name(stream), player, manifest, ...(wrong ? [`wrong-${wrong}`] : []), ...(fault ? [fault.what] : [])].join(" ");

/** A case for each fault. */
const faults = () => FAULTS.map(with_fault);

/** The words of lanelock play are a part of what it does. */
const own = ({ packager }) => (packager === "lanelock" ? [with_fault(SHORT_FAULT)] : []);

function with_fault(fault) {
  const stream = { video: "avc", scheme: "cbcs", audio: "aac", layout: fault.layout, motion: fault.motion ?? null };
  return { stream, ...fault.column, wrong: fault.wrong ?? null, keys: fault.keys, fault };
}

/** The folders of all streams of the cases, by name. */
async function packages(packager, cases, origin) {
  const streams = new Map(cases.map(({ stream }) => [name(stream), stream]));
  const entries = [...streams];
  const folders = await each(entries, 2, async ([name, stream]) =>
    [name, await pack(stream.motion ? "lanelock" : packager, stream, origin)]);
  return new Map(folders);
}

/**
 * One case. `plays` is whether right pictures were seen, `good` whether that is as it should be, `said` why
 * it does not play.
 */
async function judge(browser, subject, folders) {
  const started = Date.now();
  const result = { ...subject, plays: !subject.wrong, good: true, said: "" };
  try {
    const folder = folders.get(name(subject.stream));
    const served = subject.fault ? damaged(folder, FAULTS.indexOf(subject.fault), subject.fault) : folder;
    result.seen = await browser.play(subject, subject.id.replaceAll(" ", "_"), served);
    result.said = result.seen.refused ?? "";
  } catch (error) {
    // Another error than a problem is Playwright's, of a page that went away: a failure of the case, too.
    Object.assign(result, { plays: false, good: false, said: error.message.split("\n")[0] });
  }
  if (subject.fault) result.good = !result.good && subject.fault.says.test(result.said);
  const listed = cannot(subject);
  if (listed && result.plays) {
    Object.assign(result, { good: false, said: `plays, though it is listed as what cannot: ${listed.reason}` });
  } else if (listed?.says.test(result.said)) {
    Object.assign(result, { good: true, reason: listed.reason });
  }
  result.seconds = (Date.now() - started) / 1000;
  const said = result.reason ?? result.said;
  console.error(`${result.good ? "ok  " : "FAIL"} ${subject.id} (${result.seconds.toFixed(1)} s)${said && ": "}${said}`);
  return result;
}

/** Does it for each, some at once, and gives the results in order. */
async function each(list, jobs, work) {
  const results = new Array(list.length);
  let next = 0;
  const worker = async () => {
    while (next < list.length) {
      const at = next++;
      results[at] = await work(list[at]);
    }
  };
  await Promise.all(Array.from({ length: jobs }, worker));
  return results;
}

main().then(
  good => process.exit(good ? 0 : 1),
  error => {
    console.error(`error: ${error instanceof Problem || !error.stack ? error.message : error.stack}`);
    process.exit(1);
  },
);
