// Payout runs, and the list of payouts.
import { element } from "../dom.js";
import { count, isZero, money, plural, state, sum, time } from "../format.js";
import { idLink, namedCreator, payoutLink } from "../links.js";
import { card, empty, filtered, filters, growing, head, pageSize, sumsOf, table, tabs } from "../parts.js";

const STATES = ["CLOSED", "APPROVED", "SENT", "PAID", "VOID", "FAILED", "RETURNED"];
const FILTERS = ["state", "creator", "currency", "run"];

/** A person of support reads payouts alone. */
export const payoutTabs = (current, me) => (me.role === "support" ? "" : tabs("Payouts", [["runs", "Runs", "payouts", {}],
  ["list", "Payouts", "payouts", { list: "all" }], ["waiting", "Waiting", "payouts", { list: "waiting" }], ["approvals", "Approvals", "approvals", {}]], current));

export const payoutColumns = [
  { name: "Payout", cell: (row) => payoutLink(row.payout_id) },
  { name: "Creator", cell: (row) => namedCreator(row.creator_id, row.name) },
  { name: "Closed", cell: (row) => time(row.closed_at, false) },
  { name: "State", cell: (row) => [state(row.state), row.end_reason ? element("div", { class: "muted" }, row.end_reason) : null] },
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

const since = (row) => row.ended_at || row.sent_at || row.closed_at;
const AGES = [["Up to 7 days", "up_to_7_days"], ["Up to 14", "up_to_14_days"], ["Up to 30", "up_to_30_days"], ["Over 30", "over_30_days"]];

/** Payouts that a person has to look after, and the age of all that are not finished. */
function waiting(first, me) {
  const { waiting: list, waiting_count: total } = first;
  const columns = [...payoutColumns.slice(0, 2), { name: "Since", cell: (row) => time(since(row), false) }, ...payoutColumns.slice(3)];
  const ages = [{ name: "State", cell: (row) => state(row.state) }, { name: "Payouts", n: true, cell: (row) => count(row.payouts) },
    { name: "Oldest", cell: (row) => time(row.oldest_at, false) },
    ...AGES.map(([name, member]) => ({ name, n: true, cell: (row) => (isZero(row[member]) ? "–" : money(row[member], row.currency)) })),
    { name: "All", n: true, cell: (row) => money(row.amount, row.currency) }];
  return [head("Payouts", total ? plural(total, "payout") + (total === 1 ? " waits" : " wait") +
    " for a person: failed or returned and not paid since, or sent over 7 days ago." : "No payout waits for a person."), payoutTabs("waiting", me),
  card("Waiting for a person", list.length ? table("Waiting", columns, list) : empty("Every payout is on its way, or paid.")),
  card("Unfinished payouts by age", first.items.length ? table("By age", ages, first.items) : empty("No payout is unfinished."))];
}

function runs(first, me) {
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
  return [head("Payouts", said), payoutTabs("runs", me), growing({ path: "runs", parameters: {}, what: "payout run",
    caption: "Payout runs, newest first", columns, first, none: empty("Nothing was paid yet. ",
      element("code", {}, "sluice payout close"), " closes what is payable.") })];
}

function list(first, parameters, go, me) {
  const chosen = FILTERS.filter((name) => parameters[name]).map((name) => name + " " + parameters[name]);
  const query = Object.fromEntries(FILTERS.map((name) => [name, parameters[name]]));
  const form = filters("payouts", [{ name: "state", label: "State", options: STATES.map((word) => [word, word]) },
    { name: "creator", label: "Creator" }, { name: "currency", label: "Currency" }], parameters, (address) => go(address + "&list=all"));
  return [head("Payouts", chosen.length ? "In the order of closing: " + chosen.join(", ") + "." : "Every payout, in the order of closing."),
    payoutTabs("list", me), form, growing({ path: "payouts", parameters: query, what: "payout", caption: "Payouts",
      columns: payoutColumns, sums: payoutSums, first, none: first.refused ? empty(first.refused) : empty(chosen.length ? "No payout matches. Remove a filter." : "No payout yet.") })];
}

const isList = (parameters, me) => me.role === "support" || Boolean(parameters.list) || FILTERS.some((name) => parameters[name]);
const isWaiting = (parameters, me) => parameters.list === "waiting" && me.role !== "support";

export default {
  nav: "payouts",
  title: () => "Payouts",
  load: (parameters, get, me) => (isWaiting(parameters, me) ? get("payouts/ages", { limit: 1000 })
    : isList(parameters, me) ? filtered(get, "payouts", { ...Object.fromEntries(FILTERS.map((name) => [name, parameters[name]])), limit: pageSize() }, FILTERS)
      : get("runs", { limit: pageSize() })),
  show: (first, parameters, { go, me }) => (isWaiting(parameters, me) ? waiting(first, me)
    : isList(parameters, me) ? list(first, parameters, go, me) : runs(first, me)),
};
