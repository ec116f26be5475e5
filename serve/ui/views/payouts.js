// Payout runs, and the list of payouts.
import { element } from "../dom.js";
import { count, money, plural, state, sum, time } from "../format.js";
import { idLink, namedCreator, payoutLink } from "../links.js";
import { empty, filtered, filters, growing, head, pageSize, sumsOf, tabs } from "../parts.js";

const STATES = ["CLOSED", "APPROVED", "SENT", "PAID", "VOID", "FAILED", "RETURNED"];
const FILTERS = ["state", "creator", "currency", "run"];

export const payoutTabs = (current) => tabs("Payouts", [["runs", "Runs", "payouts", {}], ["list", "Payouts", "payouts", { list: "all" }],
  ["approvals", "Approvals", "approvals", {}]], current);

export const payoutColumns = [
  { name: "Payout", cell: (row) => payoutLink(row.payout_id) },
  { name: "Creator", cell: (row) => namedCreator(row.creator_id, row.name) },
  { name: "Closed", cell: (row) => time(row.closed_at, false) },
  { name: "State", cell: (row) => state(row.state) },
  { name: "Amount", n: true, cell: (row) => money(row.amount, row.currency) },
];
export const payoutSums = (rows) => sumsOf(rows, (row) => row.amount, (row) => row.currency);

/** Amounts by currency; states: counts by state. */
export const runAmounts = (run) => {
  const currencies = [...new Set(run.sums.map((one) => one.currency))];
  const total = (currency) => sum(run.sums.filter((one) => one.currency === currency).map((one) => one.amount));
  return currencies.length ? currencies.sort().map((currency) => element("div", {}, money(total(currency), currency))) : "–";
};
export const runStates = (run) => {
  const counts = new Map();
  for (const one of run.sums) counts.set(one.state, (counts.get(one.state) || 0) + one.payouts);
  const reached = STATES.filter((word) => counts.has(word));
  return reached.length ? reached.map((word) => element("div", {}, count(counts.get(word)) + " ", state(word))) : "none";
};

function runs(first) {
  const columns = [
    { name: "Run", cell: (run) => idLink("run", { run: run.payout_run }, run.payout_run) },
    { name: "Until", cell: (run) => time(run.until) },
    { name: "Closed by", cell: (run) => run.closed_by || "–" },
    { name: "Payouts", n: true, cell: runStates },
    { name: "Amount", n: true, cell: runAmounts },
  ];
  const [newest] = first.items;
  const said = newest ? ["The last run was closed on ", time(newest.closed_at), " with " + plural(newest.payouts, "payout") + "."]
    : "No payout run yet.";
  return [head("Payouts", said), payoutTabs("runs"), growing({ path: "runs", parameters: {}, what: "payout run",
    caption: "Payout runs, newest first", columns, first, none: empty("Nothing was paid yet. ",
      element("code", {}, "sluice payout close"), " closes what is payable.") })];
}

function list(first, parameters, go) {
  const chosen = FILTERS.filter((name) => parameters[name]).map((name) => name + " " + parameters[name]);
  const query = Object.fromEntries(FILTERS.map((name) => [name, parameters[name]]));
  const form = filters("payouts", [{ name: "state", label: "State", options: STATES.map((word) => [word, word]) },
    { name: "creator", label: "Creator" }, { name: "currency", label: "Currency" }], parameters, (address) => go(address + "&list=all"));
  return [head("Payouts", chosen.length ? "In the order of closing: " + chosen.join(", ") + "." : "Every payout, in the order of closing."),
    payoutTabs("list"), form, growing({ path: "payouts", parameters: query, what: "payout", caption: "Payouts",
      columns: payoutColumns, sums: payoutSums, first, none: first.refused ? empty(first.refused) : empty(chosen.length ? "No payout matches. Remove a filter." : "No payout yet.") })];
}

const isList = (parameters) => Boolean(parameters.list) || FILTERS.some((name) => parameters[name]);

export default {
  nav: "payouts",
  title: () => "Payouts",
  load: (parameters, get) => (isList(parameters)
    ? filtered(get, "payouts", { ...Object.fromEntries(FILTERS.map((name) => [name, parameters[name]])), limit: pageSize() }, FILTERS)
    : get("runs", { limit: pageSize() })),
  show: (first, parameters, { go }) => (isList(parameters) ? list(first, parameters, go) : runs(first)),
};
