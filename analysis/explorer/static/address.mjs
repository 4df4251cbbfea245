// All that is seen, in the address: #model=chain:3&order=abm@2&format=bfloat16&beside=crbm@6 ...

import { FORMATS } from "./arithmetic.mjs";
import { LAYOUTS } from "./scene.mjs";

// Left as they are, for they mean nothing in a fragment.
const plain = (text) => encodeURIComponent(text).replace(/%(3A|40|2C|3B|3D|2F)/g, decodeURIComponent);

// What stands in the address: of usual settings nothing.  Steps, sliders and the view move on in place;
// all else is one more entry of the browser's history.
export function addressOf(explorer) {
  const { session, look, boards, data } = explorer;
  const { zoom = 1, centre = [0, 0] } = look;
  const frame = data.frames && data.frames.frames.indexOf(session.frame);
  const lasting = [
    ["model", data.model],
    ["order", session.code],
    ...boards.mirrors.map((board) => ["beside", board.session.code.replace(/@\d+$/, "")]),
    session.format === explorer.usual.format ? null : ["format", session.format],
    look.order === explorer.usual.rows ? null : ["rows", look.order],
    look.heat ? ["heat", "1"] : null,
    look.folded.length ? ["fold", look.folded.join(",")] : null,
    session.names === explorer.usual.names ? null : ["names", session.names ? "1" : "0"],
  ].filter(Boolean);
  const moving = [];
  if (session.frame) {
    const tilts = data.frames.tilt.length;
    moving.push(["ratio", data.frames.ratio[Math.floor(frame / tilts)]], ["tilt", data.frames.tilt[frame % tilts]]);
  }
  if (zoom > 1) moving.push(["zoom", [zoom, ...centre.map((x) => x.toFixed(2))].join(",")]);
  const written = (pairs) => pairs.map(([key, value]) => `${key}=${plain(value)}`).join("&");
  return { hash: `#${written([...lasting, ...moving])}`, lasting: written(lasting).replace(/@\d+/, "") };
}

// What an address says: { code, beside, format, rows, heat, names, folded, frame, zoom, centre, unknown }, where
// ``unknown`` lists what this page does not have.
export function readAddress(text, { data, usual }) {
  const said = new URLSearchParams(text.replace(/^#/, ""));
  const unknown = [];
  const one = (key, allowed, rest) => {
    const value = said.get(key);
    if (value === null || allowed.includes(value)) return value ?? rest;
    unknown.push(`${key} ${value}`);
    return rest;
  };
  const model = one("model", [data.model], data.model);
  const read = {
    model,
    code: said.get("order"),
    beside: said.getAll("beside"),
    format: one("format", data.entries ? Object.keys(FORMATS) : [usual.format], usual.format),
    rows: one("rows", Object.keys(LAYOUTS), usual.rows),
    heat: one("heat", ["0", "1"], "0") === "1",
    names: one("names", ["0", "1"], usual.names ? "1" : "0") === "1",
    folded: (said.get("fold") ?? "").split(",").filter(Boolean).map(Number),
    frame: null,
    zoom: 1,
    centre: [0, 0],
    unknown,
  };
  const limbs = read.folded.filter((k) => Number.isInteger(k) && k >= 0 && k < data.bodies);
  if (limbs.length < read.folded.length) unknown.push(`fold ${said.get("fold")}`);
  read.folded = limbs;
  if (said.has("ratio") && data.frames) {
    const { ratio, tilt, frames } = data.frames;
    const r = one("ratio", ratio.map(String), String(ratio[0]));
    const t = one("tilt", tilt.map(String), String(tilt[0]));
    read.frame = frames[ratio.map(String).indexOf(r) * tilt.length + tilt.map(String).indexOf(t)];
  }
  const [zoom, ...centre] = (said.get("zoom") ?? "1").split(",").map(Number);
  if (zoom >= 1 && zoom <= 8) Object.assign(read, { zoom, centre: [centre[0] || 0, centre[1] || 0] });
  return read;
}
