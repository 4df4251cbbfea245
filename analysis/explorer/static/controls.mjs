// The page's controls: orders, formats, theme, sliders of the examples, the buttons of the steps.

import { button, h, select } from "./dom.mjs";
import { LAYOUTS } from "./scene.mjs";
import { FORMATS } from "./arithmetic.mjs";

// Each function takes the explorer that it steers, and gives nodes.

export function themeButton(explorer) {
  const next = { auto: "dark", dark: "light", light: "auto" };
  const sign = { auto: "◐", dark: "●", light: "○" };
  const made = button(sign.auto, "Theme: as the system", () => {
    const theme = next[explorer.root.dataset.theme];
    explorer.root.dataset.theme = theme;
    made.textContent = sign[theme];
    made.title = `Theme: ${theme === "auto" ? "as the system" : theme}`;
    made.setAttribute("aria-label", made.title);
    explorer.draw();
  });
  return made;
}

export class Controls {
  constructor(explorer) {
    const { data, session, look } = explorer;
    const orders = data.orders.map((order) => [order.name, order.name]);
    const own = [
      ["/whole", "your own"],
      ["/split", "your own, forces split"],
    ];
    this.order = select("Order", [...orders, ...own], session.name || "/whole", (name) =>
      explorer.choose(name),
    );
    this.beside = select("Beside it", [["", "add an order…"], ...orders], "", (name) => {
      this.beside.list.value = "";
      if (name) explorer.beside(name);
    });
    this.rows = select("Rows", Object.entries(LAYOUTS), look.order, (order) => {
      look.order = order;
      explorer.draw();
    });
    const formats = Object.keys(FORMATS).map((name) => [name, name]);
    this.format = select("Format", formats, session.format, (name) =>
      explorer.rebuild(name, explorer.session.frame),
    );
    this.heat = h("input", {
      type: "checkbox",
      onchange: (event) => {
        look.heat = event.target.checked;
        explorer.draw();
      },
    });
    const named = h("input", {
      type: "checkbox",
      onchange: (event) => explorer.named(event.target.checked),
    });
    named.checked = session.names;
    const fields = [this.order.node, this.beside.node, this.rows.node];
    if (data.entries)
      fields.push(this.format.node, h("label", { class: "check" }, this.heat, " digits lost as heat"));
    if (data.bodies <= 13) fields.push(h("label", { class: "check" }, named, " names of bodies"));
    if (data.frames) fields.push(...sliders(explorer));
    this.node = h("div", { class: "controls" }, ...fields);
  }

  draw(session) {
    this.order.list.value = session.seen?.name ?? (session.form.split ? "/split" : "/whole");
    this.format.list.value = session.format;
  }
}

// Mass ratio and tilt: their frames are in the document.
function sliders(explorer) {
  const { ratio, tilt, frames } = explorer.data.frames;
  const power = (x) => (x >= 1e4 ? x.toExponential(0).replace("e+", "e") : String(x));
  const inputs = [
    ["Mass ratio", ratio, power],
    ["Tilt", tilt, (x) => `${x}°`],
  ].map(([label, values, text]) => {
    const output = h("output", {}, "as given");
    const input = h("input", {
      type: "range",
      min: "0",
      max: String(values.length - 1),
      step: "1",
      "aria-label": label,
    });
    input.value = "0";
    return {
      input,
      output,
      values,
      text,
      node: h("label", { class: "field" }, h("span", {}, label, " ", output), input),
    };
  });
  const change = () => {
    const [r, t] = inputs.map(({ input }) => Number(input.value));
    for (const { input, output, values, text } of inputs) {
      output.textContent = text(values[input.value]);
      input.setAttribute("aria-valuetext", output.textContent);
    }
    explorer.rebuild(
      explorer.session.format,
      frames[r * tilt.length + t],
      `Mass ratio ${inputs[0].output.textContent}, tilt ${inputs[1].output.textContent}.`,
    );
  };
  for (const { input } of inputs) input.addEventListener("input", change);
  return inputs.map(({ node }) => node);
}

export class Transport {
  constructor(explorer) {
    const b = (text, title, does) => button(text, title, () => explorer.act(does));
    this.slider = h("input", {
      type: "range",
      min: "0",
      max: "0",
      value: "0",
      "aria-label": "Step",
      oninput: (event) => explorer.jump(Number(event.target.value)),
    });
    this.counter = h("output", { class: "counter" });
    this.buttons = {
      start: b("Start", "To the start (Home)", "start"),
      undo: b("Undo", "Undo (U)", "undo"),
      redo: b("Redo", "Redo (R)", "redo"),
      step: b("Step", "Next step of the order (N)", "step"),
      play: b("Play", "Play (P)", "play"),
      end: b("End", "To the end of the order (End)", "end"),
      bracket: b("( Open bracket", "Open bracket (B)", "bracket"),
      cancel: b("×", "Leave the bracket (Escape)", "cancel"),
      finish: b("Finish", "Finish: eliminate what is left, tip to base (F)", "finish"),
    };
    const { start, undo, redo, step, play, end, bracket, cancel, finish } = this.buttons;
    this.node = h(
      "div",
      { class: "transport", role: "group", "aria-label": "Steps" },
      start,
      undo,
      redo,
      step,
      play,
      end,
      this.slider,
      this.counter,
      bracket,
      cancel,
      finish,
    );
  }

  draw(session, playing) {
    const { engine, model, length } = session;
    const { slider, counter, buttons } = this;
    slider.max = String(length);
    slider.value = String(engine.step);
    slider.setAttribute("aria-valuetext", `step ${engine.step} of ${length}`);
    counter.textContent = `step ${engine.step} of ${length} · fill ${engine.fill} · ${session.cost}`;
    const pending = session.pending !== null;
    buttons.bracket.textContent = pending ? `) Close bracket of ${session.pending.length}` : "( Open bracket";
    buttons.bracket.setAttribute("aria-pressed", String(pending));
    buttons.bracket.title = pending ? `Close bracket of ${session.pending.length} (B)` : "Open bracket (B)";
    buttons.bracket.setAttribute("aria-label", buttons.bracket.title);
    buttons.play.textContent = playing ? "Pause" : "Play";
    buttons.play.setAttribute("aria-pressed", String(Boolean(playing)));
    buttons.cancel.hidden = !pending;
    buttons.undo.disabled = buttons.start.disabled = engine.step === 0;
    buttons.redo.disabled = model.redoable.length === 0;
    buttons.step.disabled = buttons.play.disabled = buttons.end.disabled = session.next === null;
    buttons.finish.disabled = engine.done;
  }
}
