// Scenes drawn: as SVG text, on a canvas, as TikZ.

import { SERIF, layout } from "./texlayout.mjs";

const SANS = "system-ui,'Segoe UI',Roboto,'DejaVu Sans',sans-serif";
const escaped = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
const round = (x) => Math.round(x * 100) / 100;

// -- SVG ------------------------------------------------------------------------------------------

// ``colour`` turns a name of the palette into CSS.
export function svgText(scene, colour, { standalone = false, title = "" } = {}) {
  const parts = scene.items.map((item) => svgItem(item, colour));
  const hatch = `<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse"><path d="M-1 7L7 -1M-1 1L1 -1M5 7L7 5" stroke="${colour("fillHatch")}" stroke-width="1"/></pattern></defs>`;
  const ground = standalone
    ? `<title>${escaped(title)}</title><rect width="100%" height="100%" fill="${colour("page")}"/>`
    : "";
  const size = standalone ? ` width="${scene.width}" height="${scene.height}"` : "";
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${scene.width} ${scene.height}"${size} aria-hidden="true">${hatch}${ground}${parts.join("")}</svg>`;
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

// -- canvas ---------------------------------------------------------------------------------------

export function paint(context, scene, colour) {
  for (const item of scene.items) {
    context.setLineDash(item.dash ? [4, 3] : []);
    if (item.t === "rect") {
      if (item.c) {
        context.fillStyle = colour(item.c);
        context.fillRect(item.x, item.y, item.w, item.h);
      }
      if (item.hatch) hatched(context, item, colour);
      if (item.line) {
        context.strokeStyle = colour(item.line);
        context.lineWidth = item.lw;
        context.strokeRect(item.x, item.y, item.w, item.h);
      }
    } else if (item.t === "text") {
      context.fillStyle = colour(item.c);
      context.font = `${item.bold ? "600 " : ""}${item.size}px ${SANS}`;
      context.textAlign = { start: "left", middle: "center", end: "right" }[item.anchor ?? "start"];
      context.fillText(item.text, item.x, item.y);
    } else if (item.t === "tex") paintTex(context, item, colour);
    else {
      context.strokeStyle = colour(item.c);
      context.lineWidth = item.lw;
      context.beginPath();
      if (item.t === "ellipse") context.ellipse(item.x, item.y, item.rx, item.ry, 0, 0, 2 * Math.PI);
      if (item.t === "poly") item.points.forEach(([x, y], at) => context[at ? "lineTo" : "moveTo"](x, y));
      if (item.fill) {
        context.fillStyle = colour(item.fill);
        context.fill();
      }
      context.stroke();
    }
  }
}

function hatched(context, { x, y, w, h }, colour) {
  context.save();
  context.beginPath();
  context.rect(x, y, w, h);
  context.clip();
  context.beginPath();
  for (let d = -h; d < w; d += 5) {
    context.moveTo(x + d, y + h);
    context.lineTo(x + d + h, y);
  }
  context.strokeStyle = colour("fillHatch");
  context.lineWidth = 0.8;
  context.stroke();
  context.restore();
}

function paintTex(context, item, colour) {
  const { width, runs } = layout(item.tex, item.size);
  context.save();
  context.translate(item.x, item.y);
  if (item.turned) context.rotate(-Math.PI / 2);
  context.fillStyle = colour(item.c);
  context.textAlign = "left";
  for (const run of runs) {
    context.font = `${run.italic ? "italic " : ""}${run.size}px ${SERIF}`;
    context.fillText(run.script ? "ℳ" : run.text, run.x - width / 2, run.y + 0.32 * item.size);
  }
  context.restore();
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
