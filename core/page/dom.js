// Elements of HTML and SVG. Text only ever enters a page through these two: nothing is parsed as HTML.

const SVG = "http://www.w3.org/2000/svg";

export function element(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  node.append(...children);
  return node;
}

export function drawn(name, attributes, text) {
  const node = document.createElementNS(SVG, name);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  if (text !== undefined) node.textContent = text;
  return node;
}
