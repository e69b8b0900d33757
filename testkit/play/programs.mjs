// Where things are, and how other programs are called.
import { execFile, execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const HERE = path.dirname(fileURLToPath(import.meta.url));
export const ROOT = path.resolve(HERE, "../..");
export const CACHE = path.join(ROOT, ".cache/play");
export const MODULES = path.join(CACHE, "node_modules");

/** Of the packages that tools/setup installed outside of the tree. */
export const require = createRequire(path.join(CACHE, "package.json"));

/** What is wrong with a case, a program or an argument, and not with this test itself. */
export class Problem extends Error {}

/** Runs a program and gives its output; fails with what it said. */
export function run(program, args, { binary = false, env = {} } = {}) {
  return new Promise((resolve, reject) => {
    const options = { encoding: binary ? "buffer" : "utf8", maxBuffer: 1 << 28, env: { ...process.env, ...env } };
    execFile(program, args, options, (error, stdout, stderr) => {
      if (!error) return resolve(stdout);
      const said = String(stderr).trim().split("\n").slice(-8).join("\n");
      reject(new Problem(`${program} failed: ${said || error.message}\n  ${[program, ...args].join(" ")}`));
    });
  });
}

function on_path(name) {
  const folders = (process.env.PATH ?? "").split(path.delimiter);
  return folders.map(folder => path.join(folder, name)).find(existsSync);
}

/** The program that a variable names, or the one in its usual place. */
function find(variable, usual) {
  const found = process.env[variable] ?? usual;
  if (!found || !existsSync(found)) throw new Problem(`there is no ${found ?? variable.toLowerCase()}; ${variable} may name one`);
  return found;
}

export const programs = {
  chromium: () => find("CHROMIUM", on_path("chromium")),
  ffmpeg: () => find("FFMPEG", on_path("ffmpeg")),
  shaka: () => find("SHAKA_PACKAGER", path.join(ROOT, ".cache/bin/packager")),
  lanelock: () => find("LANELOCK", path.join(process.env.CARGO_TARGET_DIR ?? path.join(ROOT, "target"), "release/lanelock")),
};

/** What was used, for the report. */
export function versions(packager) {
  const { packages } = JSON.parse(readFileSync(path.join(HERE, "package-lock.json"), "utf8"));
  const version = name => packages[`node_modules/${name}`].version;
  const first = (program, ...args) => {
    const text = execFileSync(program, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    return /v?(\d+\.\d+[\w.]*)/.exec(text)[1];
  };
  const names = { shaka: "Shaka Packager", lanelock: "Lanelock" };
  return {
    [names[packager]]: first(programs[packager](), "--version"),
    Chromium: first(programs.chromium(), "--version"),
    "Shaka Player": version("shaka-player"),
    "dash.js": version("dashjs"),
    "hls.js": version("hls.js"),
  };
}
