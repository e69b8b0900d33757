// What is played, and what is known not to play.
import { AUDIO, UNPLAYABLE as HEVC, VIDEO } from "./sources.mjs";

const SCHEMES = ["cenc", "cbcs"];
/** What else stands in the place of a scheme: both of them, and `cbcs` with a key for each size of picture. */
export const OTHERS = { both: "cbcs,cenc", sizes: "cbcs" };
const LAYOUTS = ["segments", "single"];

/** The columns of the table. */
export const COLUMNS = [
  { player: "shaka-player", manifest: "dash" },
  { player: "shaka-player", manifest: "hls" },
  { player: "dash.js", manifest: "dash" },
  { player: "hls.js", manifest: "hls" },
  { player: "lanelock", manifest: "dash" },
  { player: "lanelock", manifest: "hls" },
];
/** The page of `lanelock play`. */
const OWN = COLUMNS.filter(({ player }) => player === "lanelock");
/** What the other players are not needed for. */
const CLEAR = ["segments", "single"].map(layout => ({ video: "avc", scheme: "clear", audio: "aac", layout }));
const MANIFESTS = { dash: "manifest.mpd", hls: "main.m3u8" };

/** The manifest that a case plays: of both schemes, the playlist of the first. */
export const manifest_of = ({ stream, manifest }) =>
  stream.scheme === "both" && manifest === "hls" ? "main-cbcs.m3u8" : MANIFESTS[manifest];

/**
 * What cannot play, why, and what the players say then. That it does not is a result like any other: one
 * that plays after all is an error, so that this list stays true; so is another message.
 */
const CANNOT = [
  {
    holds: ({ stream }) => stream.video === HEVC,
    reason: "Chromium as Debian builds it decodes no HEVC",
    // Shaka Player: no such key system with that codec; dash.js plays the sound alone.
    says: /^shaka-player: 6001|^no frame number is to be read|^hls\.js: manifestIncompatibleCodecsError|no choice of video/,
  },
];
export const cannot = subject => CANNOT.find(({ holds }) => holds(subject));

const product = (...lists) => lists.reduce((made, list) => made.flatMap(some => list.map(one => [...some, one])), [[]]);

/** The rows of the table. */
function streams() {
  const all = product(VIDEO, SCHEMES, AUDIO, LAYOUTS).concat(
    product([HEVC], SCHEMES, ["aac"], ["segments"]), product(["avc"], Object.keys(OTHERS), ["aac"], LAYOUTS));
  return all.map(([video, scheme, audio, layout]) => ({ video, scheme, audio, layout, motion: null }));
}

/** Whose keys are wrong. With the audio's right, the sound plays, and only the pictures can tell. */
export const WRONG = { all: /^/, video: /^(video|sd)/, "all@1": /@1$/, "video@1": /^video@1$/ };

/** Cases are `{stream, player, manifest, wrong}`; wrong is null for the right keys. */
export function full() {
  const right = streams().flatMap(stream => COLUMNS.map(column => ({ stream, ...column, wrong: null })));
  const tried = product(VIDEO, SCHEMES).map(([video, scheme]) => ({ video, scheme, audio: "aac", layout: "segments" }));
  const wrong = product(tried, ["all", "video"], COLUMNS);
  const clear = product(CLEAR, OWN).map(([stream, column]) => ({ stream, ...column, wrong: null }));
  return [...right, ...clear, ...wrong.map(([stream, wrong, column]) => ({ stream, ...column, wrong })), ...motion()];
}

/** Keys that change, and which of them are wrong. */
const MOTION = {
  rotate: ["all@1", "video@1"],
  "lead-entry": ["all", "video"],
  "lead-group": ["all"],
  "rotate-lead": [],
};

function motion() {
  const of = (motion, scheme, layout) => ({ video: "avc", scheme, audio: "aac", layout, motion });
  const tried = [
    ...product(Object.keys(MOTION), SCHEMES, ["segments"]),
    ...product(["rotate-lead"], ["cbcs"], ["single"]),
  ];
  return tried.flatMap(([motion, scheme, layout]) => {
    const wrong = layout === "segments" ? MOTION[motion] : [];
    return product([null, ...wrong], COLUMNS).map(([wrong, column]) => ({ stream: of(motion, scheme, layout), ...column, wrong }));
  });
}

/**
 * Every player, codec, scheme, layout and kind of sound once or more, wrong keys of the pictures, and keys that
 * change.
 */
export function short() {
  const stream = words => {
    const [video, scheme, audio, layout, ...motion] = words.split("-");
    return { video, scheme, audio, layout, motion: motion.join("-") || null };
  };
  const right = ["avc-cenc-aac-segments", "avc-cbcs-aac-single"].flatMap(words =>
    COLUMNS.filter(column => !OWN.includes(column)).map(column => ({ stream: stream(words), ...column, wrong: null })));
  const rest = [
    ["av1-cbcs-opus-segments", 0, null], ["av1-cenc-opus-single", 3, null],
    ["vp9-cenc-opus-segments", 1, null], ["vp9-cbcs-aac-single", 2, null],
    ["avc-both-aac-segments", 0, null], ["avc-both-aac-segments", 2, null],
    ["avc-sizes-aac-segments", 0, null], ["avc-sizes-aac-segments", 1, null],
    ["avc-cenc-aac-segments", 0, "video"], ["avc-cbcs-aac-single", 3, "video"],
    ["avc-cbcs-aac-single", 2, "video"],
    ["avc-cenc-aac-segments", 4, null], ["avc-cbcs-aac-single", 5, null], ["avc-clear-aac-single", 4, null],
    ["avc-cenc-aac-segments", 5, "video"],
    ["avc-cenc-aac-segments-rotate", 0, null], ["avc-cbcs-aac-segments-rotate", 3, null],
    ["avc-cenc-aac-segments-lead-entry", 2, null], ["avc-cbcs-aac-segments-rotate", 0, "video@1"],
  ];
  return [...right, ...rest.map(([words, column, wrong]) => ({ stream: stream(words), ...COLUMNS[column], wrong }))];
}
