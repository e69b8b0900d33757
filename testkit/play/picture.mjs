// What a screenshot shows: the number of its frame, and how near it is to that frame of the source.
import { readFileSync } from "node:fs";
import { require } from "./programs.mjs";
import { CELLS, RATE, SECONDS, SMALL, clip } from "./sources.mjs";

const { PNG } = require("pngjs");
const FRAME = SMALL.width * SMALL.height * 3;
const WAVES = (FRAME * 3) / 4; // the part above the bar code
const AROUND = 6; // frames before and after, which must be less like it

/** In dB. A frame and the next differ by less than 24; a right picture has more than 30. */
export const ENOUGH = 28;

let source;

export class Picture {
  constructor(screenshot) {
    this.png = PNG.sync.read(screenshot);
  }

  /** The number in the bar code, or null if there is none. */
  number() {
    let number = 0;
    for (let cell = 0; cell < CELLS; cell += 1) {
      const [upper, lower] = [13, 15].map(row => this.#light((cell + 0.5) / CELLS, row / 16));
      if (Math.abs(upper - lower) < 120) return null;
      number = number * 2 + (upper > lower ? 1 : 0);
    }
    return number < RATE * SECONDS ? number : null;
  }

  /** The mean green around a place, as a share of width and height: within a cell by far. */
  #light(x, y) {
    const { width, height, data } = this.png;
    const [left, top, reach] = [Math.round(x * width), Math.round(y * height), 4];
    let sum = 0;
    for (let row = top - reach; row < top + reach; row += 1) {
      for (let column = left - reach; column < left + reach; column += 1) sum += data[(row * width + column) * 4 + 1];
    }
    return sum / (2 * reach) ** 2;
  }

  /** The PSNR against a frame of the source, and the frame nearby that has the best. */
  likeness(number) {
    source ??= readFileSync(clip("frames.rgb"));
    const small = this.#small();
    const near = [];
    for (let at = number - AROUND; at <= number + AROUND; at += 1) {
      if (at >= 0 && at < RATE * SECONDS) near.push([at, psnr(small, source.subarray(at * FRAME, (at + 1) * FRAME))]);
    }
    const [best] = near.reduce((one, other) => (other[1] > one[1] ? other : one));
    return { psnr: near.find(([at]) => at === number)[1], best };
  }

  /** As small as the frames of the source, each pixel a mean. */
  #small() {
    const { width, height, data } = this.png;
    const [across, down] = [width / SMALL.width, height / SMALL.height];
    const small = new Float64Array(FRAME);
    for (let at = 0; at < FRAME; at += 3) {
      const [row, column] = [Math.floor(at / 3 / SMALL.width), (at / 3) % SMALL.width];
      for (let y = 0; y < down; y += 1) {
        for (let x = 0; x < across; x += 1) {
          const pixel = ((row * down + y) * width + column * across + x) * 4;
          for (let colour = 0; colour < 3; colour += 1) small[at + colour] += data[pixel + colour] / (across * down);
        }
      }
    }
    return small;
  }
}

function psnr(one, other) {
  let sum = 0;
  for (let at = 0; at < WAVES; at += 1) sum += (one[at] - other[at]) ** 2;
  return 10 * Math.log10((255 * 255 * WAVES) / sum);
}
