// Parts that views share: heading, tiles, tables, lists that grow, charts with their table.
import { BarChart } from "./chart.js";
import { element } from "./dom.js";
import { get } from "./api.js";
import { exportButton } from "./export.js";
import { capital, count, instantKey, money, plural, scaled, state, sum } from "./format.js";
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
  node.sortBy = (column, isRising) => {
    const lines = [...body.rows].map((row) => [keyOf(row.cells[column], columns[column]), row]);
    lines.sort(([a], [b]) => (a === b ? 0 : a === null ? 1 : b === null ? -1 : (a < b) === isRising ? -1 : 1));
    body.append(...lines.map(([, row]) => row));
    [...node.tHead.rows[0].cells].forEach((cell, i) => (i === column ? cell.setAttribute("aria-sort", isRising ? "ascending" : "descending")
      : cell.removeAttribute("aria-sort")));
  };
  return node;
}

/** What a cell is sorted by: its time, its number, or its text. Cells without a value come last. */
function keyOf(cell, column) {
  const at = cell.querySelector("time");
  const text = cell.textContent.trim();
  if (at) return instantKey(at.dateTime);
  if (text === "–" || text === "") return null;
  return column.n ? scaled(text) : text.toLowerCase();
}

/** Amounts of rows by currency: "1,234.00 EUR, 5.00 USD". */
export function sumsOf(rows, amountOf, currencyOf) {
  const currencies = [...new Set(rows.map(currencyOf))].filter(Boolean).sort();
  return currencies.flatMap((currency, i) => [i ? ", " : "",
    money(sum(rows.filter((row) => currencyOf(row) === currency).map(amountOf)), currency)]);
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
 * answer, none: node if it is empty, read: the rows of an answer, if they are not its items, sums: words about the rows that
 * are shown}
 */
export function growing(source) {
  const { path, parameters, what, whats = what + "s", title, columns, first, none, read = (answer) => answer.items } = source;
  const heading = title ? [element("h2", {}, title)] : [];
  if (!first.items.length && !first.next) return element("section", { class: "card" }, ...heading, none);
  let next = first.next;
  const all = [...read(first)];
  const rows = table(source.caption, columns, all);
  const words = element("span", { class: "muted" });
  const button = element("button", { type: "button" }, "Show more");
  const tell = () => {
    const sums = source.sums ? source.sums(all) : [];
    words.replaceChildren(plural(all.length, what, whats) + (next ? " shown, there may be more" : ""), ...(sums.length ? [": ", ...sums] : []));
    button.hidden = !next;
  };
  const load = async (limit) => {
    const page = await get(path, { ...parameters, limit, after: next });
    const more = read(page);
    rows.addRows(more);
    all.push(...more);
    next = page.next;
  };
  const working = async (node, work) => {
    node.disabled = true;
    try {
      await work();
      tell();
    } catch (error) {
      words.textContent = "Not loaded: " + error.message;
    }
    node.disabled = false;
  };
  button.addEventListener("click", () => working(button, () => load(pageSize())));
  sorting(rows, columns, async (node, sort) => working(node, async () => {
    while (next && all.length < SORTED_MAX) await load(1000);
    sort();
  }));
  tell();
  return element("section", { class: "card" }, ...heading, rows,
    element("p", { class: "more" }, words, button, exportButton(path, parameters, whats)));
}

/** Rows that are loaded before a list is sorted. */
const SORTED_MAX = 5000;

/** Makes the names of the columns buttons that sort by them: numbers and times the largest first, then the other way round. */
function sorting(rows, columns, act) {
  [...rows.tHead.rows[0].cells].forEach((cell, i) => {
    const button = element("button", { type: "button", class: "sort" }, columns[i].name);
    button.addEventListener("click", () => {
      const now = cell.getAttribute("aria-sort");
      const isRising = now ? now === "descending" : !columns[i].n;
      act(button, () => rows.sortBy(i, isRising));
    });
    cell.replaceChildren(button);
  });
}

/** The shop's silence in words, without the shop's name, which its row has. */
export function silence({ shop_id: shop, silence: verdict }) {
  if (!verdict) return "–";
  const words = verdict.sentence.startsWith(shop + ": ") ? capital(verdict.sentence.slice(shop.length + 2)) : verdict.sentence;
  return verdict.state === "silent" ? [state("silent"), " ", words] : words;
}

/**
 * A list that a person filters. What the account does not have, or a filter that cannot be read, is said in the place of the
 * rows, so that the filters stay. names: of the filters.
 */
export async function filtered(get, path, query, names) {
  try {
    return await get(path, query);
  } catch (error) {
    if (error.code !== "not_found" && error.code !== "parameter") throw error;
    const chosen = ["shop", "creator", "program", "run"].filter((name) => names.includes(name) && query[name]).map((name) => name + " " + query[name]);
    const words = error.code === "not_found" ? "The account has no " + chosen.join(", or no ") + "."
      : error.errors.map((one) => capital(one.parameter) + ": " + one.message + ".").join(" ");
    return { items: [], next: null, refused: words };
  }
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

/** Series of clicks, for bars: the lower part of a bar is devices, and the whole is clicks. */
export const CLICKS = [
  { name: "devices", color: "one", value: (row) => row.devices, text: (row) => count(row.devices) },
  { name: "clicks", color: "two", value: (row) => Math.max(0, row.clicks - row.devices), text: (row) => count(row.clicks) },
];
export const ORDERS = [{ name: "orders", color: "one", value: (row) => row.orders, text: (row) => count(row.orders) }];

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
