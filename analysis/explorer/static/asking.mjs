// What Python behind a served page is asked.

// What it answers to a request, as text; where it does not, why.
export async function asked(name, what) {
  const headers = { "Content-Type": "application/json" };
  try {
    const response = await fetch(name, { method: "POST", headers, body: JSON.stringify(what) });
    return await response.text();
  } catch (error) {
    return `Python does not answer (${error.message})`;
  }
}

// An order told as loops: { text, latex }, or { failed } with the reason.
export async function listed(order) {
  const answer = await asked("algorithm", order);
  return answer.startsWith("{") ? JSON.parse(answer) : { failed: answer };
}
