// Segments, keys and buffer in time, drawn.
import { kidText } from "./bytes.js";

const NEAR = 90; // seconds that are drawn around the place of play
const WHOLE = 240; // a stream of that many seconds is drawn whole at first
const ROW = 40, TOP = 4, BAR = 22, GAP = 4, STRIP = 4, AXIS = 22;
const NAMES = { video: "Video", audio: "Audio", text: "Text", muxed: "Media" };
const WORDS = { idle: "not fetched", fetching: "is being fetched", fetched: "fetched", appended: "in the buffer", failed: "failed" };

export class Timeline {
  constructor(element, { detail, legend, zoom }, video) {
    Object.assign(this, { element, detail, legend, zoom, video, stream: null, chosen: null, near: null, colours: new Map() });
    this.canvas = document.createElement("canvas");
    this.canvas.setAttribute("aria-hidden", "true");
    element.append(this.canvas);
    new ResizeObserver(() => this.draw()).observe(element);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    element.addEventListener("click", event => this.pointed(event, true));
    element.addEventListener("pointermove", event => this.pointed(event, false));
    element.addEventListener("pointerleave", () => { this.hover = null; this.tell(); });
    element.addEventListener("keydown", event => this.key(event));
    zoom.addEventListener("click", ({ target }) => {
      if (!target.dataset.zoom) return;
      this.near = target.dataset.zoom === "near";
      this.draw();
    });
  }

  show(stream) {
    Object.assign(this, { stream, chosen: null, hover: null, near: stream.presentation.duration > WHOLE });
    this.zoom.hidden = stream.presentation.duration <= NEAR;
    this.draw();
  }

  rows() {
    return this.stream?.rows.filter(row => row.track?.segments.length) ?? [];
  }

  /** Each KID has a colour, in the order in which they are met. */
  colour(kid) {
    if (!this.colours.has(kid)) this.colours.set(kid, this.colours.size % 8);
    return this.colours.get(kid);
  }

  window() {
    const { duration } = this.stream.presentation;
    if (!this.near || duration <= NEAR) return [0, duration];
    const from = Math.max(0, Math.min(this.video.currentTime - NEAR / 3, duration - NEAR));
    return [from, from + NEAR];
  }

  draw() {
    const rows = this.rows();
    if (!this.stream || !rows.length) return;
    for (const button of this.zoom.children) button.setAttribute("aria-pressed", String((button.dataset.zoom === "near") === this.near));
    const style = getComputedStyle(this.element), ink = name => style.getPropertyValue(name).trim();
    const left = 52, width = this.element.clientWidth, height = rows.length * ROW + AXIS;
    // Before the page has its layout there is no room.
    if (width < 2 * left || !(this.stream.presentation.duration > 0)) return;
    const ratio = devicePixelRatio, { canvas } = this;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
      [canvas.style.width, canvas.style.height] = [`${width}px`, `${height}px`];
    }
    const [from, to] = this.window();
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = `12px ${style.fontFamily}`;
    context.textBaseline = "middle";
    const x = time => left + ((time - from) / (to - from)) * (width - left - 1);
    this.x = { left, width, from, to };
    rows.forEach((row, at) => {
      const y = at * ROW + TOP;
      context.fillStyle = ink("--quiet");
      context.textAlign = "left";
      context.fillText(NAMES[row.type], 0, y + BAR / 2);
      context.save();
      context.beginPath();
      context.rect(left, 0, width - left, height);
      context.clip();
      for (const segment of row.track.segments) {
        if (segment.end < from || segment.start > to) continue;
        this.cell(context, ink, segment, x(segment.start), x(segment.end), y, row);
      }
      context.fillStyle = ink("--line");
      context.fillRect(left, y + BAR + GAP, width - left, STRIP);
      context.fillStyle = ink("--text");
      const ranges = row.buffer?.buffered;
      for (let n = 0; n < (ranges?.length ?? 0); n += 1) context.fillRect(x(ranges.start(n)), y + BAR + GAP, Math.max(1, x(ranges.end(n)) - x(ranges.start(n))), STRIP);
      context.restore();
    });
    this.axis(context, ink, x, height, rows.length);
    this.explain(rows);
    this.tell();
  }

  cell(context, ink, segment, x0, x1, y, row) {
    const clear = segment.kids.length === 0;
    const colour = segment.state === "failed" ? ink("--error") : clear ? ink("--clear") : ink(`--key-${this.colour(segment.kids[0])}`);
    const wide = x1 - x0, inset = wide > 4 ? 1 : 0, radius = Math.max(0, Math.min(3, wide / 4));
    const box = [x0 + inset, y, Math.max(1, wide - 2 * inset), BAR];
    const held = segment.state === "appended" && (row.type === "text" || this.stream.has(row, segment));
    context.beginPath();
    context.roundRect(...box, radius);
    context.fillStyle = context.strokeStyle = colour;
    context.lineWidth = 1.25;
    if (held || segment.state === "fetched") context.fill();
    else if (segment.state === "failed") {
      context.fill();
      context.strokeStyle = ink("--surface");
      context.lineWidth = 2;
      const middle = (x0 + x1) / 2, size = Math.min(5, wide / 3);
      context.beginPath();
      for (const turn of [-1, 1]) {
        context.moveTo(middle - size, y + BAR / 2 - turn * size);
        context.lineTo(middle + size, y + BAR / 2 + turn * size);
      }
      context.stroke();
    } else {
      context.globalAlpha = segment.state === "fetching" ? 0.55 : segment.state === "appended" ? 0.3 : 0.12;
      context.fill();
      context.globalAlpha = 0.75;
      if (wide > 4) context.stroke();
      context.globalAlpha = 1;
    }
    // Samples of more than one key, or clear ones among the others: the second half has the other colour.
    const second = segment.kids[1] ? ink(`--key-${this.colour(segment.kids[1])}`) : segment.clear && !clear ? ink("--clear") : null;
    if (second && held) {
      context.save();
      context.clip();
      context.fillStyle = second;
      context.fillRect(x0, y + BAR - 7, wide, 7);
      context.restore();
    }
    if (this.chosen === segment || this.hover === segment) {
      context.beginPath();
      context.roundRect(box[0] - 1.5, y - 1.5, box[2] + 3, BAR + 3, radius + 1);
      context.strokeStyle = ink("--text");
      context.lineWidth = 2;
      context.stroke();
    }
  }

  axis(context, ink, x, height, rows) {
    const { left, width, from, to } = this.x;
    const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600];
    const step = steps.find(step => (width - left) / ((to - from) / step) >= 56) ?? 7200;
    context.strokeStyle = ink("--line");
    context.fillStyle = ink("--quiet");
    context.lineWidth = 1;
    for (let time = Math.ceil(from / step) * step; time <= to; time += step) {
      const place = x(time);
      context.beginPath();
      context.moveTo(place, rows * ROW);
      context.lineTo(place, rows * ROW + 4);
      context.stroke();
      context.textAlign = place > width - 16 ? "right" : time === from ? "left" : "center";
      context.fillText(clock(time), Math.min(place, width), rows * ROW + 14);
    }
    const now = x(this.video.currentTime);
    if (now < left || now > width) return;
    context.strokeStyle = ink("--surface");
    context.lineWidth = 4;
    const line = () => {
      context.beginPath();
      context.moveTo(now, 0);
      context.lineTo(now, rows * ROW - 2);
      context.stroke();
    };
    line();
    context.strokeStyle = context.fillStyle = ink("--play");
    context.lineWidth = 2;
    line();
    context.beginPath();
    context.moveTo(now - 5, 0);
    context.lineTo(now + 5, 0);
    context.lineTo(now, 6);
    context.fill();
  }

  explain(rows) {
    const segments = rows.flatMap(row => row.track.segments);
    const kids = [...new Set(segments.flatMap(({ kids }) => kids))];
    const clear = segments.some(segment => segment.kids.length === 0 || segment.clear);
    const entries = [
      ...kids.map(kid => [`key-${this.colour(kid)}`, `KID ${kid.slice(0, 8)}…${kid.slice(-4)}`, kidText(kid)]),
      ...(clear ? [["clear", "clear"]] : []), ["outline", "not in the buffer"],
      ...(segments.some(({ state }) => state === "failed") ? [["failed", "failed"]] : []), ["strip", "what the browser holds"],
    ];
    const key = JSON.stringify(entries);
    if (key === this.explained) return;
    this.explained = key;
    this.legend.replaceChildren(...entries.map(([name, words, title]) => {
      const item = document.createElement("li"), swatch = document.createElement("span");
      swatch.className = `swatch ${name}`;
      item.append(swatch, words);
      if (title) item.title = title;
      return item;
    }));
  }

  pointed(event, play) {
    if (!this.x) return;
    const rows = this.rows(), box = this.element.getBoundingClientRect(), { left, width, from, to } = this.x;
    const row = rows[Math.floor((event.clientY - box.top) / ROW)];
    const time = from + ((event.clientX - box.left - left) / (width - left)) * (to - from);
    if (time < from) return;
    this.hover = row?.track.segments.find(segment => time >= segment.start && time < segment.end) ?? null;
    if (play) {
      this.chosen = this.hover;
      this.video.currentTime = Math.max(0, Math.min(time, this.stream.presentation.duration - 0.05));
    }
    this.draw();
  }

  key(event) {
    const rows = this.rows();
    if (!rows.length) return;
    const at = rows.findIndex(row => row.track.segments.includes(this.chosen));
    const segments = rows[Math.max(0, at)].track.segments;
    const index = segments.indexOf(this.chosen);
    const around = list => list.find(({ end }) => end > (this.chosen?.start ?? this.video.currentTime) + 0.01) ?? list.at(-1);
    if (event.key === "ArrowRight") this.chosen = index < 0 ? around(segments) : segments[Math.min(index + 1, segments.length - 1)];
    else if (event.key === "ArrowLeft") this.chosen = index < 0 ? around(segments) : segments[Math.max(index - 1, 0)];
    else if (event.key === "ArrowDown") this.chosen = around(rows[Math.min(at + 1, rows.length - 1)].track.segments);
    else if (event.key === "ArrowUp") this.chosen = around(rows[Math.max(at - 1, 0)].track.segments);
    else if (event.key === "Enter" && this.chosen) this.video.currentTime = this.chosen.start + 0.01;
    else if (event.key === "Escape") this.chosen = null;
    else return;
    event.preventDefault();
    this.hover = null;
    this.draw();
  }

  tell() {
    const segment = this.hover ?? this.chosen;
    let words = "Point at a segment for what is known of it; a click plays from there.";
    if (segment) {
      const row = this.rows().find(row => row.track.segments.includes(segment));
      const held = segment.state === "appended" && row && row.type !== "text" && !this.stream.has(row, segment);
      const keys = segment.kids.length ? `KID ${segment.kids.map(kidText).join(", ")}${segment.clear ? ", and clear samples" : ""}` : segment.read || segment.clear || !row?.track.scheme ? "clear" : "KID not known yet";
      words = [`Segment ${segment.number} of ${row?.track.id}`, `${segment.start.toFixed(2)} to ${segment.end.toFixed(2)} s`,
        segment.bytes ? `${(segment.bytes / 1000).toFixed(1)} kB` : null, keys, held ? "was removed from the buffer" : WORDS[segment.state]].filter(Boolean).join(" · ");
    }
    if (this.detail.textContent !== words) this.detail.textContent = words;
  }
}

/** Seconds as people write them. */
export function clock(time) {
  const whole = Math.floor(time + 1e-6), parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const shown = parts[0] ? parts : parts.slice(1);
  return shown.map((part, at) => (at ? String(part).padStart(2, "0") : String(part))).join(":");
}
