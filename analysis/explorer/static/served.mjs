// The page of `pivotree explore MODEL`: Python answers at "live", beside the page.

import { mount } from "./explorer.mjs";
import { liveBy } from "./live.mjs";

const ask = async (question) => {
  const headers = { "Content-Type": "application/json" };
  const response = await fetch("live", { method: "POST", headers, body: JSON.stringify(question) });
  return response.json();
};
const data = JSON.parse(document.getElementById("data").textContent);
mount(document.getElementById("explorer"), data, { live: liveBy(ask) });
