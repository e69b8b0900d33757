"use strict";
// One face for the three players: `start`, then what `playing` gives. Errors of the player, of the element
// and of key sessions are gathered in `errors`, in the order they come.

const video = document.querySelector("video");
const errors = [];
let playing;

const note = (from, what) => errors.push(`${from}: ${what}`);
video.addEventListener("error", () => note("video", `${video.error.code} ${video.error.message}`));
window.addEventListener("error", event => note("page", event.message));
window.addEventListener("unhandledrejection", event => note("page", event.reason?.message ?? event.reason));

/** The keys that the browser was given, by KID, with what it says of each. */
const keyStatuses = {};
const createSession = MediaKeys.prototype.createSession;
MediaKeys.prototype.createSession = function (...args) {
  const session = createSession.apply(this, args);
  session.addEventListener("keystatuseschange", () => {
    for (const [kid, status] of session.keyStatuses) {
      const digits = Array.from(new Uint8Array(kid), byte => byte.toString(16).padStart(2, "0")).join("");
      keyStatuses[digits] = status;
    }
  });
  return session;
};

const script = name => new Promise((resolve, reject) => {
  const element = document.createElement("script");
  element.src = `/players/${name}`;
  element.onload = resolve;
  element.onerror = () => reject(new Error(`${name} cannot be loaded`));
  document.head.append(element);
});

/**
 * Starts to play, the smallest pictures first. `licence` is the licence server, if the manifest names none;
 * `clearKeys` are the keys themselves, for a player that cannot ask for them; `clearLead` is whether the stream
 * begins clear, and `bothSchemes` whether everything is there with each.
 */
async function start({ player, manifest, licence, clearKeys, clearLead, bothSchemes }) {
  video.muted = true;
  const starts = { "shaka-player": startShaka, "dash.js": startDashJs, "hls.js": startHlsJs };
  playing = await starts[player](manifest, licence, clearKeys, { clearLead, bothSchemes });
  video.play().catch(error => note("play", error.message));
}

function state() {
  const quality = video.getVideoPlaybackQuality();
  return {
    time: video.currentTime, paused: video.paused, seeking: video.seeking, ready: video.readyState,
    frames: quality.totalVideoFrames, dropped: quality.droppedVideoFrames,
    audio: video.webkitAudioDecodedByteCount, width: video.videoWidth,
    buffered: video.buffered.length ? video.buffered.end(video.buffered.length - 1) : 0,
    mediaKeys: video.mediaKeys !== null, keyStatuses, errors,
    shown,
  };
}

/** What captions were shown while it played: pairs of time and texts, 20 each second. */
const shown = [];
setInterval(() => {
  if (video.paused || video.seeking) return;
  const texts = Array.from(video.textTracks).flatMap(track => Array.from(track.activeCues ?? [], cue => cue.text));
  shown.push([video.currentTime, texts]);
}, 50);

/**
 * The request of hls.js for the KID of a playlist. By itself it takes the `pssh` of the initialization segment,
 * and that only if a key is needed already when it is read: behind a clear lead it would never ask.
 */
function requestKid(type, data, { decryptdata }) {
  const kid = btoa(String.fromCharCode(...decryptdata.keyId)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=/g, "");
  return { initDataType: "keyids", initData: new TextEncoder().encode(JSON.stringify({ kids: [kid] })) };
}

const language = code => (code ?? "").split("-")[0];

async function startShaka(manifest, licence, clearKeys) {
  await script("shaka-player.js");
  shaka.polyfill.installAll();
  const player = new shaka.Player();
  player.addEventListener("error", ({ detail }) => note("shaka-player", `${detail.code} ${detail.data?.join(" ").slice(0, 200) ?? ""}`));
  await player.attach(video);
  player.configure({ abr: { enabled: false }, drm: { servers: licence ? { "org.w3.clearkey": licence } : {} } });
  if (clearKeys) player.configure({ manifest: { ignoreDrmInfo: true }, drm: { servers: {}, clearKeys } });
  const choose = (height, tongue) => {
    const same = player.getVariantTracks().filter(track => language(track.language) === tongue);
    player.selectVariantTrack(same.find(track => track.height === height), true);
  };
  await player.load(manifest).catch(error => {
    note("shaka-player", `${error.code} ${error.data?.join(" ").slice(0, 200) ?? ""}`);
    throw error;
  });
  const heights = () => player.getVariantTracks().map(track => track.height);
  const current = () => player.getVariantTracks().find(track => track.active);
  choose(Math.min(...heights()), "en");
  player.selectTextTrack(player.getTextTracks().find(track => language(track.language) === "en"));
  return {
    heights: () => [...new Set(heights())],
    audio: () => [...new Set(player.getVariantTracks().map(track => language(track.language)))],
    text: () => player.getTextTracks().map(track => language(track.language)),
    chooseHeight: height => choose(height, language(current().language)),
    chooseAudio: tongue => choose(current().height, tongue),
    chosen: () => language(current().language),
  };
}

async function startDashJs(manifest, licence, _, { bothSchemes }) {
  await script("dash.js");
  const player = dashjs.MediaPlayer().create();
  const { events } = dashjs.MediaPlayer;
  player.on(events.ERROR, ({ error }) => note("dash.js", `${error.code ?? ""} ${error.message ?? error}`));
  player.on("public_keyError", ({ error }) => note("dash.js", `key ${error?.message ?? error}`));
  const loaded = new Promise((resolve, reject) => {
    player.on(events.STREAM_INITIALIZED, resolve);
    player.on(events.ERROR, ({ error }) => reject(new Error(error.message ?? error)));
  });
  player.updateSettings({
    debug: { logLevel: 0 },
    streaming: {
      abr: { autoSwitchBitrate: { video: false, audio: false }, initialBitrate: { video: 1 } },
      text: { defaultEnabled: true },
      trackSwitchMode: { audio: "alwaysReplace" },
      // Where sizes are sets of their own, the smallest is the first; without this it begins with the largest.
      selectionModeForInitialTrack: "firstTrack",
    },
  });
  player.initialize(video, null, false);
  player.setInitialMediaSettingsFor("audio", { lang: "en" });
  player.setInitialMediaSettingsFor("text", { lang: "en" });
  if (licence) player.setProtectionData({ "org.w3.clearkey": { serverURL: licence } });
  player.attachSource(manifest);
  await loaded;
  const renditions = () => player.getRepresentationsByType("video");
  // It lists what is there with both schemes twice.
  const once = list => (bothSchemes ? [...new Set(list)] : list);
  return {
    heights: () => once(renditions().map(one => one.height)),
    audio: () => once(player.getTracksFor("audio").map(track => language(track.lang))),
    text: () => player.getTracksFor("text").map(track => language(track.lang)),
    chooseHeight: height => {
      player.setRepresentationForTypeById("video", renditions().find(one => one.height === height).id, true);
    },
    chooseAudio: tongue => {
      player.setCurrentTrack(player.getTracksFor("audio").find(track => language(track.lang) === tongue));
    },
    chosen: () => language(player.getCurrentTrackFor("audio")?.lang),
  };
}

async function startHlsJs(manifest, licence, _, { clearLead }) {
  await script("hls.js");
  const hls = new Hls({
    startLevel: 0,
    emeEnabled: true,
    drmSystems: { "org.w3.clearkey": { licenseUrl: licence, ...(clearLead && { generateRequest: requestKid }) } },
  });
  const parsed = new Promise((resolve, reject) => {
    hls.on(Hls.Events.MANIFEST_PARSED, resolve);
    hls.on(Hls.Events.ERROR, (_, data) => {
      if (!data.fatal) return;
      note("hls.js", `${data.details} ${data.error?.message ?? ""}`);
      reject(new Error(data.details));
    });
  });
  hls.loadSource(manifest);
  hls.attachMedia(video);
  await parsed;
  hls.subtitleTrack = hls.subtitleTracks.findIndex(track => language(track.lang) === "en");
  hls.currentLevel = hls.levels.reduce((best, level, at) => (level.height < hls.levels[best].height ? at : best), 0);
  return {
    heights: () => hls.levels.map(level => level.height),
    audio: () => hls.audioTracks.map(track => language(track.lang)),
    text: () => hls.subtitleTracks.map(track => language(track.lang)),
    chooseHeight: height => {
      hls.currentLevel = hls.levels.findIndex(level => level.height === height);
    },
    chooseAudio: tongue => {
      hls.audioTrack = hls.audioTracks.findIndex(track => language(track.lang) === tongue);
    },
    chosen: () => language(hls.audioTracks[hls.audioTrack]?.lang),
  };
}
