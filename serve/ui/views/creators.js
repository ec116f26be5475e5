// The list of creators.
import { element } from "../dom.js";
import { isZero, money, negated, state, sum } from "../format.js";
import { creatorLink, idLink } from "../links.js";
import { empty, filtered, filters, growing, head, pageSize, tabs } from "../parts.js";

const joined = (nodes) => nodes.flatMap((node, i) => (i ? [", ", node] : [node]));

const COLUMNS = [
  { name: "Creator", cell: (row) => [creatorLink(row.creator_id), row.held ? [" ", state("held")] : null,
    row.name ? element("div", { class: "muted" }, row.name) : null].flat() },
  { name: "Program", cell: (row) => [idLink("program", { program: row.program_id }, row.program_id), row.removed ? " (removed)" : ""] },
  { name: "Codes", cell: (row) => joined(row.codes.map((code) => idLink("search", { q: code }, code))) },
];
const SUMS = [["This month", "earned", "this_month"], ["Last month", "earned", "last_month"], ["Growth", "earned", "growth"],
  ["Owed", "balances", "owed"], ["Payable", "balances", "payable"]];
const sumOf = (row, list, member, currency) => row[list].find((one) => one.currency === currency)?.[member] ?? "0";
const withGrowth = (one) => ({ ...one, growth: sum([one.this_month, negated(one.last_month)]) });
/** Currencies of a row in which some column has an amount: each has a line of its own in every column. */
const currenciesOf = (row) => [...new Set([...row.earned, ...row.balances].map((sum) => sum.currency))].sort()
  .filter((currency) => SUMS.some(([, list, member]) => !isZero(sumOf(row, list, member, currency))));
const MONEY = SUMS.map(([name, list, member]) => ({ name, n: true, cell: (row) => {
  const lines = currenciesOf(row).map((currency) => [sumOf(row, list, member, currency), currency]);
  return lines.every(([amount]) => isZero(amount)) ? "–" : lines.map(([amount, currency]) =>
    (isZero(amount) ? element("div", { class: "none" }, "–") : element("div", {}, money(amount, currency))));
} }));

const withExtras = (answer) => answer.items.map((row, i) => ({ ...row, held: answer.held[i], balances: answer.balances?.[i],
  earned: row.earned?.map(withGrowth) }));
const queryOf = ({ program, q, sort }) => ({ program, q, sort: sort === "-earned" ? sort : undefined });

export default {
  nav: "creators",
  title: () => "Creators",
  load: (parameters, get) => filtered(get, "creators", { ...queryOf(parameters), limit: pageSize() }, ["program"]),
  show(first, parameters, { go, me }) {
    const { program, q, sort } = parameters;
    const seesLedger = me.role !== "viewer";
    const order = sort === "-earned" ? "best" : "id";
    const said = program || q ? "Creators" + (q ? " that begin with " + q : "") + (program ? " in " + program : "") + "."
      : "One line for each creator and program.";
    return [head("Creators", said),
      filters("creators", [{ name: "q", label: "Id or name begins with" }, { name: "program", label: "Program" }], parameters, go),
      ...(seesLedger ? [tabs("Order", [["id", "By id", "creators", { program, q }],
        ["best", "Best of the month", "creators", { program, q, sort: "-earned" }]], order)] : []),
      growing({ path: "creators", parameters: queryOf(parameters), what: "member", caption: "Creators",
        columns: seesLedger ? [...COLUMNS, ...MONEY] : COLUMNS, read: withExtras, first, none: first.refused ? empty(first.refused) : program || q ? empty("No creator matches. Remove a filter.")
          : empty("No creator yet. ", element("code", {}, "sluice creator import"), " adds them.") })];
  },
};
