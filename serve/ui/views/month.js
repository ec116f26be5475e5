// One month: do the books tie, and can it be closed.
import { element } from "../dom.js";
import { amount, byMinorUnits, capital, count, isZero, money, monthAfter, monthName, monthStart, negated, plural, sum, time, today } from "../format.js";
import { hrefOf, idLink, link } from "../links.js";
import { card, empty, growing, head, table } from "../parts.js";
import { commandBox, commandLine } from "../shell.js";
import { exportButton } from "../export.js";
import { get } from "../api.js";

const BOOKS = { expense: "Expense", owed: "Owed", payout: "In payouts", paid: "Paid" };
const LATE_PAGES = 10;

/** The month that is closed next: the one before the current. */
const usual = () => monthAfter(today().slice(0, 7), -1);
const monthOf = (parameters) => (/^\d{4}-(0[1-9]|1[0-2])$/.test(parameters.month || "") ? parameters.month : usual());
const rangeOf = (month) => ({ from: monthStart(month), until: monthStart(monthAfter(month, 1)) });

async function load(parameters, ask) {
  const range = rangeOf(monthOf(parameters));
  const [periods, trial] = await Promise.all([ask("periods", { limit: 1000, until: range.until }), ask("trial-balance", { ...range, limit: 1000 })]);
  return { periods: periods.items, checks: periods.checks, trial: trial.items, isWhole: trial.next === null };
}

const currenciesOf = (trial) => [...new Set(trial.map((row) => row.currency))].sort();

/** What creators have: a balance of theirs is a credit, which the trial balance shows below zero. */
function closing(trial, currency) {
  const of = (account) => negated(sum(trial.filter((row) => row.currency === currency && row.ledger_account === account)
    .map((row) => row.closing)));
  return { currency, owed: of("owed"), payout: of("payout"), paid: of("paid") };
}

function check(isGood, words, ...more) {
  const [color, word] = isGood === null ? ["plain", "check"] : isGood ? ["good", "done"] : ["warn", "missing"];
  return element("li", {}, element("span", { class: "state " + color }, word), element("span", {}, words, ...more));
}

function balanceCheck(trial, isWhole) {
  const off = currenciesOf(trial).map((currency) => [currency, sum(trial.filter((row) => row.currency === currency).map((row) => row.closing))])
    .filter(([, total]) => !isZero(total));
  if (!isWhole) return check(null, "The trial balance has more than 1,000 rows: ", element("code", {}, "sluice report trial-balance"), " sums it.");
  return off.length ? check(false, "The trial balance does not sum to 0: ", ...off.flatMap(([currency, total]) => [money(total, currency), " "]))
    : check(true, "The trial balance sums to 0.");
}

function nodeCheck({ nodes, until }) {
  if (!nodes.length) return check(true, "Every node has applied inputs beyond the month's end.");
  const isOne = nodes.length === 1, isOver = Date.parse(until) <= Date.now();
  return check(false, plural(nodes.length, "node") + " may still have inputs of the month: ",
    link("shops", {}, nodes.map((number) => "node " + number).join(", ")), ".",
    ...(isOver ? [" If " + (isOne ? "it was" : "they were") + " taken out of service, ", element("code", {}, "--allow-late"),
      " closes without " + (isOne ? "it." : "them.")] : []));
}

function blockedCheck({ blocked }) {
  if (!blocked.length) return check(true, "No amount is blocked.");
  return check(null, link("orders", { status: "blocked" }, "Blocked"), ": ",
    ...blocked.flatMap((one, i) => [i ? ", " : "", money(one.amount, one.currency)]), ".");
}

const countCheck = (number, view, parameters, words, none) =>
  (number ? check(null, link(view, parameters, words(number)), ".") : check(true, none));

function checklist(data, month, period, me) {
  const list = element("ul", { class: "checks" }, balanceCheck(data.trial, data.isWhole));
  if (period) {
    list.append(check(true, "Closed on ", time(period.closed_at), " by " + (period.closed_by || "–") + "."));
    return card("Checklist", list);
  }
  const { checks } = data;
  list.prepend(nodeCheck(checks));
  list.append(countCheck(checks.approvals, "approvals", {}, (number) => plural(number, "approval") + (number === 1 ? " waits" : " wait"),
    "No approval waits."), blockedCheck(checks), countCheck(checks.payouts_unfinished, "payouts", { list: "all" },
    (number) => plural(number, "payout") + " not settled", "Every payout is settled."));
  return card("Checklist", list, element("p", { class: "muted then" }, "When all is done:"),
    commandBox(commandLine("sluice period close", [], [["--account", me.account], ["--until", monthStart(monthAfter(month, 1))]])));
}

function numbers(trial) {
  const all = currenciesOf(trial).map((currency) => closing(trial, currency));
  if (!all.length) return card("Closing", empty("No posting up to the end of the month."));
  const [main, ...others] = all.sort((a, b) => byMinorUnits(a.owed, b.owed));
  const large = [["Owed", main.owed], ["In payouts", main.payout], ["Paid", main.paid]].map(([name, value]) =>
    element("div", {}, element("dt", {}, name), element("dd", { class: "big" }, money(value, main.currency))));
  return element("div", {}, card("Closing", element("dl", { class: "closing" }, ...large)), ...(others.length ? [card("Closing, other currencies", table("Other currencies", [
    { name: "Currency", cell: (row) => row.currency }, ...["owed", "payout", "paid"].map((name) =>
      ({ name: BOOKS[name], n: true, cell: (row) => amount(row[name]) }))], others))] : []));
}

/** Every posting of expense has owed on its other side, so its movement is what was earned and adjusted; the rest was paid out. */
function programs(trial) {
  const rows = trial.filter((row) => row.ledger_account === "owed").map((row) => {
    const expense = trial.find((one) => one.ledger_account === "expense" && one.program_id === row.program_id && one.currency === row.currency);
    const earned = sum([expense.debit, negated(expense.credit)]);
    const [opening, closing] = [negated(row.opening), negated(row.closing)];
    return { ...row, opening, earned, paidOut: sum([opening, earned, negated(closing)]), closing };
  });
  return card("Owed by program", table("Owed by program", [
    { name: "Program", cell: (row) => link("program", { program: row.program_id }, row.program_id) },
    { name: "Currency", cell: (row) => row.currency },
    { name: "Opening", n: true, cell: (row) => amount(row.opening) },
    { name: "Earned and adjusted", n: true, cell: (row) => amount(row.earned) },
    { name: "Paid out", n: true, cell: (row) => amount(row.paidOut) },
    { name: "Closing", n: true, cell: (row) => amount(row.closing) },
  ], rows));
}

function books(trial, month) {
  const sums = currenciesOf(trial).flatMap((currency) => Object.keys(BOOKS).map((account) => {
    const rows = trial.filter((row) => row.currency === currency && row.ledger_account === account);
    const of = (name) => sum(rows.map((row) => row[name]));
    return { currency, account, opening: of("opening"), debit: of("debit"), credit: of("credit"), closing: of("closing") };
  }));
  return card("Trial balance", table("Trial balance", [
    { name: "Account", cell: (row) => BOOKS[row.account] }, { name: "Currency", cell: (row) => row.currency },
    ...["opening", "debit", "credit", "closing"].map((name) =>
      ({ name: capital(name), n: true, cell: (row) => amount(row[name]) })),
  ], sums), element("p", { class: "muted then" }, "Debit balances are above zero, credit balances below. Each currency sums to 0."),
  element("p", { class: "more" }, exportButton("trial-balance", rangeOf(month), "trial-balance-" + month)));
}

/** A part that reads more rows when a person asks for them. */
function onDemand(title, words, asks, read) {
  const section = card(title, element("p", { class: "muted" }, words));
  const button = element("button", { type: "button" }, asks);
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      section.append(await read());
      button.remove();
    } catch (error) {
      button.disabled = false;
      button.textContent = "Not loaded: " + error.message;
    }
  });
  section.append(button);
  return section;
}

/** Postings of the month that refer to an entry of a month before. */
async function lateEntries(month) {
  const rows = [];
  let after, pages = 0;
  do {
    const page = await get("journal", { from: rangeOf(month).from, to: rangeOf(month).until, limit: 1000, after });
    rows.push(...page.items.filter((row) => row.refers_to !== null));
    after = page.next;
  } while (after && ++pages < LATE_PAGES);
  return rows.length ? table("Late entries", [
    { name: "Entry", cell: (row) => count(row.entry) }, { name: "Refers to", cell: (row) => count(row.refers_to) },
    { name: "Date", cell: (row) => time(row.accounting_date, false) },
    { name: "Creator", cell: (row) => row.creator_id || "" },
    { name: "Order", cell: (row) => (row.order_id ? idLink("order", { shop: row.shop_id, order: row.order_id }, row.order_id) : "") },
    { name: "Reason", cell: (row) => row.reason.toLowerCase() },
    { name: "Amount", n: true, cell: (row) => (row.amount === null ? "–" : money(row.amount, row.currency)) }], rows)
    : empty("None" + (after ? " among the newest " + count(LATE_PAGES * 1000) + " entries" : "") + ".");
}

const late = (month) => onDemand("Late entries", "Postings of the month that correct an earlier entry.", "Find late entries",
  () => lateEntries(month));

/** Creators of a closed month, by the sums that were kept when it was closed. */
function statements(month, until, go) {
  const asked = { until, limit: 1000 };
  const columns = [
    { name: "Creator", cell: (row) => idLink("statement", { creator: row.creator_id, month }, row.creator_id) },
    { name: "Program", cell: (row) => row.program_id }, { name: "Currency", cell: (row) => row.currency },
    { name: "Opening", n: true, cell: (row) => amount(row.opening_owed) },
    { name: "Closing", n: true, cell: (row) => amount(row.closing_owed) },
    { name: "Entries", n: true, cell: (row) => count(row.entries) },
    { name: "Digest", cell: (row) => element("span", { class: "id long muted" }, row.digest) },
  ];
  if (until) {
    return onDemand("Creators' statements", "What each creator was owed, as the month was closed. A statement is a page that prints.", "List the creators",
      async () => growing({ path: "period", parameters: { until }, what: "sum", caption: "Sums of the month", columns, first: await get("period", asked),
        none: empty("No creator has a sum in this month.") }));
  }

  const input = element("input", { name: "creator", required: "", autocomplete: "off", spellcheck: "false" });
  const form = element("form", { class: "filters" }, element("label", {}, "Creator", input), element("button", {}, "Show statement"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    go(hrefOf("statement", { creator: input.value.trim(), month }));
  });
  return card("Creators' statements", element("p", { class: "muted" }, "A page to read, print or save as CSV."), form);
}

export default {
  nav: "month",
  title: (parameters) => monthName(monthOf(parameters)),
  load,
  show(data, parameters, { go, me }) {
    const month = monthOf(parameters);
    const end = monthStart(monthAfter(month, 1));
    const ending = data.periods.filter((row) => row.until).sort((a, b) => (a.until < b.until ? -1 : 1)).find((row) => row.until >= end);
    const said = ending ? ["Closed on ", time(ending.closed_at, false), " by " + (ending.closed_by || "–") + "."]
      : month >= today().slice(0, 7) ? "Open: the month has not ended." : "Open, and may change.";
    const after = monthAfter(month, 1);
    const step = (to, text) => link("month", { month: to }, text, { class: "button" });
    return [head(monthName(month), said, step(monthAfter(month, -1), "← " + monthName(monthAfter(month, -1))),
      ...(after <= today().slice(0, 7) ? [step(after, monthName(after) + " →")] : [])),
    element("div", { class: "cards" }, checklist(data, month, ending, me), numbers(data.trial)),
    ...(data.trial.length ? [programs(data.trial), books(data.trial, month)] : []),
    element("div", { class: "cards" }, late(month), statements(month, ending?.until === end ? end : null, go))];
  },
};
