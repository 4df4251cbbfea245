// The little TeX that labels and listings use: read into runs for drawing, and into MathML for formulas.

const SIGNS = {
  Phi: "Φ", Lambda: "Λ", Delta: "Δ", lambda: "λ", tau: "τ", alpha: "α", gamma: "γ", delta: "δ", theta: "θ",
  varepsilon: "ε", sum: "∑", times: "×", in: "∈", notin: "∉", ne: "≠", qquad: "\u2003", bigl: "", bigr: "",
};
const ACCENTS = { hat: "^", tilde: "~", ddot: "¨", dot: "˙", bar: "¯" };

// A list of atoms { base, accent, script, sub, sup }; base one letter, sign or bracket, or a fraction's
// two parts; sub and sup are TeX again.
export function atoms(tex) {
  /** @type {any[]} */
  const result = [];
  let at = 0;
  // what follows: {...}, a command with what it takes, or one letter
  const group = () => {
    const start = at;
    if (tex[at] === "\\") at += /^\\([a-zA-Z]+|.)/.exec(tex.slice(at))[0].length;
    else if (tex[at] !== "{") at += 1;
    if (at > start) return tex.slice(start, at);
    for (let depth = 0; at < tex.length; at++) {
      depth += Number(tex[at] === "{") - Number(tex[at] === "}");
      if (!depth) break;
    }
    return tex.slice(start + 1, at++);
  };
  const letter = (text) => SIGNS[text.slice(1)] ?? text;
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
      if (word in ACCENTS) result.push({ base: letter(group()), accent: word });
      else if (word === "mathcal") result.push({ base: group(), script: true });
      else if (word === "text" || word === "operatorname") result.push({ base: group().replaceAll("$", ""), text: true });
      else if (word === "frac") result.push({ base: "", over: [group(), group()] });
      else if (word === ",") result.push({ base: "\u2009", text: true });
      else if (SIGNS[word] ?? /^[a-zA-Z]/.test(word)) result.push({ base: SIGNS[word] ?? word });
    } else if (/[ {}&$]/.test(c)) at += 1;
    else {
      result.push({ base: c === "-" ? "−" : c });
      at += 1;
    }
  }
  return result;
}

// Plain text, for screen readers and titles: "M hat 2".
export function spoken(tex) {
  const names = { hat: " hat", tilde: " tilde", ddot: " double dot", dot: " dot", bar: " bar" };
  return atoms(tex)
    .map((a) => {
      const sup = (a.sup ?? "").replace(/[*T]/, " star").replace("−1", " inverse").replace("′", " prime");
      const sub = a.sub?.includes("\\") ? spoken(a.sub) : a.sub;
      const base = a.over ? a.over.map(spoken).join(" over ") : a.base;
      return `${a.script ? "script " : ""}${base}${names[a.accent] ?? ""}${sub ? ` ${sub}` : ""}${sup}`;
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

function rowOf(tex) {
  const row = element("mrow");
  for (const a of atoms(tex)) {
    const sign = /^[^\p{L}\p{N}]*$/u.test(a.base) && !a.over;
    let node = a.over
      ? element("mfrac", ...a.over.map(rowOf))
      : element(a.text ? "mtext" : sign ? "mo" : /^[0-9]+$/.test(a.base) ? "mn" : "mi", a.script ? "ℳ" : a.base);
    if (a.base.length > 1 && !sign && !a.text) node.setAttribute("mathvariant", "normal");
    if (a.accent) {
      node = element("mover", node, element("mo", ACCENTS[a.accent]));
      node.setAttribute("accent", "true");
    }
    const [sub, sup] = [a.sub, a.sup].map((script) => script && rowOf(script));
    if (a.base === "∑" && sub) node = element("munder", node, sub);
    else if (sub && sup) node = element("msubsup", node, sub, sup);
    else if (sub) node = element("msub", node, sub);
    else if (sup) node = element("msup", node, sup);
    row.append(node);
  }
  return row;
}

// A <math> element of some TeX.
export function math(tex) {
  const made = element("math", rowOf(tex));
  made.setAttribute("aria-label", spoken(tex));
  return made;
}
