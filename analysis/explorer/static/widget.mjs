// The explorer in a notebook, as anywidget renders it: the order is kept in the model's traits,
// questions go to Python as messages.

import { mount } from "./explorer.mjs";
import { liveBy } from "./live.mjs";

const PATIENCE = 60000; // ms until a question without an answer is given up

function render({ model, el }) {
  let count = 0;
  const waiting = new Map();
  const heard = ({ id = null, answer = null } = {}) => {
    waiting.get(id)?.(answer);
    waiting.delete(id);
  };
  const view = Math.random().toString(36).slice(2); // several views may show one model
  const ask = (question) =>
    new Promise((done, failed) => {
      const id = `${view} ${++count}`;
      waiting.set(id, done);
      setTimeout(() => waiting.delete(id) && failed(new Error("no kernel")), PATIENCE);
      model.send({ id, question });
    });
  let ready = false;
  let last = null;
  const told = () => {
    if (!ready || !last) return;
    for (const [name, value] of Object.entries(last)) model.set(name, value);
    model.save_changes();
  };
  const onOrder = (order) => {
    last = order;
    told();
  };
  model.on("msg:custom", heard);
  // the keys are the explorer's here, not the notebook's
  el.dataset.lmSuppressShortcuts = "true";
  el.addEventListener("keydown", (event) => event.stopPropagation());
  const shown = mount(el, model.get("data"), { hash: false, live: liveBy(ask), onOrder });
  const follow = () => {
    if (model.get("code") !== last?.code) shown.setOrder(model.get("code"));
  };
  ready = true;
  if (model.get("code")) follow();
  told();
  model.on("change:code", follow);
  return () => {
    model.off("change:code", follow);
    model.off("msg:custom", heard);
    shown.destroy();
  };
}

export default { render };
