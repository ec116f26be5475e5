// One creator: what is owed, when it is paid, and why.
import { element } from "../dom.js";
import { SKIPPED, amount, byMinorUnits, count, day, isZero, money, monthAfter, monthName, negated, plural, short, shortMonth, shortWhole, state, sum, time, today } from "../format.js";
import { idLink, link } from "../links.js";
import { CLICKS, ORDERS, bars, card, empty, head, table, tile, tiles } from "../parts.js";
import { commandBox, commandLine } from "../shell.js";
import { orderColumns, withNames } from "./orders.js";
import { payoutColumns } from "./payouts.js";

const own = (columns) => columns.filter((column) => column.name !== "Creator");
const TITLES = { payable: "Payable", pending: "Pending", blocked: "Blocked", in_payout: "In payouts", paid: "Paid" };

/** Sums of the balances by currency, the currency with the most owed first. */
function byCurrency(balances) {
  const currencies = [...new Set(balances.map((row) => row.currency))];
  const all = currencies.map((currency) => {
    const rows = balances.filter((row) => row.currency === currency);
    const of = (name) => sum(rows.map((row) => row[name]));
    return { currency, pending: of("pending"), blocked: of("blocked"), payable: of("payable"), in_payout: of("in_payout"),
      paid: of("paid") };
  });
  const owed = (row) => sum([row.payable, row.pending, row.blocked]);
  return all.sort((a, b) => byMinorUnits(owed(a), owed(b)));
}

/** What the next close does with the payable amount: its words after the amount. */
function closing(close) {
  if (!close) return "nothing to pay";
  const date = close.payout_day ? ", on " + day(close.payout_day) + "," : "";
  if (!close.reason) return "the next close" + date + " takes it";
  const more = close.reason === "BELOW_MINIMUM" ? " of " + amount(close.minimum) + " " + close.currency
    : close.reason === "PAYEE_CHANGED" && close.payee_from ? ", paid from " + day(close.payee_from) : "";
  return "the next close leaves it: " + SKIPPED[close.reason] + more;
}

function amounts({ balances, next_closes: closes }) {
  const [main, ...others] = byCurrency(balances || []);
  if (!main) return [];
  const value = (name) => money(main[name], main.currency);
  const blocked = !isZero(main.blocked) ? [money(main.blocked, main.currency), " blocked"] : "not cleared yet";
  return [tiles("Amounts", [tile("Payable", value("payable"), isZero(main.payable) ? "nothing to pay" : closing(closes.find((one) => one.currency === main.currency))), tile("Pending", value("pending"), blocked),
    tile("In payouts", value("in_payout"), "closed, not paid yet"), tile("Paid", value("paid"), "so far")]),
  ...(others.length ? [card("Other currencies", table("Other currencies", [
    { name: "Currency", cell: (row) => row.currency },
    ...Object.entries(TITLES).map(([name, title]) =>
      ({ name: title, n: true, cell: (row) => amount(row[name]) })),
  ], others))] : [])];
}

/** When what is pending clears, and the payout day after it. */
function clearing(creator) {
  const rows = creator.clearing || [];
  if (!rows.length) return [];
  const hasDay = rows.some((row) => row.payout_day);
  return [card("When is the rest paid?", table("Clearing days", [
    { name: "Clears on", cell: (row) => time(row.day + "T00:00:00Z", false) },
    ...(hasDay ? [{ name: "Payout day", cell: (row) => time(row.payout_day, false) }] : []),
    { name: "Amount", n: true, cell: (row) => money(row.amount, row.currency) }], rows))];
}

/** Twelve bars for each currency, in the order of the balances. Those after the second open when asked. */
function months(creator) {
  const rows = creator.months || [];
  const of = (currency) => rows.filter((row) => row.currency === currency);
  const places = byCurrency(creator.balances || []).map((row) => row.currency);
  const currencies = [...new Set(rows.map((row) => row.currency))].sort((a, b) => places.indexOf(a) - places.indexOf(b));
  const last = today().slice(0, 7);
  const series = [["earned", "one"], ["adjusted", "two"]].map(([name, color]) =>
    ({ name, color, value: (row) => Number(row[name]), text: (row) => amount(row[name]) }));
  const names = { what: "Month", name: (row) => monthName(row.month), tick: (row, i) => (i % 2 ? shortMonth(row.month) : null) };
  const charts = currencies.map((currency) => {
    const zero = sum([of(currency)[0].earned, negated(of(currency)[0].earned)]);
    const points = Array.from({ length: 12 }, (_, i) => monthAfter(last, i - 11)).map((month) =>
      of(currency).find((row) => row.month === month) || { month, earned: zero, adjusted: zero });
    return bars("Earned and adjusted by month, " + currency, short, series, points, names);
  });
  const section = (list) => element("section", { class: "charts", "aria-label": "Twelve months" }, ...list);
  return [...(charts.length ? [section(charts.slice(0, 2))] : []), ...(charts.length > 2 ? [element("details", { class: "rest" },
    element("summary", {}, "Months in " + currencies.slice(2).join(", ")), section(charts.slice(2)))] : [])];
}

/** Twelve bars of clicks and of devices, if there was a click. */
function clicks({ click_months: months }) {
  if (!months.some((row) => row.clicks || row.orders)) return [];
  const names = { what: "Month", name: (row) => monthName(row.month), tick: (row, i) => (i % 2 ? shortMonth(row.month) : null) };
  return [element("section", { class: "charts", "aria-label": "Twelve months of links" },
    bars("Clicks and devices by month", shortWhole, CLICKS, months, names), bars("Orders through links by month", shortWhole, ORDERS, months, names))];
}

function links({ links: list, creator_id: creator }) {
  if (!list.length) return [];
  return [card("Links", table("Links", [
    { name: "Link", cell: (row) => [idLink("link", { link: row.link_id }, row.link_id), row.state === "active" ? null : [" ", state(row.state)]].flat() },
    ...["Clicks", "Devices", "Orders"].map((name) => ({ name: name + ", 30 days", n: true, cell: (row) => count(row[name.toLowerCase()]) })),
  ], list), element("p", { class: "more" }, link("links", { creator }, "All links of " + creator)))];
}

function programs(creator) {
  const codes = creator.programs.flatMap((member) => (member.codes.length ? member.codes : [null]).map((code) => ({ member, code })));
  return card("Programs and codes", codes.length ? table("Programs and codes", [
    { name: "Code", cell: ({ code }) => (code ? idLink("search", { q: code.code }, code.code) : "no code") },
    { name: "Program", cell: ({ member }) => [link("program", { program: member.program_id }, member.program_id),
      member.removed ? " (removed)" : "", member.group ? " group " + member.group : ""] },
    { name: "Valid", cell: ({ code, member }) => ["from ", time((code || { valid_from: member.effective_from }).valid_from, false),
      ...(code && code.valid_until ? [" until ", time(code.valid_until, false)] : [])] },
  ], codes) : empty("In no program."));
}

function holds(creator, account) {
  if (!creator.holds.length) return [];
  return [card("Holds", table("Holds", [
    { name: "Since", cell: (hold) => time(hold.held_at) },
    { name: "Program", cell: (hold) => hold.program_id || "all" },
    { name: "By", cell: (hold) => hold.actor || "–" },
    { name: "Reason", cell: (hold) => hold.reason || "–" },
  ], creator.holds), ...creator.holds.map((hold) => commandBox(commandLine("sluice release", [], [["--account", account],
    ["--creator", creator.creator_id], ...(hold.program_id ? [["--program", hold.program_id]] : []), ["--reason", "WHY"]]))))];
}

function payee(creator, isViewer) {
  const names = creator.aliases.filter((name) => name !== creator.creator_id);
  return card("Payee", element("p", {}, isViewer ? "Shown to support and managers." : creator.payee || "none known",
    ...(creator.payee_since ? [", since ", time(creator.payee_since, false)] : [])),
  ...(names.length ? [element("p", { class: "muted" }, "Also known as " + names.join(", "))] : []), ...payeeChanges(creator));
}

/** Who changed the payee, when and why. */
function payeeChanges({ payee_changes: changes }) {
  if (!changes || !changes.length) return [];
  return [table("Changes of the payee", [
    { name: "Changed", cell: (row) => time(row.changed_at) },
    { name: "From", cell: (row) => row.old_payee || "none" },
    { name: "To", cell: (row) => row.new_payee || "none" },
    { name: "By", cell: (row) => row.actor + (row.approved_by ? ", approved by " + row.approved_by : "") },
    { name: "Reason", cell: (row) => row.reason || "–" },
  ], changes)];
}

function payouts({ payouts: list, creator_id: creator }) {
  if (!list) return [];
  return [card("Payouts", list.length ? table("Payouts", own(payoutColumns), list) : empty("No payout yet."),
  element("p", { class: "more" }, link("payouts", { creator }, "All payouts of " + creator)))];
}

function statements(creator) {
  const month = today().slice(0, 7);
  const months = Array.from({ length: 6 }, (_, i) => monthAfter(month, -i));
  return card("Statements", element("p", { class: "links" }, ...months.map((one) => link("statement", { creator, month: one }, monthName(one)))));
}

function sentence(creator, rows) {
  const [main] = rows;
  const held = creator.holds.length ? ", held since " + day(creator.holds[0].held_at) : "";
  const name = creator.name ? creator.name + ": " : "";
  if (!main) return name + plural(creator.programs.length, "program") + held + ".";
  const first = (creator.clearing || []).find((row) => row.currency === main.currency);
  return [name, money(main.payable, main.currency), " payable",
    ...(isZero(main.payable) ? [""] : [": " + closing(creator.next_closes.find((one) => one.currency === main.currency))]), "; ",
    money(main.pending, main.currency), " pending" + (first ? ", the first from " + day(first.day) : ""),
    ...(isZero(main.blocked) ? [] : ["; ", money(main.blocked, main.currency), " blocked"]), held + "."];
}

export default {
  nav: "creators",
  title: (parameters) => "Creator " + (parameters.creator || ""),
  async load(parameters, get) {
    const { creator } = parameters;
    const [one, orders] = await Promise.all([get("creator", { creator }), get("orders", { creator, sort: "-ordered_at", limit: 10 })]);
    return { creator: one, orders: withNames(orders) };
  },
  show(data, parameters, { me }) {
    const { creator, orders } = data;
    const rows = byCurrency(creator.balances || []);
    const isViewer = me.role === "viewer";
    return [head(creator.creator_id, sentence(creator, rows)), ...amounts(creator),
      ...months(creator), ...clicks(creator), element("div", { class: "cards" },
        element("div", {}, ...holds(creator, me.account), programs(creator), ...links(creator), ...(isViewer ? [] : clearing(creator)), ...(isViewer ? [] : [payee(creator, false)])),
        element("div", {}, ...(isViewer ? [payee(creator, true)] : [...payouts(creator), statements(creator.creator_id)])),
        element("div", { class: "wide" }, card("Newest orders", orders.length ? table("Orders", own(orderColumns), orders)
          : empty("No order yet."), element("p", { class: "more" }, link("orders", { creator: creator.creator_id }, "All orders of " + creator.creator_id)))))];
  },
};
