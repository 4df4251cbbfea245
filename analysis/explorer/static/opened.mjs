// A robot of one's own: a gallery's spec, or a model file that is dropped on the page.  Python behind
// the page reads it and checks it, as it reads every other; a page without Python names the command.

import { asked } from "./asking.mjs";
import { button, h } from "./dom.mjs";
import { drawingDialog } from "./drawing.mjs";
import { download } from "./exporting.mjs";

const MODELS = [".urdf", ".xacro", ".xml", ".json"]; // suffixes of files that hold a model
const COUNTED = /^(chain|star|comb|random_tree):(?:n=)?(\d+)(,.*|)$/; // specs of some number of bodies

// Have a model read and shown in the place of this one: { model } or { name, text }; then ``hash`` is
// the address, where the page asks for the model of its address that which stands there.
async function open(explorer, what, hash = "#tool") {
  const name = what.model ?? what.name;
  if (!explorer.data.served) {
    explorer.say(`Refused: no Python is behind this page to read ${name}; run pivotree explore ${name}`, true);
    return;
  }
  explorer.say(`${name} is read and measured …`);
  const failed = await asked("robot", what);
  if (failed) {
    explorer.say(`Refused: ${failed}`, true);
    return;
  }
  if (hash !== location.hash) history.pushState(null, "", hash);
  location.reload();
}

// Whether the address names another model, which then is asked for.
export function openAddressed(explorer) {
  const model = new URLSearchParams(location.hash.slice(1)).get("model");
  const another = Boolean(model && model !== explorer.data.model && explorer.data.served);
  if (another) open(explorer, { model }, location.hash);
  return another;
}

// A file that was chosen or dropped: an order for this model, or another model.
export async function openFile(explorer, file) {
  const [text, name] = [await file.text(), file.name];
  const known = MODELS.some((suffix) => name.toLowerCase().endsWith(suffix));
  if (!known) explorer.say(`Refused: ${name}: is no ${MODELS.join(", ")} file`, true);
  else if (/\.json$/i.test(name) && !text.includes('"bodies"')) explorer.exports.open(name, text);
  else await open(explorer, { name, text });
}

// What is dropped anywhere on the page is opened.
export function listenForFiles(explorer, signal) {
  const { root } = explorer;
  const files = (event) => event.dataTransfer?.types.includes("Files");
  root.addEventListener("dragover", (event) => files(event) && event.preventDefault(), { signal });
  const drop = (event) => {
    if (!files(event)) return;
    event.preventDefault();
    openFile(explorer, event.dataTransfer.files[0]);
  };
  root.addEventListener("drop", drop, { signal });
}

// A tree that is drawn: Python reads it, or it becomes a file for the command that is told.
function drawn(explorer) {
  const name = "drawn.json";
  const opened = (text) => {
    if (explorer.data.served) open(explorer, { name, text });
    else {
      download(new Blob([text], { type: "application/json" }), name);
      explorer.say(`${name} is written; pivotree explore ${name} opens it, for no Python is behind this page.`);
    }
  };
  return button("Draw a tree", "Draw a tree of bodies, joint by joint", () => {
    explorer.drawing ??= drawingDialog(opened);
    explorer.root.append(explorer.drawing);
    explorer.drawing.showModal();
  });
}

// A robot of one's own: drawn; and where Python is behind the page the model's spec to change, and its
// number of bodies as a slider.
export function robotFields(explorer) {
  const { model } = explorer.data;
  if (!explorer.data.served) return [drawn(explorer)];
  const field = (told, input, ...more) => h("label", { class: "field" }, h("span", {}, told, ...more), input);
  const changed = ({ target }) => target.value.trim() && open(explorer, { model: target.value.trim() });
  const fields = [field("Robot, or drop its file", h("input", { type: "text", value: model, spellcheck: "false", onchange: changed }))];
  fields.push(drawn(explorer));
  const counted = COUNTED.exec(model);
  if (counted) {
    const [, kind, n, rest] = counted;
    const output = h("output", {}, n);
    const told = ({ target }) => (output.textContent = target.value);
    const grown = ({ target }) => open(explorer, { model: `${kind}:${target.value}${rest}` });
    const range = { type: "range", min: "1", max: "40", value: n, oninput: told, onchange: grown };
    fields.push(field("Bodies ", h("input", { ...range, "aria-label": "Number of bodies" }), output));
  }
  return fields;
}
