// The explorer in a notebook, as anywidget renders it: the order is kept in the model's traits.

import { mount } from "./explorer.mjs";

function render({ model, el }) {
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
  // the keys are the explorer's here, not the notebook's
  el.dataset.lmSuppressShortcuts = "true";
  el.addEventListener("keydown", (event) => event.stopPropagation());
  const shown = mount(el, model.get("data"), { hash: false, onOrder });
  const follow = () => {
    if (model.get("code") !== last?.code) shown.setOrder(model.get("code"));
  };
  ready = true;
  if (model.get("code")) follow();
  told();
  model.on("change:code", follow);
  return () => {
    model.off("change:code", follow);
    shown.destroy();
  };
}

export default { render };
