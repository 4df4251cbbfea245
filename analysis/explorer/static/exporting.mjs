// The current step, or a range of steps, as SVG, PNG, a film, TikZ or JSON.

import { sceneOf } from "./board.mjs";
import { text } from "./scene.mjs";
import { filmText, svgText, tikzText } from "./render.mjs";

const SIDE = 560;
const GAP = 24;
export const KINDS_OF_FILE = ["svg", "png", "film", "tikz", "json"];

// Scenes of steps first..last, each with its title.
function scenes(session, look, first, last) {
  const now = session.engine.step;
  const result = [];
  session.jump(first);
  for (let step = first; step <= last; step++) {
    if (session.jump(step)) break;
    const { engine } = session;
    const scene = sceneOf(session, look, SIDE);
    const title = `${session.data.model}, ${session.title}: step ${step}, fill ${engine.fill}`;
    const items = scene.items.map((item) => moved(item, 0, 26));
    items.unshift(text(SIDE / 2, 17, title, 13, { anchor: "middle", bold: true }));
    result.push({ width: SIDE, height: SIDE + 26, items, title });
  }
  session.jump(now);
  return result;
}

function moved(item, dx, dy) {
  if (item.points) return { ...item, points: item.points.map(([x, y]) => [x + dx, y + dy]) };
  return { ...item, x: item.x + dx, y: item.y + dy };
}

function stacked(all) {
  if (all.length === 1) return all[0];
  const height = all[0].height + GAP;
  return {
    width: all[0].width,
    height: height * all.length - GAP,
    items: all.flatMap((scene, at) => scene.items.map((item) => moved(item, 0, at * height))),
  };
}

// The order as --order takes it, with what each step did.
export function orderDocument(session, first = 1, last = session.engine.step) {
  const { engine } = session;
  const counts = session.model.counts();
  const lost = (record) => session.model.lostBy(record)?.digits;
  return {
    schema: "pivotree-order/1",
    model: session.data.model,
    name: session.title,
    complete: engine.done,
    links: session.form.links,
    rules: session.form.rules,
    groups: session.named(),
    steps: engine.steps.slice(Math.max(0, first - 1), last).map((record) => ({
      step: record.step,
      blocks: session.named([record.members])[0],
      fill: record.fill.map((key) => engine.ends(key).map((b) => engine.graph.name(b))),
      operations: counts && counts[record.step] - counts[record.step - 1],
      dense_operations: Math.round(record.flops),
      digits_lost: Number.isFinite(lost(record)) ? Number(lost(record).toFixed(2)) : null,
    })),
  };
}

// A Blob of the file, and its name.
export async function exported(session, look, palette, kind, first, last) {
  const range = first === last ? first : `${first}-${last}`;
  const stem = `${session.data.model}-${session.title}-${range}`.replace(/[^A-Za-z0-9]+/g, "_");
  const title = `${session.data.model}, ${session.title}, steps ${first} to ${last}`;
  const file = (content, type, ending = kind) => [new Blob([content], { type }), `${stem}.${ending}`];
  if (kind === "json")
    return file(`${JSON.stringify(orderDocument(session, first, last), null, 1)}\n`, "application/json");
  const all = scenes(session, look, first, last);
  const colour = (name) => palette[name];
  if (kind === "tikz") {
    const pages = all.map((scene) => tikzText(scene, palette, { title: scene.title }));
    return file(pages.join("\n"), "text/x-tex", "tex");
  }
  if (kind === "film") return file(filmText(all, colour, title), "image/svg+xml", "film.svg");
  const scene = stacked(all);
  const drawn = svgText(scene, colour, { standalone: true, title });
  return kind === "svg" ? file(drawn, "image/svg+xml") : [await bitmap(scene, drawn), `${stem}.png`];
}

// A picture of an SVG, three times as fine where a browser allows so many pixels.
async function bitmap({ width, height }, drawn) {
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([drawn], { type: "image/svg+xml" }));
  await image.decode();
  const ratio = Math.min(3, 16000 / height);
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width * ratio, Math.round(height * ratio)];
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

export function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
