// Parts that views share: heading, tiles, tables, lists that grow, charts with their table.
import { BarChart } from "./chart.js";
import { element } from "./dom.js";
import { get } from "./api.js";
import { exportButton } from "./export.js";
import { capital, count, plural, state } from "./format.js";
import { hrefOf } from "./links.js";

/** Tables of more columns become blocks on a phone. */
const STACK_FROM = 3;

/** Heading and the sentence with the answer; `tools` are buttons beside them. */
export function head(title, answer, ...tools) {
  const heading = element("h1", { tabindex: "-1" }, ...[title].flat());
  const words = element("p", { class: "answer" }, ...[answer].flat());
  return element("div", { class: "head" }, element("div", {}, heading, words),
    ...(tools.length ? [element("div", { class: "tools" }, ...tools)] : []));
}

export const card = (title, ...children) =>
  element("section", { class: "card" }, element("h2", {}, ...[title].flat()), ...children);
export const empty = (text, ...children) => element("p", { class: "empty" }, text, ...children);

export function tile(title, value, note) {
  return element("div", { class: "tile" }, element("h2", {}, title), element("p", { class: "big" }, value),
    ...(note ? [element("p", { class: "muted" }, ...[note].flat())] : []));
}
export const tiles = (label, list) => element("section", { class: "tiles", "aria-label": label }, ...list);

/** facts: [[term, value, note]] */
export function facts(list) {
  return element("dl", { class: "facts" }, ...list.map(([term, value, note]) =>
    element("div", { class: "card" }, element("dt", {}, term),
      element("dd", {}, value, ...(note ? [element("small", {}, ...[note].flat())] : [])))));
}

export function tabs(label, list, current) {
  return element("ul", { class: "tabs", "aria-label": label }, ...list.map(([id, text, view, parameters]) =>
    element("li", {}, element("a", { href: hrefOf(view, parameters), ...(id === current ? { "aria-current": "page" } : {}) },
      text))));
}

/**
 * columns: [{name, n: right-aligned, cell(row)}]; the first names the row. On a phone each row becomes a
 * block, so roles are stated: browsers drop them with the display.
 */
export function table(caption, columns, rows, foot) {
  const labelled = (column, attributes) => ({ ...attributes, ...(column.n ? { class: "n" } : {}) });
  const line = (row) => element("tr", { role: "row" }, ...columns.map((column, i) => {
    const content = [column.cell(row)].flat().filter((part) => part !== null && part !== undefined);
    // On a phone a cell has its name at the left, so that its parts need a box of their own at the right.
    const parts = content.length > 1 ? [element("div", {}, ...content)] : content;
    return i === 0 ? element("th", { role: "rowheader", scope: "row" }, ...content)
      : element("td", labelled(column, { role: "cell", "data-label": column.name, ...(content[0] === "–" ? { "data-none": "" } : {}) }),
        ...parts);
  }));
  const body = element("tbody", { role: "rowgroup" }, ...rows.map(line));
  const isNarrow = columns.length <= STACK_FROM;
  const node = element("table", { class: isNarrow ? "" : "stack", role: "table", "aria-label": caption },
    element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, ...columns.map((column) =>
      element("th", labelled(column, { role: "columnheader", scope: "col" }), column.name)))), body);
  if (foot) node.append(element("tfoot", { role: "rowgroup" }, line(foot)));
  node.addRows = (more) => body.append(...more.map(line));
  return node;
}

/** Names with their values. list: [[name, value]] */
export function pairs(title, list) {
  const node = table(title, [{ name: "Name", cell: ([name]) => name }, { name: "Value", n: true, cell: ([, value]) => value }], list);
  node.classList.add("pairs");
  return node;
}

/** Says which lists of an answer are not shown whole. */
export const cutNote = ({ cut = [] }) => cut.map(({ member, shown, total }) => element("p", { class: "muted" },
  "The first " + count(shown) + " of " + count(total) + " " + (member === "rows" ? "postings" : member.replaceAll(".", " ")) + " are shown."));

/** Rows of the first page: a phone shows each as a block. */
export const pageSize = () => (isWide.matches ? 100 : 25);

/**
 * A list of the API as a table that grows page by page, with "Export".
 * source: {path, parameters, what: "order", whats: its plural, title: heading beside other cards, columns, first: the first
 * answer, none: node if it is empty, read: the rows of an answer, if they are not its items}
 */
export function growing(source) {
  const { path, parameters, what, whats = what + "s", title, columns, first, none, read = (answer) => answer.items } = source;
  const heading = title ? [element("h2", {}, title)] : [];
  if (!first.items.length && !first.next) return element("section", { class: "card" }, ...heading, none);
  let next = first.next, shown = first.items.length;
  const rows = table(source.caption, columns, read(first));
  const words = element("span", { class: "muted" });
  const button = element("button", { type: "button" }, "Show more");
  const tell = () => {
    words.textContent = plural(shown, what, whats) + (next ? " shown, there may be more" : "");
    button.hidden = !next;
  };
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      const page = await get(path, { ...parameters, limit: pageSize(), after: next });
      rows.addRows(read(page));
      shown += page.items.length;
      next = page.next;
      tell();
    } catch (error) {
      words.textContent = "Not loaded: " + error.message;
    }
    button.disabled = false;
  });
  tell();
  return element("section", { class: "card" }, ...heading, rows,
    element("p", { class: "more" }, words, button, exportButton(path, parameters, whats)));
}

/** The shop's silence in words, without the shop's name, which its row has. */
export function silence({ shop_id: shop, silence: verdict }) {
  if (!verdict) return "–";
  const words = verdict.sentence.startsWith(shop + ": ") ? capital(verdict.sentence.slice(shop.length + 2)) : verdict.sentence;
  return verdict.state === "silent" ? [state("silent"), " ", words] : words;
}

/** Screens that are wide enough for tables. */
const isWide = matchMedia("(min-width: 46rem)");

/** A form whose fields are the view's filters; a phone shows it when asked. fields: [{name, label, options}] */
export function filters(view, fields, parameters, go) {
  const form = element("form", { class: "filters", "aria-label": "Filters" });
  for (const field of fields) {
    const value = parameters[field.name] || "";
    let input;
    if (field.options) {
      input = element("select", { name: field.name }, ...[["", "all"], ...field.options].map(([key, text]) =>
        element("option", { value: key, ...(key === value ? { selected: "" } : {}) }, text)));
      input.addEventListener("change", () => form.requestSubmit());
    } else {
      input = element("input", { name: field.name, value, type: field.type || "text", autocomplete: "off", spellcheck: "false" });
      if (field.type === "date") input.addEventListener("change", () => form.requestSubmit());
    }
    form.append(element("label", {}, field.label, input));
  }
  form.append(element("button", {}, "Apply"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    go(hrefOf(view, Object.fromEntries(new FormData(form))));
  });
  const box = element("details", { class: "filtering" }, element("summary", {}, "Filters"), form);
  box.open = isWide.matches || fields.some((field) => parameters[field.name]);
  isWide.addEventListener("change", () => { box.open ||= isWide.matches; });
  return box;
}

/** Bars with their values as a table. series: [{name, color, value(point), text(point)}] */
export function bars(title, format, series, points, names) {
  const box = element("div", { class: "chart" });
  const rows = table(title, [{ name: names.what, cell: names.name },
    ...series.map((one) => ({ name: one.name, n: true, cell: one.text }))], points);
  const figure = element("figure", { class: "card" }, element("figcaption", {}, title), box,
    element("details", {}, element("summary", {}, "Table"), rows));
  const chart = new BarChart(box, title, format, series, names);
  chart.show(points);
  new ResizeObserver(() => chart.draw()).observe(box);
  return figure;
}
