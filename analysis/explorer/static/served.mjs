// The page of `pivotree explore MODEL`: Python answers at "live", beside the page, and reads at "robot".

import { mount } from "./explorer.mjs";
import { liveBy } from "./live.mjs";

const ask = (where) => async (question) => {
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(where, { method: "POST", headers, body: JSON.stringify(question) });
  return response.json();
};
const data = JSON.parse(document.getElementById("data").textContent);
mount(document.getElementById("explorer"), data, { live: { ...liveBy(ask("live")), open: ask("robot") } });
