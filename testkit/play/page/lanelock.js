"use strict";
// Makes of the page of `lanelock play` a player like those of player.js. It is driven as people do it, by the
// choices that it shows, and errors are those that it tells. Runs before the scripts of the page.

const errors = [], shown = [], keyStatuses = {};

const createSession = MediaKeys.prototype.createSession;
MediaKeys.prototype.createSession = function (...args) {
  const session = createSession.apply(this, args);
  session.addEventListener("keystatuseschange", () => {
    for (const [kid, status] of session.keyStatuses) {
      keyStatuses[Array.from(new Uint8Array(kid), byte => byte.toString(16).padStart(2, "0")).join("")] = status;
    }
  });
  return session;
};

const note = text => errors.includes(text) || errors.push(text);
window.addEventListener("error", event => note(`page: ${event.message}`));
document.addEventListener("DOMContentLoaded", () => {
  const video = document.querySelector("video");
  video.addEventListener("error", () => note(`video: ${video.error.code} ${video.error.message}`));
  const problems = document.getElementById("problems");
  new MutationObserver(() => {
    for (const problem of problems.querySelectorAll("li.error")) {
      const [title, text] = [".what", ".text"].map(name => problem.querySelector(name)?.textContent.replace(/^Error/, "") ?? "");
      note(`page: ${title}: ${text}`);
    }
  }).observe(problems, { childList: true });
  setInterval(() => {
    if (video.paused || video.seeking) return;
    const texts = Array.from(video.textTracks).flatMap(track => Array.from(track.activeCues ?? [], cue => cue.text));
    shown.push([video.currentTime, texts]);
  }, 50);
});

const tracks = type => [...document.querySelectorAll(`.track[data-type="${type}"]:not([data-id=""]):not(.refused)`)];

async function choose(type, holds) {
  const end = performance.now() + 5000;
  for (;;) {
    const track = tracks(type).find(({ dataset }) => holds(dataset));
    if (track) return void track.querySelector("input").click();
    if (performance.now() > end || errors.length) throw new Error(`no choice of ${type}`);
    await new Promise(resolve => setTimeout(resolve, 20));
  }
}

/** The picture alone, as large as the window: it is compared, and captions are read, not looked at. */
async function start() {
  const video = document.querySelector("video");
  const style = new CSSStyleSheet();
  style.replaceSync("video { position: fixed; inset: 0; width: 640px; height: 360px; max-height: none; z-index: 9 } video::-webkit-media-text-track-container { display: none }");
  document.adoptedStyleSheets = [style];
  video.controls = false;
  video.muted = true;
  await choose("video", ({ height }) => height === "180");
  await choose("audio", ({ language }) => language === "en");
  await choose("text", ({ language }) => language === "en");
  globalThis.playing = {
    heights: () => tracks("video").map(({ dataset }) => Number(dataset.height)),
    audio: () => tracks("audio").map(({ dataset }) => dataset.language),
    text: () => tracks("text").map(({ dataset }) => dataset.language),
    chooseHeight: wanted => choose("video", ({ height }) => height === String(wanted)),
    chooseAudio: wanted => choose("audio", ({ language }) => language === wanted),
    chosen: () => tracks("audio").find(({ dataset }) => dataset.playing === "yes")?.dataset.language,
  };
}

function state() {
  const video = document.querySelector("video");
  const quality = video.getVideoPlaybackQuality();
  return {
    time: video.currentTime, paused: video.paused, seeking: video.seeking, ready: video.readyState,
    frames: quality.totalVideoFrames, dropped: quality.droppedVideoFrames,
    audio: video.webkitAudioDecodedByteCount, width: video.videoWidth,
    buffered: video.buffered.length ? video.buffered.end(video.buffered.length - 1) : 0,
    mediaKeys: video.mediaKeys !== null, keyStatuses, errors, shown,
  };
}

// What playwright runs before a page is no script of the page, and its names are not global.
Object.assign(globalThis, { start, state });
