// Links and codes: what they brought in the last 30 days.
import { get } from "../api.js";
import { element } from "../dom.js";
import { count, day, isZero, money, moneyNode, percent, short, sum } from "../format.js";
import { bars, button, card, growing, table, tile } from "../parts.js";
import settings from "../settings.js";
import words from "../words.js";

/** Sums of rows: counts, and commission by currency. */
function totals(rows) {
  const all = { clicks: 0, devices: 0, orders: 0, earned: new Map() };
  for (const row of rows) {
    for (const part of ["clicks", "devices", "orders"]) all[part] += row[part] ?? 0;
    for (const { currency, earned, adjusted } of row.amounts) {
      all.earned.set(currency, sum(all.earned.get(currency) ?? "0", sum(earned, adjusted)));
    }
  }
  return all;
}

const earned = (row) => row.amounts.map((one) => [sum(one.earned, one.adjusted), one.currency]).filter(([amount]) => !isZero(amount));
const earnedColumn = () => ({ name: words.columns.earned, n: true, cell: (row) => earned(row).map(([amount, currency]) => element("div", {}, moneyNode(amount, currency))) });

function linkCell(row) {
  if (row.link === null) return words.links.others;
  const address = settings.links ? settings.links + row.link : row.link;
  if (row.to === null) return address;
  return [address, element("small", {}, (row.state === "active" ? "" : words.links[row.state] + ", ") + words.links.to(row.to.replace(/^https?:\/\//, "")))];
}

function linksCard(first) {
  const columns = [
    { name: words.columns.link, cell: linkCell },
    ...["clicks", "devices", "orders"].map((part) => ({ name: words.columns[part], n: true, cell: (row) => count(row[part]) })),
    { name: words.columns.conversion, n: true, cell: (row) => (row.conversion === null ? "" : percent(row.conversion)) },
    earnedColumn(),
  ];
  // All of them are here, so that those that brought most can come first.
  const items = first.next ? first.items : [...first.items].sort((a, b) => b.clicks - a.clicks || b.orders - a.orders);
  return element("section", { class: "card" }, element("h2", {}, words.links.title),
    ...growing(words.links.title, columns, { ...first, items }, (after) => get("performance", { by: "link", after }), { isList: false }));
}

function codesCard(first) {
  const columns = [{ name: words.columns.code, cell: (row) => row.code },
    { name: words.columns.orders, n: true, cell: (row) => count(row.orders) }, earnedColumn()];
  return element("section", { class: "card" }, element("h2", {}, words.links.codes),
    ...growing(words.links.codes, columns, first, (after) => get("performance", { by: "code", after }), { isList: false }));
}

const DAYS = 30;

/** The last days up to today: those without a row are zero. */
function lastDays(rows) {
  const today = new Date();
  return Array.from({ length: DAYS }, (_, i) => {
    const name = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate() - DAYS + 1 + i)).toISOString().slice(0, 10);
    return rows.find((row) => row.day === name) ?? { day: name, clicks: 0, orders: 0 };
  });
}

/** Reads the days when they are asked for: a view makes two requests. */
function daysCard() {
  const box = element("div", {});
  const show = button(words.links.days, async () => {
    show.disabled = true;
    try {
      const points = lastDays((await get("performance", { by: "day" })).items);
      const series = ["clicks", "orders"].map((part, i) => ({ name: words.columns[part], color: i ? "two" : "one",
        value: (row) => row[part], text: (row) => count(row[part]) }));
      box.replaceChildren(bars(words.links.days, short, series, points, { what: words.columns.day, name: (row) => day(row.day),
        tick: (row, i) => (i % 7 ? null : day(row.day).replace(/\W+\d{4}$/, "")) }));
    } catch (error) {
      show.disabled = false;
      box.querySelector("[role=status]").textContent = words.failed[error.code] ?? words.failed.other;
    }
  });
  box.append(element("p", { class: "tools" }, show, element("span", { class: "muted", role: "status" })));
  return box;
}

export default {
  title: () => words.views.links,
  async load(parameters, signal) {
    const [links, codes] = await Promise.all([get("performance", { by: "link" }, signal), get("performance", { by: "code" }, signal)]);
    return { links, codes };
  },
  show({ links, codes }) {
    const head = element("h1", { class: "eyebrow", tabindex: "-1" }, words.views.links);
    const all = totals(links.items);
    const both = links.items.length + codes.items.length;
    const [most] = all.earned;
    return { nodes: [head,
      element("p", { class: "answer" }, !both ? words.links.none : all.clicks ? words.links.answer(count(all.clicks), all.orders, count(all.orders)) : words.links.quiet),
      ...(both ? [element("p", { class: "after muted" }, words.links.span)] : [element("p", { class: "empty after" }, words.links.hint)]),
      ...(all.clicks && !links.next ? [element("div", { class: "tiles" },
        ...["clicks", "devices", "orders"].map((part) => tile(words.columns[part], count(all[part]))),
        ...(most ? [tile(words.columns.earned, moneyNode(most[1], most[0]), [...all.earned].slice(1).map(([currency, amount]) => money(amount, currency)).join(", "))] : []))] : []),
      ...(links.items.length ? [linksCard(links)] : []),
      ...(codes.items.length ? [codesCard(codes)] : []),
      ...(all.clicks ? [daysCard()] : []),
    ] };
  },
};
