// The page: reads what is to be played, plays it, and shows what comes of it.
import { kidOf } from "./bytes.js";
import { parseDash } from "./dash.js";
import { parseFile } from "./file.js";
import { parseHls } from "./hls.js";
import { Licences } from "./licences.js";
import { Fault } from "./model.js";
import { fetchText } from "./net.js";
import { Problems } from "./problems.js";
import { Stream } from "./stream.js";
import { Timeline } from "./timeline.js";
import { showFacts, showLicences, showNames, showProblems, showTracks } from "./view.js";

const $ = id => document.getElementById(id);
const video = $("video");
const problems = new Problems();
const timeline = new Timeline($("timeline"), { detail: $("detail"), legend: $("legend"), zoom: $("zoom") }, video);

problems.addEventListener("change", () => showProblems(problems));
window.addEventListener("unhandledrejection", ({ reason }) => reason?.name !== "AbortError" && problems.fault("error", "page", reason));
window.addEventListener("error", ({ error }) => error && problems.fault("error", "page", error));

async function parse(url) {
  const path = new URL(url).pathname;
  if (/\.(mp4|m4v|m4a|cmf[va])$/i.test(path)) return parseFile(url, decodeURIComponent(path.split("/").at(-1)));
  const text = await fetchText(url, "The manifest");
  const hls = /\.m3u8$/i.test(path) || text.startsWith("#EXTM3U");
  return hls ? parseHls(text, url) : parseDash(text, url);
}

async function main() {
  const info = await (await fetch("info")).json();
  const asked = new URLSearchParams(location.search).get("manifest");
  const manifest = info.manifests.find(url => url === asked || url.endsWith(`/${asked}`)) ?? info.manifests[0];
  showNames(info, manifest, url => { location.search = new URLSearchParams({ manifest: url }); });
  showProblems(problems);
  if (!isSecureContext) {
    problems.add("warning", "context", "This page is not in a secure context", "Browsers offer decryption (EME) to https:// and to this machine alone.", "Open the address that lanelock play printed, with 127.0.0.1 in it.");
  }
  const presentation = await parse(new URL(manifest, location.href).href);
  const licences = new Licences(video, problems);
  const stream = new Stream(video, presentation, licences, problems);
  stream.have = new Set(info.kids.map(kidOf));
  // With keys of its own, this server is asked; without any, the one that the manifest names.
  const named = presentation.sets.flatMap(set => set.tracks).map(track => track.licenceUrl).find(Boolean);
  if (!info.kids.length && named) licences.url = new URL(named, presentation.url).href;
  const server = licences.url.startsWith("/licence") ? "from lanelock play" : `from ${new URL(licences.url).host}`;

  let drawn = false, over = false;
  const show = () => {
    if (drawn) return;
    drawn = true;
    requestAnimationFrame(() => {
      drawn = false;
      // Before there are rows, a choice would be lost.
      if (stream.rows.length || over) showTracks(stream, timeline, (type, track) => stream.choose(type, track));
      showLicences(licences, timeline, server);
      showFacts(stream);
      timeline.draw();
    });
  };
  stream.addEventListener("change", show);
  licences.addEventListener("change", show);
  for (const name of ["timeupdate", "progress", "seeking", "seeked", "resize", "loadedmetadata"]) video.addEventListener(name, show);
  timeline.show(stream);
  try {
    await stream.start();
  } finally {
    over = true;
    show();
  }
  timeline.show(stream);
}

main().catch(error => {
  problems.fault("error", "start", error instanceof Fault ? error : error);
  const holder = $("tracks");
  if (holder.querySelector(".quiet")?.textContent.startsWith("The manifest is")) holder.replaceChildren();
});
