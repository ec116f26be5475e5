// Today: how yesterday was, and which work waits.
import { element } from "../dom.js";
import { SKIPPED, amount, count, day, isZero, money, plural, short, shortDay } from "../format.js";
import { hrefOf, idLink, idOf, link, namedCreator, orderLink } from "../links.js";
import { bars, card, empty, head, table, tile, tiles } from "../parts.js";

/** kind: [one, many, view, parameters] */
const WORK = {
  approvals: ["approval", "approvals", "approvals", {}],
  payouts_failed: ["payout failed or returned, not paid since", "payouts failed or returned, not paid since", "payouts", { list: "waiting" }],
  payouts_sent: ["payout sent over 7 days ago, not settled", "payouts sent over 7 days ago, not settled", "payouts", { list: "waiting" }],
  blocked_orders: ["order blocked", "orders blocked", "orders", { blocked: "true" }],
  creator_holds: ["creator held", "creators held", "anomalies", { tab: "blocks" }],
  anomalies: ["new anomaly", "new anomalies", "anomalies", { tab: "open" }],
  silent_shops: ["shop silent", "shops silent", "shops", {}],
  shops_without_devices: ["shop whose orders carry no device id", "shops whose orders carry no device id", "shops", {}],
  dead_letters: ["dead letter", "dead letters", "shops", {}],
  privacy_requests: ["request about a person", "requests about persons", "shops", {}],
  nodes_behind: ["node behind", "nodes behind", "shops", {}],
};

function waiting(lines) {
  if (!lines.length) return card("Waiting for you", empty("No work is waiting."));
  return card("Waiting for you", element("ul", { class: "waiting" }, ...lines.map((line) => {
    const [one, many, view, parameters] = WORK[line.kind] || [line.kind, line.kind, "today", {}];
    const sums = (line.amounts || []).flatMap((sum, i) => [i ? ", " : "", money(sum.amount, sum.currency)]);
    const said = line.sentences || [];
    const what = line.count === 1 ? [said[0] || one] : [many, ...said.map((text) => element("span", { class: "muted said" }, text))];
    return element("li", {}, element("a", { href: hrefOf(view, parameters) }, element("b", {}, count(line.count)),
      element("span", { class: "what" }, ...what), element("span", { class: "sum" }, ...sums)));
  })));
}

function sentence(data) {
  const { yesterday } = data;
  const parts = [yesterday.orders ? "Yesterday: " + plural(yesterday.orders, "order") + ", " + count(yesterday.attributed) + " with a creator"
    : "Yesterday: no order"];
  if (data.currency) parts.push(", ", money(yesterday.earned, data.currency), " earned");
  if (yesterday.clicks) parts.push(", " + plural(yesterday.clicks, "click") + " of " + plural(yesterday.devices, "device"));
  return [...parts, "."];
}

const weekday = (text) => ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"][new Date(text).getUTCDay()];

function numbers(data) {
  const { currency, yesterday } = data;
  const usual = yesterday.usual === null || yesterday.usual === undefined ? null
    : [money(yesterday.usual, currency), " on a usual " + weekday(data.day)];
  const blocked = data.blocked && !isZero(data.blocked) ? [money(data.blocked, currency), " blocked"] : "not cleared yet";
  return tiles("Amounts", [tile("Earned yesterday", money(yesterday.earned, currency), usual), tile("Payable", money(data.payable, currency),
    ["the next close takes ", money(data.next_close.amount, currency)]), tile("Pending", money(data.pending, currency), blocked),
  tile("In payouts", money(data.in_payout, currency), "closed, not paid yet")]);
}

/** What the next close takes, and what it leaves, with the reasons. */
function nextClose({ next_close: close, currency }) {
  if (!close.creators && !close.left.length) return [];
  const rows = [{ what: "taken", creators: close.creators, amount: close.amount },
    ...close.left.map((one) => ({ what: "left: " + SKIPPED[one.reason], creators: one.creators, amount: one.amount }))];
  return [card("The next close", ...(close.payout_day ? [element("p", { class: "muted" }, "The payout day is " + day(close.payout_day) + ".")] : []),
    table("The next close", [{ name: "What", cell: (row) => row.what }, { name: "Creators", n: true, cell: (row) => count(row.creators) },
      { name: "Amount", n: true, cell: (row) => money(row.amount, currency) }], rows))];
}

function currencies(data) {
  const others = data.currencies.filter((one) => one.currency !== data.currency);
  if (!others.length) return [];
  return [element("p", { class: "muted between" }, "Amounts are in " + data.currency + ". Other currencies, owed: ", ...others.flatMap((one, i) =>
    [i ? ", " : "", element("a", { href: hrefOf("today", { currency: one.currency }) }, amount(one.owed) + " " + one.currency)]))];
}

function charts(data) {
  const names = { what: "Day", name: (row) => day(row.day), tick: (row, i) => (i % 7 === 3 ? shortDay(row.day) : null) };
  const series = (list) => list.map(([name, field, color]) =>
    ({ name, color, value: (row) => Number(row[field]), text: (row) => amount(row[field]) }));
  return element("section", { class: "charts", "aria-label": "Thirty days" },
    bars("Earned and adjusted by day, " + data.currency, short,
      series([["earned", "earned", "one"], ["adjusted", "adjusted", "two"]]), data.days, names),
    bars("Becomes payable, " + data.currency, short, series([["payable", "amount", "one"]]), data.clearing,
      { ...names, rest: 0 }));
}

function topCreators(data) {
  const title = "Creators who earned most this month";
  if (!data.creators.length) return card(title, empty("No creator has earned anything this month."));
  const rows = table("Creators", [
    { name: "Creator", cell: (row) => namedCreator(row.creator_id, row.name) },
    { name: "This month", n: true, cell: (row) => money(row.earned, data.currency) },
    { name: "Last month", n: true, cell: (row) => money(row.earned_last_month, data.currency) },
  ], data.creators);
  rows.classList.add("stack");  // a phone has no room for two amounts beside a name
  return card(title, rows);
}

function unattributed(data) {
  const rows = data.unattributed;
  return card("Yesterday's newest orders without a creator", rows.length ? table("Orders without a creator", [
    { name: "Order", cell: orderLink },
    { name: "Shop", cell: (row) => idOf(row.shop_id) },
    { name: "Codes", cell: (row) => (row.codes.length ? row.codes.flatMap((code, i) =>
      [i ? ", " : "", idLink("search", { q: code }, code)]) : "–") },
  ], rows) : data.yesterday.orders ? empty("Every order of yesterday has a creator.")
    : empty("No order yesterday. ", link("shops", {}, "Shops"), " shows the last event of each."));
}

export default {
  nav: "today",
  refreshSeconds: 30,
  title: () => "Today",
  load: ({ currency }, get) => get("today", { currency }),
  show(data) {
    const hasMoney = Boolean(data.currency);
    return [head("Today", sentence(data)), waiting(data.waiting),
      ...(hasMoney ? [numbers(data), ...currencies(data), charts(data)] : []),
      element("div", { class: "cards" }, ...(hasMoney && data.creators ? [element("div", {}, ...nextClose(data), unattributed(data)), topCreators(data)]
        : [unattributed(data)]))];
  },
};
