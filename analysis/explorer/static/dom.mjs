// Elements, made in one line.

export function h(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "class") made.className = value;
    else if (key in made && typeof value === "boolean") made[key] = value;
    else if (value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.filter((c) => c !== null && c !== undefined));
  return made;
}

// A paragraph, of a class where it is not "".
export const para = (kind, ...children) => h("p", kind ? { class: kind } : {}, ...children);

export function select(label, options, value, onchange) {
  const list = h("select", { onchange: (event) => onchange(event.target.value) });
  for (const [key, text] of options) list.append(h("option", { value: key }, text));
  list.value = value;
  return { list, node: h("label", { class: "field" }, h("span", {}, label), list) };
}

export function button(text, title, onclick, more = {}) {
  return h("button", { type: "button", title, "aria-label": title, onclick, ...more }, text);
}

export const replaced = (host, ...children) => host.replaceChildren(...children.filter(Boolean));

export function plural(count, word) {
  const many = word.endsWith("y") ? `${word.slice(0, -1)}ies` : `${word}s`;
  return `${count.toLocaleString("en")} ${count === 1 ? word : many}`;
}
