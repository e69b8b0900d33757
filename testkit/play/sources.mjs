// The clear clips, made once by ffmpeg: pictures that carry their own number, two languages, captions.
//
// The lower quarter of a picture is a bar code: ten cells, the bits of the frame number with the highest
// first, white for 1; below each cell is its opposite, so that no flat or garbled picture is a number. The
// rest are large moving waves, so that a screenshot, which goes through scaling and colour conversion, is
// still much nearer to its own frame than to the one before or after.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { CACHE, programs, run } from "./programs.mjs";

export const RATE = 25; // frames in a second
export const SECONDS = 12;
export const SEGMENT = 2; // seconds from sync sample to sync sample
export const CELLS = 10; // bits of a frame number
export const WIDTHS = { 360: 640, 180: 320 };
export const LANGUAGES = { en: "eng", de: "deu" };
export const VIDEO = ["avc", "av1", "vp9"];
export const UNPLAYABLE = "hevc";
export const AUDIO = ["aac", "opus"];

/** Frames to compare with are this large. */
export const SMALL = { width: 160, height: 90 };

const FOLDER = path.join(CACHE, "sources");
// Changes when what is made here changes, so that old clips are made again.
const RECIPE = "3";

export const clip = name => path.join(FOLDER, name);

/** The text of the caption that is shown at a time. */
export const caption = time => `Caption ${Math.floor(time / SEGMENT)}`;

export async function make_sources() {
  const stamp = clip("recipe");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === RECIPE) return;
  mkdirSync(FOLDER, { recursive: true });
  await picture_master();
  // One after the other: the encoders use all cores.
  for (const codec of [...VIDEO, UNPLAYABLE]) {
    for (const height of Object.keys(WIDTHS)) await video(codec, height);
  }
  for (const codec of AUDIO) {
    for (const [language, code] of Object.entries(LANGUAGES)) await audio(codec, language, code);
  }
  await frames();
  captions();
  writeFileSync(stamp, RECIPE);
}

async function ffmpeg(out, ...args) {
  const part = `${out}.part`;
  await run(programs.ffmpeg(), ["-v", "error", "-nostdin", "-y", ...args, part], { env: { SVT_LOG: "1" } });
  renameSync(part, out);
}

async function picture_master() {
  const bit = `bitand(floor(N/pow(2,${CELLS - 1}-floor(X*${CELLS}/W))),1)`;
  const code = `if(eq(${bit},lt(Y,H*7/8)),235,16)`;
  const waves = "126+60*sin(X/W*12+N/3)+45*sin(Y/H*9-N/4)";
  const luma = `if(gte(Y,H*3/4),${code},${waves})`;
  const colour = phase => `if(gte(Y,H*3/4),128,128+70*sin(X/W*5+Y/H*3+${phase}))`;
  const geq = `geq=lum='${luma}':cb='${colour("N/5")}':cr='${colour("2-N/6")}'`;
  const size = `color=c=black:s=${WIDTHS[360]}x360:r=${RATE}:d=${SECONDS}`;
  await ffmpeg(
    clip("master.mkv"), "-f", "lavfi", "-i", `${size},format=yuv420p,${geq},setparams=range=tv:colorspace=bt709`,
    ...BT709, "-c:v", "libx264", "-preset", "ultrafast", "-qp", "0", "-f", "matroska",
  );
}

// Without this, a player guesses by the size of the picture, and its guess is not that of ffmpeg.
const BT709 = ["-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709", "-color_range", "tv"];

async function video(codec, height) {
  const gop = String(RATE * SEGMENT);
  const rate = { 360: "600k", 180: "250k" }[height];
  const encoder = {
    avc: ["libx264", "-preset", "veryfast", "-b:v", rate, "-keyint_min", gop, "-sc_threshold", "0"],
    av1: ["libsvtav1", "-preset", "12", "-b:v", rate],
    hevc: ["libx265", "-preset", "ultrafast", "-b:v", rate, "-tag:v", "hvc1",
      "-x265-params", `log-level=error:scenecut=0:min-keyint=${gop}`],
    vp9: ["libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-b:v", rate, "-keyint_min", gop],
  }[codec];
  await ffmpeg(
    clip(`${codec}_${height}.mp4`), "-i", clip("master.mkv"), "-vf", `scale=${WIDTHS[height]}:${height}:flags=area`,
    "-pix_fmt", "yuv420p", "-c:v", ...encoder, "-g", gop, ...BT709, "-f", "mp4",
  );
}

/** A tone of its own for each language. */
async function audio(codec, language, code) {
  const tone = `sine=frequency=${{ en: 440, de: 660 }[language]}:sample_rate=48000:duration=${SECONDS}`;
  const encoder = { aac: ["aac"], opus: ["libopus"] }[codec];
  await ffmpeg(
    clip(`${codec}_${language}.mp4`), "-f", "lavfi", "-i", tone, "-ac", "2", "-c:a", ...encoder, "-b:a", "96k",
    "-metadata:s:a:0", `language=${code}`, "-f", "mp4",
  );
}

/** All pictures, small, as RGB. */
async function frames() {
  const scale = `scale=${SMALL.width}:${SMALL.height}:flags=area:in_color_matrix=bt709:in_range=tv`;
  await ffmpeg(clip("frames.rgb"), "-i", clip("master.mkv"), "-vf", scale, "-pix_fmt", "rgb24", "-f", "rawvideo");
}

/** One caption for each segment, as long as it. */
function captions() {
  const stamp = seconds => `00:00:${String(seconds).padStart(2, "0")}.000`;
  const cues = Array.from({ length: SECONDS / SEGMENT }, (_, number) => {
    const start = number * SEGMENT;
    return `${stamp(start)} --> ${stamp(start + SEGMENT)}\n${caption(start)}\n`;
  });
  writeFileSync(clip("subs_en.vtt"), `WEBVTT\n\n${cues.join("\n")}`);
}
