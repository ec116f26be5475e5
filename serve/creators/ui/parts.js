// Parts that views share.
import { BarChart } from "./chart.js";
import { element } from "./dom.js";
import { amount, day, isNegative, moneyNode } from "./format.js";
import settings from "./settings.js";
import words from "./words.js";

export const shopName = (id) => (Object.hasOwn(settings.shops, id) ? settings.shops[id] : id);

/** Address of a view. */
export const hrefOf = (view, parameters = {}) => "#" + new URLSearchParams({ view, ...parameters });
export const link = (view, parameters, text) => element("a", { href: hrefOf(view, parameters) }, text);

const COLORS = { PAID: "good", CHECKED: "warn", CAME_BACK: "bad" };
export const state = (name) => element("span", { class: "state " + (COLORS[name] || "plain") }, words.states[name] ?? name);

/** A card of what was read, or of the sentence that nothing is there. */
export const card = (title, ...content) => element("section", { class: "card" }, element("h2", {}, title), ...content);

/** An amount of more letters, such as 1,234,567.89 EUR, is smaller: a tile is half a phone wide. */
const LETTERS = 13;

export const tile = (title, value, below) => element("section", { class: "tile" }, element("h2", {}, title),
  element("p", { class: (value.textContent ?? value).length > LETTERS ? "big long" : "big" }, value), ...(below ? [element("p", { class: "muted" }, below)] : []));

/** Tables of more columns become blocks on a phone. */
const STACK_FROM = 3;

/**
 * columns: [{name, n: right-aligned, cell(row)}]; the first names the row. On a phone each row becomes a block, so roles are stated:
 * browsers drop them with the display. isList: a block has the first and the last column in its first line.
 */
export function table(caption, columns, rows, { isPlain = false, isList = false } = {}) {
  const line = (row) => element("tr", { role: "row" }, ...columns.map((column, i) => {
    const content = [column.cell(row)].flat().filter((part) => part !== null && part !== undefined && part !== "");
    const box = content.length > 1 && i ? [element("div", {}, ...content)] : content;
    return i === 0 ? element("th", { role: "rowheader", scope: "row" }, ...content)
      : element("td", { role: "cell", "data-label": column.name, ...(column.n ? { class: "n" } : {}),
        ...(content.length ? {} : { "data-none": "" }) }, ...box);
  }));
  const body = element("tbody", { role: "rowgroup" }, ...rows.map(line));
  const node = element("table", { class: isPlain ? "plain" : isList ? "stack rows" : columns.length > STACK_FROM ? "stack" : "", role: "table", "aria-label": caption },
    element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, ...columns.map((column) =>
      element("th", { role: "columnheader", scope: "col", ...(column.n ? { class: "n" } : {}) }, column.name)))), body);
  node.addRows = (more) => body.append(...more.map(line));
  return node;
}

/** Names with their values. list: [[name, value]] */
export const pairs = (title, list) => table(title, [{ name: words.columns.what, cell: ([name]) => name },
  { name: words.columns.amount, n: true, cell: ([, value]) => value }], list, { isPlain: true });

/** What made an order hers. */
export const source = (order) => order.code ?? order.link ?? words.by[order.by];

export const orderColumns = () => [
  { name: words.columns.order, cell: (row) => link("order", { shop: row.shop, order: row.order }, row.number) },
  { name: words.columns.shop, cell: (row) => shopName(row.shop) },
  { name: words.columns.day, cell: (row) => element("span", { class: "nowrap" }, day(row.day)) },
  { name: words.columns.by, cell: source },
  { name: words.columns.state, cell: (row) => [state(row.state), ...(row.ready_on ? [element("small", {}, day(row.ready_on))] : [])] },
  { name: words.columns.commission, n: true, cell: (row) => moneyNode(row.commission, row.currency) },
];

export const button = (text, act) => {
  const node = element("button", { type: "button" }, text);
  node.addEventListener("click", act);
  return node;
};

/** A table that grows page by page. read(after): the next page as {items, next}. tools: nodes beside the button. */
export function growing(caption, columns, first, read, { tools = [], isList = true } = {}) {
  const rows = table(caption, columns, first.items, { isList });
  const tell = element("span", { class: "muted", role: "status" });
  let next = first.next;
  const more = button(words.more, async () => {
    more.disabled = true;
    try {
      const page = await read(next);
      rows.addRows(page.items);
      next = page.next;
      tell.textContent = "";
    } catch (error) {
      tell.textContent = error.code === "cursor_invalid" ? words.orders.changed : words.failed[error.code] ?? words.failed.other;
    }
    more.disabled = false;
    more.hidden = !next;
  });
  more.hidden = !next;
  const line = element("p", { class: "tools" }, more, ...tools, tell);
  return [rows, ...(next || tools.length ? [line] : [])];
}

/** Bars with their values as a table. series: [{name, color, value(point), text(point)}] */
export function bars(title, format, series, points, names) {
  const box = element("div", { class: "chart" });
  const rows = table(title, [{ name: names.what, cell: names.name }, ...series.map((one) => ({ name: one.name, n: true, cell: one.text }))], points);
  const figure = element("figure", { class: "card wide" }, element("figcaption", {}, title), box,
    element("details", {}, element("summary", {}, words.table), rows));
  const chart = new BarChart(box, title, format, series, names);
  chart.show(points);
  new ResizeObserver(() => chart.draw()).observe(box);
  return figure;
}

/** An amount that says its direction. */
export const signed = (text, currency) => element("span", { class: isNegative(text) ? "nowrap" : "nowrap good" },
  (isNegative(text) ? "" : "+") + amount(text), element("span", { class: "unit" }, currency));
