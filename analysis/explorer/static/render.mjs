// Scenes drawn: as SVG text, as TikZ.

import { SERIF, layout } from "./texlayout.mjs";

const SANS = "system-ui,'Segoe UI',Roboto,'DejaVu Sans',sans-serif";
const MANY = 1500; // items of a picture, beyond which rectangles are drawn together
const escaped = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
const round = (x) => Math.round(x * 100) / 100;

// -- SVG ------------------------------------------------------------------------------------------

// ``colour`` turns a name of the palette into CSS.
export function svgText({ width, height, items }, colour, { standalone = false, title = "" } = {}) {
  return svgOf(width, height, drawnItems(items, colour), colour, { standalone, title });
}

// A film: scenes of one size, each seen for a while, again and again.
export function filmText(scenes, colour, title, seconds = 1) {
  const [{ width, height }] = scenes;
  const frames = scenes.map(({ items }, at) => {
    const [from, to] = [at, at + 1].map((k) => k / scenes.length);
    const times = at ? `0;${from};${to}` : `0;${to}`;
    const seen = at ? "0;1;0" : "1;0";
    return `<g opacity="0"><animate attributeName="opacity" values="${seen}" keyTimes="${times}" calcMode="discrete" dur="${scenes.length * seconds}s" repeatCount="indefinite"/>${drawnItems(items, colour)}</g>`;
  });
  return svgOf(width, height, frames.join(""), colour, { standalone: true, title });
}

function svgOf(width, height, inside, colour, { standalone, title }) {
  const hatch = `<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse"><path d="M-1 7L7 -1M-1 1L1 -1M5 7L7 5" stroke="${colour("fillHatch")}" stroke-width="1"/></pattern></defs>`;
  const ground = standalone
    ? `<title>${escaped(title)}</title><rect width="100%" height="100%" fill="${colour("page")}"/>`
    : "";
  const size = standalone ? ` width="${width}" height="${height}"` : "";
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}"${size} aria-hidden="true">${hatch}${ground}${inside}</svg>`;
}

// Items as SVG; of many, plain rectangles that follow each other are one path a colour.
function drawnItems(items, colour) {
  if (items.length < MANY) return items.map((item) => svgItem(item, colour)).join("");
  const parts = [];
  const run = new Map();
  const flush = () => {
    for (const [c, places] of run) parts.push(`<path d="${places.join("")}" fill="${colour(c)}"/>`);
    run.clear();
  };
  for (const item of items) {
    if (item.t === "rect" && item.c && !item.line && !item.hatch) {
      if (!run.has(item.c)) run.set(item.c, []);
      run.get(item.c).push(`M${round(item.x)} ${round(item.y)}h${round(item.w)}v${round(item.h)}h${-round(item.w)}z`);
    } else {
      flush();
      parts.push(svgItem(item, colour));
    }
  }
  flush();
  return parts.join("");
}

function svgItem(item, colour) {
  const stroke = (c, lw) =>
    c ? ` stroke="${colour(c)}" stroke-width="${lw}"${item.dash ? ' stroke-dasharray="4 3"' : ""}` : "";
  if (item.t === "rect") {
    const place = `x="${round(item.x)}" y="${round(item.y)}" width="${round(item.w)}" height="${round(item.h)}"`;
    const fill = item.c ? colour(item.c) : "none";
    const hatch = item.hatch ? `<rect ${place} fill="url(#hatch)"/>` : "";
    return `<rect ${place} fill="${fill}"${stroke(item.line, item.lw)}/>${hatch}`;
  }
  if (item.t === "ellipse")
    return `<ellipse cx="${round(item.x)}" cy="${round(item.y)}" rx="${round(item.rx)}" ry="${round(item.ry)}" fill="${item.fill ? colour(item.fill) : "none"}"${stroke(item.c, item.lw)}/>`;
  if (item.t === "poly")
    return `<polyline points="${item.points.map(([x, y]) => `${round(x)},${round(y)}`).join(" ")}" fill="none"${stroke(item.c, item.lw)} stroke-linejoin="round" stroke-linecap="round"/>`;
  if (item.t === "text")
    return `<text x="${round(item.x)}" y="${round(item.y)}" font-family="${SANS}" font-size="${item.size}" fill="${colour(item.c)}" text-anchor="${item.anchor ?? "start"}"${item.bold ? ' font-weight="600"' : ""}>${struckOut(item)}</text>`;
  const { width, runs } = layout(item.tex, item.size);
  const turn = item.turned ? ` transform="rotate(-90 ${round(item.x)} ${round(item.y)})"` : "";
  const [x, y] = [item.x - width / 2, item.y + 0.32 * item.size];
  const texts = runs.map(
    (run) =>
      `<tspan x="${round(x + run.x)}" y="${round(y + run.y)}" font-size="${round(run.size)}"${run.italic ? ' font-style="italic"' : ""}>${escaped(run.script ? "ℳ" : run.text)}</tspan>`,
  );
  return `<text font-family="${SERIF}" fill="${colour(item.c)}"${turn}>${texts.join("")}</text>`;
}

// A text whose last letters may be struck out.
function struckOut({ text, struck }) {
  const end = text.length - (struck ?? 0);
  const last = struck ? `<tspan class="struck" text-decoration="line-through">${escaped(text.slice(end))}</tspan>` : "";
  return escaped(text.slice(0, end)) + last;
}

// -- TikZ -----------------------------------------------------------------------------------------

export function tikzText(scene, palette, { title = "" } = {}) {
  const used = [
    ...new Set(scene.items.flatMap((item) => [item.c, item.line, item.fill, item.hatch]).filter(Boolean)),
  ];
  const at = (x, y) => `(${round(x)},${round(y)})`;
  const lines = [
    `% ${title.replaceAll("\n", " ")}`,
    "% needs \\usepackage{tikz} and \\usetikzlibrary{patterns}",
  ];
  for (const name of used) lines.push(`\\definecolor{pt${name}}{HTML}{${palette[name].slice(1)}}`);
  lines.push("\\begin{tikzpicture}[x=0.75pt,y=-0.75pt]");
  for (const item of scene.items) {
    const draw = item.line ?? (item.t === "rect" ? null : item.c);
    const style = [
      item.t === "rect" && item.c && `fill=pt${item.c}`,
      item.fill && `fill=pt${item.fill}`,
      draw && `draw=pt${draw},line width=${round(0.75 * item.lw)}pt`,
      item.dash && "dashed",
    ].filter(Boolean);
    if (item.t === "rect") {
      const corners = `${at(item.x, item.y)} rectangle ${at(item.x + item.w, item.y + item.h)};`;
      lines.push(`\\path[${style}] ${corners}`);
      if (item.hatch) lines.push(`\\path[pattern=north east lines,pattern color=pt${item.hatch}] ${corners}`);
    } else if (item.t === "ellipse")
      lines.push(
        `\\path[${style}] ${at(item.x, item.y)} ellipse [x radius=${round(item.rx)},y radius=${round(item.ry)}];`,
      );
    else if (item.t === "poly")
      lines.push(`\\path[${style}] ${item.points.map(([x, y]) => at(x, y)).join(" -- ")};`);
    else {
      const anchor = { start: "base west", middle: "base", end: "base east" }[item.anchor ?? "start"];
      const size = `font=\\fontsize{${round(0.75 * item.size)}}{${round(0.9 * item.size)}}\\selectfont,text=pt${item.c}`;
      const inside =
        item.t === "tex"
          ? `$${item.tex.replaceAll("\\text{", "\\mathrm{").replaceAll("∞", "\\infty")}$`
          : item.text.replace(/[\\#$%&_{}^~]/g, "\\$&");
      const more = item.t === "tex" ? (item.turned ? ",rotate=90" : "") : `,anchor=${anchor}`;
      lines.push(`\\node[${size},inner sep=0pt${more}] at ${at(item.x, item.y)} {${inside}};`);
    }
  }
  return `${lines.join("\n")}\n\\end{tikzpicture}\n`;
}
