// A PDF of one or more pages, by hand: vectors, and the fonts that every reader of PDF has.

import { layout, widthOf } from "./texlayout.mjs";

const FONTS = ["Times-Roman", "Times-Italic", "Times-BoldItalic", "Symbol", "Helvetica", "Helvetica-Bold"];
const number = (x) => (Math.round(x * 1000) / 1000).toString();

export function pdfText(scenes, palette, title) {
  const objects = [];
  const add = (text) => objects.push(text);
  const pages = scenes.map((_, at) => 4 + FONTS.length + 2 * at);
  add("<< /Type /Catalog /Pages 2 0 R >>");
  add(`<< /Type /Pages /Kids [${pages.map((p) => `${p} 0 R`).join(" ")}] /Count ${pages.length} >>`);
  add(`<< /Title (${latin(title)}) /Producer (pivotree) >>`);
  for (const name of FONTS) {
    const encoding = name === "Symbol" ? "" : " /Encoding /WinAnsiEncoding";
    add(`<< /Type /Font /Subtype /Type1 /BaseFont /${name}${encoding} >>`);
  }
  const fonts = FONTS.map((_, at) => `/F${at} ${4 + at} 0 R`).join(" ");
  scenes.forEach((scene, at) => {
    const [w, h] = [scene.width * 0.75, scene.height * 0.75];
    const stream = contents(scene, palette);
    add(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${number(w)} ${number(h)}] /Resources << /Font << ${fonts} >> >> /Contents ${pages[at] + 1} 0 R >>`,
    );
    add(`<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`);
  });
  let text = "%PDF-1.4\n";
  const offsets = objects.map((object, at) => {
    const here = text.length;
    text += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return here;
  });
  const start = text.length;
  const table = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  return `${text}xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R /Info 3 0 R >>\nstartxref\n${start}\n%%EOF\n`;
}

function contents(scene, palette) {
  const rgb = (c) =>
    [1, 3, 5].map((at) => number(parseInt(palette[c].slice(at, at + 2), 16) / 255)).join(" ");
  const out = [`0.75 0 0 -0.75 0 ${number(scene.height * 0.75)} cm`];
  const path = (item, commands, filled, stroked) => {
    out.push(
      `${filled ? `${rgb(filled)} rg ` : ""}${stroked ? `${rgb(stroked)} RG ${number(item.lw)} w ${item.dash ? "[4 3] 0 d " : "[] 0 d "}` : ""}${commands} ${filled && stroked ? "B" : filled ? "f" : stroked ? "S" : "n"}`,
    );
  };
  for (const item of scene.items) {
    if (item.t === "rect") {
      const box = `${number(item.x)} ${number(item.y)} ${number(item.w)} ${number(item.h)} re`;
      path(item, box, item.c, item.line);
      if (item.hatch) out.push(`q ${box} W n ${rgb(item.hatch)} RG 0.8 w ${stripes(item)} S Q`);
    } else if (item.t === "ellipse") path(item, ellipse(item), item.fill, item.c);
    else if (item.t === "poly") {
      const points = item.points.map(([x, y], at) => `${number(x)} ${number(y)} ${at ? "l" : "m"}`);
      path(item, points.join(" "), null, item.c);
    }
    else if (item.t === "text") {
      const shift = { start: 0, middle: 0.5, end: 1 }[item.anchor ?? "start"];
      const left = item.x - shift * widthOf(item.text, item.size);
      out.push(shown(item.text, left, item.y, item.size, item.bold ? 5 : 4, rgb(item.c)));
    } else out.push(...set(item, rgb(item.c)));
  }
  return out.join("\n");
}

function set(item, colour) {
  const { width, runs } = layout(item.tex, item.size);
  const base = 0.32 * item.size;
  const turn = item.turned ? "0 -1 1 0" : "1 0 0 1";
  return [
    `q ${turn} ${number(item.x)} ${number(item.y)} cm`,
    ...runs.flatMap((run) =>
      [...pieces(run)].map(([text, font, dx]) =>
        shown(text, run.x - width / 2 + dx, run.y + base, run.size, font, colour),
      ),
    ),
    "Q",
  ];
}

// Runs cut where the font changes: Greek and signs come from Symbol.
function* pieces(run) {
  let dx = 0;
  for (const c of run.script ? "M" : run.text) {
    const symbol = { Φ: "F", "′": "\\242", "∞": "\\245", "∑": "\\345" }[c];
    yield [symbol ?? c, symbol ? 3 : run.script ? 2 : run.italic ? 1 : 0, dx];
    dx += widthOf(c, run.size);
  }
}

function shown(text, x, y, size, font, colour) {
  const inside = font === 3 ? text : latin(text);
  return `BT ${colour} rg /F${font} ${number(size)} Tf 1 0 0 -1 ${number(x)} ${number(y)} Tm (${inside}) Tj ET`;
}

// Signs of WinAnsi by their octal codes.
const SIGNS = { ˆ: 210, "˜": 230, "¨": 250, "¯": 257, "−": 226, "–": 226, "·": 267, "×": 327, "…": 205 };

function latin(text) {
  const inside = (c) => (/[()\\]/.test(c) ? `\\${c}` : c.charCodeAt(0) < 127 ? c : "?");
  return [...text].map((c) => (c in SIGNS ? `\\${SIGNS[c]}` : inside(c))).join("");
}

function ellipse({ x, y, rx, ry }) {
  const k = 0.5523;
  const p = (dx, dy) => `${number(x + dx * rx)} ${number(y + dy * ry)}`;
  return `${p(1, 0)} m ${p(1, k)} ${p(k, 1)} ${p(0, 1)} c ${p(-k, 1)} ${p(-1, k)} ${p(-1, 0)} c ${p(-1, -k)} ${p(-k, -1)} ${p(0, -1)} c ${p(k, -1)} ${p(1, -k)} ${p(1, 0)} c`;
}

function stripes({ x, y, w, h }) {
  const lines = [];
  for (let d = -h; d < w; d += 5)
    lines.push(`${number(x + d)} ${number(y + h)} m ${number(x + d + h)} ${number(y)} l`);
  return lines.join(" ");
}
