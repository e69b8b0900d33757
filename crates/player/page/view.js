// What the page shows besides picture and timeline.
import { kidText } from "./bytes.js";
import { codecName } from "./model.js";
import { clock } from "./timeline.js";

const $ = id => document.getElementById(id);

/** An element with attributes and children; what is false or null is left out. */
function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key in element && typeof value !== "string") element[key] = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat().filter(child => child || child === 0));
  return element;
}

/** Text in which backquotes set off what is to be typed. A command breaks between words alone. */
const rich = text => text.split("`").map((part, at) => (at % 2 ? make("code", { class: "command" }, part.split(" ").flatMap((word, n) => [n > 0 && " ", make("span", {}, word)])) : part));

const rate = bits => (bits >= 1e6 ? `${(bits / 1e6).toFixed(bits >= 1e7 ? 0 : 1)} Mbit/s` : `${Math.round(bits / 1000)} kbit/s`);

function language(code) {
  if (!code || code === "und") return "";
  try {
    return new Intl.DisplayNames(["en"], { type: "language" }).of(code) ?? code;
  } catch {
    return code;
  }
}

/** A KID, short, with its colour; whole where a pointer or a reader asks. */
function kid(id, colour) {
  const text = kidText(id);
  return make("span", { class: "kid", title: text }, make("span", { class: `swatch key-${colour}`, "aria-hidden": "true" }), make("code", {}, `${text.slice(0, 8)}…${text.slice(-4)}`));
}

function replace(element, key, ...children) {
  if (element.dataset.key === key) return;
  element.dataset.key = key;
  element.replaceChildren(...children);
}

export function showProblems(problems) {
  $("problems-card").hidden = !problems.list.length;
  const order = ["error", "warning", "note"];
  const list = [...problems.list].sort((one, other) => order.indexOf(one.level) - order.indexOf(other.level));
  replace($("problems"), JSON.stringify(list), ...list.map(({ level, title, text, hint, count }) =>
    make("li", { class: level },
      make("p", { class: "what" }, make("span", { class: "level" }, { error: "Error", warning: "Warning", note: "Note" }[level]), title, count > 1 && ` (${count} times)`),
      text && make("p", { class: "text" }, rich(text)), hint && make("p", { class: "hint" }, rich(hint)))));
  const errors = list.filter(({ level }) => level === "error").length, warnings = list.filter(({ level }) => level === "warning").length;
  const many = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
  const verdict = $("verdict");
  verdict.dataset.level = errors ? "error" : warnings ? "warning" : "good";
  const said = errors || warnings ? [errors && many(errors, "error"), warnings && many(warnings, "warning")].filter(Boolean).join(", ") : "No faults found";
  if (verdict.textContent !== said) verdict.textContent = said;
}

const TITLES = { muxed: "Media", video: "Video", audio: "Audio", text: "Text" };

export function showTracks(stream, timeline, choose) {
  const rows = stream.rows;
  const types = ["muxed", "video", "audio", "text"].filter(type => stream.sets(type).length);
  const tracks = types.map(type => stream.sets(type).flatMap(set => set.tracks));
  const key = JSON.stringify([types, tracks.map(list => list.map(track => [track.id, track.kids, track.codecs, stream.refusals.get(track), rows.some(row => row.track === track)])), stream.automatic]);
  const holder = $("tracks");
  if (holder.dataset.key === key) return;
  const focused = document.activeElement?.closest("#tracks") ? document.activeElement.id : null;
  replace(holder, key, ...types.map((type, at) => {
    const row = rows.find(row => row.type === type);
    const auto = (type === "video" || type === "muxed") && tracks[at].length > 1;
    const option = (id, checked, refused, label, value) => {
      const input = make("input", { type: "radio", name: type, id, checked, disabled: Boolean(refused) });
      input.addEventListener("change", () => choose(type, value));
      return make("li", { class: refused ? "track refused" : "track", "data-id": value?.id ?? "", "data-type": type, "data-language": value?.set.language ?? "", "data-height": String(value?.height ?? 0), "data-playing": row?.track === value && value ? "yes" : "no" },
        input, make("label", { for: id }, ...label));
    };
    const list = tracks[at].map((track, n) => {
      const playing = row?.track === track;
      const facts = [
        codecName(track.codecs), track.width && `${track.width} × ${track.height}`, track.frameRate && `${Number(track.frameRate.toFixed(2))} fps`,
        track.bandwidth > 0 && type !== "text" && rate(track.bandwidth), track.sampleRate && `${track.sampleRate / 1000} kHz`, track.channels && `${track.channels} ch`,
      ].filter(Boolean).join(" · ");
      const protection = track.scheme || track.kids.length
        ? make("span", { class: "protection" }, track.scheme && make("span", { class: "scheme" }, track.scheme === "?" ? "encrypted" : track.scheme), ...track.kids.slice(0, 4).map(id => kid(id, timeline.colour(id))), track.kids.length > 4 && `and ${track.kids.length - 4} more`)
        : type === "text" ? "" : make("span", { class: "protection" }, make("span", { class: "scheme open" }, "clear"));
      const name = type === "video" || type === "muxed" ? "" : [track.set.label, language(track.set.language)].filter(Boolean).join(", ");
      const refused = stream.refusals.get(track);
      return option(`track-${type}-${n}`, playing && !(auto && stream.automatic), refused, [
        make("span", { class: "name" }, name || track.id, name && make("span", { class: "quiet" }, ` ${track.id}`), playing && auto && make("span", { class: "now" }, "playing")),
        make("code", { class: "codecs" }, track.codecs || track.mime), make("span", { class: "facts-line" }, [facts, track.set.role].filter(Boolean).join(" · ")), protection,
        refused && make("span", { class: "why" }, refused),
      ], track);
    });
    const head = auto ? [option(`track-${type}-auto`, stream.automatic, false, [make("span", { class: "name" }, "Automatic", make("span", { class: "quiet" }, " by throughput"))], null)]
      : type === "text" ? [option("track-text-off", !row?.track, false, [make("span", { class: "name" }, "Off")], null)] : [];
    return make("fieldset", {}, make("legend", {}, TITLES[type]), make("ul", {}, ...head, ...list));
  }));
  if (focused) $(focused)?.focus();
}

const STATUS = { usable: "usable", asked: "asked for", missing: "no key", "status-pending": "pending", "internal-error": "internal error", expired: "expired", "output-restricted": "restricted" };

export function showLicences(licences, timeline, server) {
  const keys = [...licences.statuses];
  replace($("keys"), JSON.stringify(keys), ...keys.map(([id, status]) =>
    make("li", { class: status === "usable" ? "good" : status === "asked" ? "" : "bad" },
      make("span", { class: `swatch key-${timeline.colour(id)}`, "aria-hidden": "true" }), make("code", {}, kidText(id)), make("span", { class: "status" }, STATUS[status] ?? status))));
  $("licence-server").textContent = licences.sessions.length ? server : "";
  const open = new Set([...document.querySelectorAll("#licences details[open]")].map(one => one.id));
  const text = JSON.stringify(licences.sessions);
  const empty = make("li", { class: "quiet" }, "Nothing was asked: what has played so far is clear.");
  replace($("licences"), text, ...(licences.sessions.length ? licences.sessions.map(session =>
    make("li", { class: session.state },
      make("p", { class: "what" }, make("b", {}, `Session ${session.number}`), ` · ${session.kids.length} ${session.kids.length === 1 ? "KID" : "KIDs"} of ${session.source}`),
      make("ol", { class: "events" }, ...session.events.map(({ what, detail, after }, at) => {
        const id = `event-${session.number}-${at}`;
        const head = [make("time", {}, `+${after.toFixed(0)} ms `), what];
        return make("li", {}, detail ? make("details", { id, open: open.has(id) }, make("summary", {}, ...head), make("pre", { tabindex: "0" }, detail)) : make("p", {}, ...head));
      })))) : [empty]));
}

export function showFacts(stream) {
  const { video } = stream;
  const quality = video.getVideoPlaybackQuality?.() ?? { totalVideoFrames: 0, droppedVideoFrames: 0 };
  const { buffered } = video;
  let ahead = 0;
  for (let n = 0; n < buffered.length; n += 1) if (buffered.start(n) <= video.currentTime + 0.1 && buffered.end(n) > video.currentTime) ahead = buffered.end(n) - video.currentTime;
  const facts = [
    ["Time", `${clock(video.currentTime)} / ${clock(stream.presentation.duration)}`],
    ["Picture", video.videoWidth ? `${video.videoWidth} × ${video.videoHeight}` : "–"],
    ["Buffer", `${ahead.toFixed(1)} s`],
    ["Throughput", rate(stream.throughput)],
    ["Frames dropped", `${quality.droppedVideoFrames} of ${quality.totalVideoFrames}`],
  ];
  const holder = $("facts");
  if (holder.children.length !== facts.length) holder.replaceChildren(...facts.map(([name]) => make("div", {}, make("dt", {}, name), make("dd"))));
  facts.forEach(([, value], at) => {
    const element = holder.children[at].lastChild;
    if (element.textContent !== value) element.textContent = value;
  });
}

export function showNames({ name, manifests, version }, manifest, choose) {
  $("name").textContent = name;
  document.title = `${name} – lanelock play`;
  $("version").textContent = `lanelock ${version}`;
  const pick = $("manifest");
  pick.replaceChildren(...manifests.map(url => make("option", { value: url, selected: url === manifest }, decodeURIComponent(url.split("/").at(-1).split("?")[0]))));
  $("manifest-pick").hidden = manifests.length < 2;
  pick.addEventListener("change", () => choose(pick.value));
}
