// Labels set by hand: runs of text with places, the same for the screen, SVG and PNG.

import { atoms } from "./mathml.mjs";

// Widths of letters in parts of the size, of those that are not half as wide as high.
const WIDTHS = {
  0.25: "′,",
  0.3: "f",
  0.33: "I()",
  0.44: "J",
  0.58: "−",
  0.61: "RBE",
  0.67: "C",
  0.72: "mHDG",
  0.76: "Φ",
  0.83: "M",
};
const WIDE = new Map(Object.entries(WIDTHS).flatMap(([width, all]) => [...all].map((c) => [c, Number(width)])));
const ACCENT = { hat: "ˆ", tilde: "˜", ddot: "¨", bar: "¯" };

function widthOf(text, size) {
  let width = 0;
  for (const c of text) width += WIDE.get(c) ?? 0.5;
  return width * size;
}

// { width, runs: [{ x, y, size, text, italic, script }] } from the left end of the baseline.
export function layout(tex, size) {
  const runs = [];
  let x = 0;
  const put = (text, dx, dy, s, more) => runs.push({ x: x + dx, y: dy, size: s, text, ...more });
  for (const a of atoms(tex)) {
    const own = widthOf(a.base, size);
    const letters = /^[A-Za-z]+$/.test(a.base) && !a.text;
    put(a.base, 0, 0, size, { italic: letters, script: a.script });
    if (a.accent) {
      const mark = ACCENT[a.accent];
      const lift = /[a-z]/.test(a.base) ? -0.02 : -0.22;
      put(mark, own / 2 - 0.333 * size * 0.5 + 0.06 * size, lift * size, size, { mark: true });
    }
    x += own;
    const small = 0.68 * size;
    const gap = /^j/.test(a.sub ?? "") ? 0.1 * size : 0; // its foot reaches to the left
    if (a.sub) put(a.sub, gap, 0.18 * size, small, {});
    if (a.sup) put(a.sup, 0.05 * size, -0.38 * size, small, {});
    x += Math.max(gap + widthOf(a.sub ?? "", small), widthOf(a.sup ?? "", small) + (a.sup ? 0.05 * size : 0));
  }
  return { width: x, runs };
}
