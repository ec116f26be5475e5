// Today: which work waits, and what is owed (G4).
import { element } from "../dom.js";
import { earnings } from "../earnings.js";
import { amount, count, isZero, money, sum } from "../format.js";
import { hrefOf, link } from "../links.js";
import { card, empty, head, table, tile, tiles } from "../parts.js";

/** kind: [one, many, view, parameters] */
const WORK = {
  approvals: ["approval", "approvals", "approvals", {}],
  blocked: ["anomaly that blocks a payout", "anomalies that block a payout", "anomalies", { tab: "blocks" }],
  holds: ["order or creator held", "orders and creators held", "anomalies", { tab: "blocks" }],
};
const BOOKS = { payable: "Payable", pending: "Pending", blocked: "Blocked", in_payout: "In payouts", paid: "Paid" };

const currenciesOf = (rows) => [...new Set(rows.map((row) => row.currency).filter(Boolean))];

/** [{currency, amount}] of rows with both. */
function sums(rows, name) {
  return currenciesOf(rows).map((currency) =>
    ({ currency, amount: sum(rows.filter((row) => row.currency === currency).map((row) => row[name])) }));
}

/** Lines of 0 are left out. A list that has more pages is counted as "100 or more". */
function waiting(lines, none) {
  const shown = lines.filter((line) => line.items.length);
  if (!shown.length) return card("Waiting for you", empty(none));
  return card("Waiting for you", element("ul", { class: "waiting" }, ...shown.map(({ kind, items, next }) => {
    const [one, many, view, parameters] = WORK[kind];
    const amounts = sums(items.filter((row) => row.amount), "amount")
      .flatMap((total, i) => [i ? ", " : "", money(total.amount, total.currency)]);
    return element("li", {}, element("a", { href: hrefOf(view, parameters) }, element("b", {}, count(items.length) + (next ? "+" : "")),
      element("span", { class: "what" }, items.length === 1 ? one : many), element("span", { class: "sum" }, ...amounts)));
  })));
}

/** Sums by currency, the one with the most owed first. */
function totals(balances) {
  const all = currenciesOf(balances).map((currency) => {
    const rows = balances.filter((row) => row.currency === currency);
    return { currency, ...Object.fromEntries(Object.keys(BOOKS).map((name) => [name, sum(rows.map((row) => row[name]))])) };
  });
  const owed = (row) => Number(row.payable) + Number(row.pending) + Number(row.blocked);
  return all.sort((a, b) => owed(b) - owed(a));
}

function numbers([main, ...others]) {
  const value = (name) => money(main[name], main.currency);
  const blocked = isZero(main.blocked) ? "not cleared yet" : [value("blocked"), " blocked"];
  return [tiles("Amounts", [tile("Payable", value("payable"), "the next close takes it"), tile("Pending", value("pending"), blocked),
    tile("In payouts", value("in_payout"), "closed, not paid yet"), tile("Paid", value("paid"), "so far")]),
  ...(others.length ? [card("Other currencies", table("Other currencies", [{ name: "Currency", cell: (row) => row.currency },
    ...Object.entries(BOOKS).map(([name, title]) => ({ name: title, n: true, cell: (row) => amount(row[name]) }))], others))] : [])];
}

function ledgerView([approvals, balances]) {
  const rows = totals(balances.items);
  const lines = [{ kind: "approvals", ...approvals }];
  const said = !rows.length ? "Nothing was earned yet."
    : balances.next ? "The account has more than 1,000 balances; Month sums them."
      : [money(rows[0].payable, rows[0].currency), " payable, ", money(rows[0].pending, rows[0].currency), " pending."];
  return [head("Today", said), waiting(lines, "No approval is waiting."), ...(rows.length && !balances.next ? numbers(rows) : []), earnings({}, "day")];
}

function orderView([anomalies, holds]) {
  return [head("Today", "What keeps commissions from being paid."), waiting([{ kind: "blocked", ...anomalies }, { kind: "holds", ...holds }],
    "Nothing blocks a payout.")];
}

export default {
  nav: "today",
  refreshSeconds: 30,
  title: () => "Today",
  load: (parameters, get, me) => Promise.all(me.role === "viewer"
    ? [get("anomalies", { blocks: "true" }), get("holds", {})]
    : [get("approvals", { limit: 1000 }), get("balances", { limit: 1000 })]),
  show(data, parameters, { me }) {
    const look = element("p", {}, link("anomalies", { tab: "blocks" }, "What blocks payouts"), " · ", link("anomalies", { tab: "open" }, "Open anomalies"),
      " · ", link("payouts", { list: "all", state: "FAILED" }, "Failed payouts"), " · ", link("orders", { attributed: "false" }, "Orders without a creator"));
    return [...(me.role === "viewer" ? orderView(data) : ledgerView(data)), card("Look", look)];
  },
};
