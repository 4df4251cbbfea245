// An order from a file, as orderings/load.py reads it: what the page cannot honour is refused, each
// thing with one sentence, and nothing is passed over in silence.

// The switches of kkt/order/sequence.py; the first of each is what an order has if it says nothing.
export const RULES = {
  couple: ["inverse", "carried"],
  assembly: ["multifrontal", "right_looking"],
  accumulate: ["assembled", "unassembled", "projected", "child_frame"],
  rank_update: ["outer", "gain", "joseph"],
  symmetry: ["mirrored", "both triangles"],
  elimination: ["gauss", "orthogonal"],
};

// Groups of [kind, body] with links and rules, of a matrix (``plain``) also of names alone; throws an Error
// whose message is a sentence.
export function orderIn(text, plain) {
  let document;
  try {
    document = JSON.parse(text);
  } catch {
    throw new Error("is not JSON");
  }
  const bare = Array.isArray(document);
  for (const key of bare ? [] : Object.keys(document ?? {})) {
    // other keys, such as a name, are a reader's own, but not these with letters astray
    const letters = (word) => [...word.toLowerCase().replace(/s$/, "")].sort().join("");
    const meant = ["groups", "links", "rules", "composites"].find((known) => letters(known) === letters(key));
    if (meant && key !== meant) throw new Error(`holds "${key}"; write "${meant}"`);
  }
  const { groups, links = "whole", rules = {} } = bare ? { groups: document } : (document ?? {});
  if (!["counted", "general", undefined].includes(document?.composites))
    throw new Error(
      `has composites ${JSON.stringify(document.composites)}, and the page eliminates whole blocks; write "counted"`,
    );
  if (!Array.isArray(groups) || !groups.every(Array.isArray))
    throw new Error('holds no list of groups; give [[["pdd", "link1"], ...]]');
  return { groups: groups.map((group, at) => group.map((entry) => block(entry, at + 1, plain))), links, rules };
}

function block(entry, step, plain) {
  if (plain && !Array.isArray(entry) && !/^x:/.test(entry)) return ["x", String(entry)];
  const pair = typeof entry === "string" ? entry.split(/:(.*)/s).slice(0, 2) : entry;
  if (!Array.isArray(pair) || pair.length !== 2)
    throw new Error(`step ${step} holds ${JSON.stringify(entry)}; a block is ${plain ? '0, or ["x", 0]' : '["pdd", "link1"]'}`);
  return pair.map(String);
}

// { links, split, rules } of an order of one's own on a page's document; throws as above.
export function formOf(data, split, links = "whole", rules = {}) {
  if (!Object.hasOwn(data.structures, links)) {
    const known = Object.keys(data.structures).join(", ");
    throw new Error(`links are ${JSON.stringify(links)}; this page has ${known}`);
  }
  const kept = {};
  for (const [key, value] of Object.entries(rules)) {
    if (!Object.hasOwn(RULES, key))
      throw new Error(`switch ${JSON.stringify(key)} is unknown; use ${Object.keys(RULES).join(", ")}`);
    const choices = RULES[key];
    if (!choices.includes(value))
      throw new Error(`switch ${key} is ${JSON.stringify(value)}; use ${choices.join(" or ")}`);
    if (value !== choices[0]) kept[key] = value;
  }
  const more = Object.keys(kept).find((key) => key !== "elimination");
  if (kept.elimination && more)
    throw new Error(`switch ${more} means nothing to elimination orthogonal; leave it out`);
  return { links, split, rules: kept };
}
