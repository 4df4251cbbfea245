// Labels set by hand: runs of text with places, the same for the screen, SVG and PNG.

import { atoms } from "./mathml.mjs";

export const SERIF = "'STIX Two Text','Times New Roman',Tinos,'DejaVu Serif',serif";
const ACCENT = { hat: "ˆ", tilde: "˜", ddot: "¨", bar: "¯" };
const known = new Map(); // widths, in parts of the size
let pen = null;

// The width of a text in the font that the page has found.
function widthOf(text, size, italic = false) {
  const key = `${italic} ${text}`;
  if (!known.has(key)) {
    pen ??= document.createElement("canvas").getContext("2d");
    pen.font = `${italic ? "italic " : ""}100px ${SERIF}`;
    known.set(key, pen.measureText(text).width / 100);
  }
  return known.get(key) * size;
}

// { width, runs: [{ x, y, size, text, italic, script }] } from the left end of the baseline.
export function layout(tex, size) {
  const runs = [];
  let x = 0;
  const put = (text, dx, dy, s, more) => runs.push({ x: x + dx, y: dy, size: s, text, ...more });
  for (const a of atoms(tex)) {
    const italic = /^[A-Za-z]+$/.test(a.base) && !a.text;
    const own = widthOf(a.script ? "ℳ" : a.base, size, italic && !a.script);
    put(a.base, 0, 0, size, { italic, script: a.script });
    if (a.accent) {
      const mark = ACCENT[a.accent];
      const lift = /[a-z]/.test(a.base) ? -0.02 : -0.22;
      put(mark, (own - widthOf(mark, size)) / 2 + 0.06 * size, lift * size, size, { mark: true });
    }
    x += own;
    const small = 0.68 * size;
    const gap = /^j/.test(a.sub ?? "") ? 0.1 * size : 0; // its foot reaches to the left
    if (a.sub) put(a.sub, gap, 0.18 * size, small, {});
    if (a.sup) put(a.sup, 0.05 * size, -0.38 * size, small, {});
    x += Math.max(a.sub ? gap + widthOf(a.sub, small) : 0, a.sup ? widthOf(a.sup, small) + 0.05 * size : 0);
  }
  return { width: x, runs };
}
