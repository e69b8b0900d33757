// tools/play FOLDER KEYS: serves a stream, the keys and a page that plays it, on 127.0.0.1.
import { readFileSync } from "node:fs";
import path from "node:path";
import { Server } from "./server.mjs";

const [folder, file] = process.argv.slice(2);
// Lines [SELECTOR=]KID:KEY, as in the key files of the command.
const lines = [...readFileSync(file, "utf8").matchAll(/^(?:\S+=)?([0-9a-f-]{32,36}):([0-9a-f]{32})\s*$/gim)];
const keys = new Map(lines.map(([, kid, key]) => [kid.replaceAll("-", "").toLowerCase(), key]));
const server = await new Server().start();
server.add("demo", path.resolve(folder), keys);
console.log(`open ${server.origin}/case/demo/watch   (Ctrl-C ends it)`);
