// The little TeX that the labels use: read into runs for drawing, and into MathML for formulas.

const GREEK = { Phi: "Φ", lambda: "λ", mathcal: "", sum: "∑" };
const ACCENTS = { hat: "\u0302", tilde: "\u0303", ddot: "\u0308", bar: "\u0304" };

// A list of atoms { base, accent, script, sub, sup }; base one letter, sign or bracket.
export function atoms(tex) {
  /** @type {any[]} */
  const result = [];
  let at = 0;
  const group = () => {
    if (tex[at] !== "{") return tex[at++];
    const end = tex.indexOf("}", at);
    const inner = tex.slice(at + 1, end);
    at = end + 1;
    return inner;
  };
  while (at < tex.length) {
    const c = tex[at];
    if (c === "_" || c === "^") {
      at += 1;
      const text = group();
      const last = result.at(-1);
      if (c === "_") last.sub = text;
      else last.sup = (last.sup ?? "") + (text.startsWith("-") ? `−${text.slice(1)}` : text);
    } else if (c === "'") {
      result.at(-1).sup = `′${result.at(-1).sup ?? ""}`;
      at += 1;
    } else if (c === "\\") {
      const [, word] = /^\\([a-zA-Z]+|.)/.exec(tex.slice(at));
      at += word.length + 1;
      if (word in ACCENTS) result.push({ base: group(), accent: word });
      else if (word === "mathcal") result.push({ base: group(), script: true });
      else if (word === "text") result.push({ base: group(), text: true });
      else result.push({ base: GREEK[word] ?? word });
    } else if (c === " ") at += 1;
    else {
      result.push({ base: c === "-" ? "−" : c });
      at += 1;
    }
  }
  return result;
}

// Plain text, for screen readers and titles: "M hat 2".
export function spoken(tex) {
  const names = { hat: " hat", tilde: " tilde", ddot: " double dot", bar: " bar" };
  return atoms(tex)
    .map((a) => {
      const sup = (a.sup ?? "").replace("*", " star").replace("−1", " inverse").replace("′", " prime");
      return `${a.script ? "script " : ""}${a.base}${names[a.accent] ?? ""}${a.sub ? ` ${a.sub}` : ""}${sup}`;
    })
    .join(" ")
    .replaceAll("Φ", "Phi")
    .replaceAll("λ", "lambda")
    .replaceAll("−", "minus")
    .replaceAll("+", "plus")
    .replaceAll("=", "is");
}

const MATH = "http://www.w3.org/1998/Math/MathML";

function element(name, ...children) {
  const made = document.createElementNS(MATH, name);
  made.append(...children);
  return made;
}

// A <math> element of some TeX.
export function math(tex) {
  const row = element("mrow");
  for (const a of atoms(tex)) {
    const sign = /^[−+=()[\],∑]$/.test(a.base);
    let node = element(
      a.text ? "mtext" : sign ? "mo" : /^[0-9]+$/.test(a.base) ? "mn" : "mi",
      a.script ? "ℳ" : a.base,
    );
    if (a.base.length > 1 && !sign && !a.text) node.setAttribute("mathvariant", "normal");
    if (a.accent) {
      node = element("mover", node, element("mo", { hat: "^", tilde: "~", ddot: "¨", bar: "¯" }[a.accent]));
      node.setAttribute("accent", "true");
    }
    const script = (text) =>
      element(
        "mrow",
        ...[...text].map((c) => element(/[0-9]/.test(c) ? "mn" : /[a-zA-Z]/.test(c) ? "mi" : "mo", c)),
      );
    if (a.sub && a.sup) node = element("msubsup", node, script(a.sub), script(a.sup));
    else if (a.sub) node = element("msub", node, script(a.sub));
    else if (a.sup) node = element("msup", node, script(a.sup));
    row.append(node);
  }
  const made = element("math", row);
  made.setAttribute("aria-label", spoken(tex));
  return made;
}
