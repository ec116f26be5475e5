// Statement of a month: from what was owed at its beginning to what is owed at its end.
import { get, ownTab } from "../api.js";
import { element } from "../dom.js";
import { save } from "../export.js";
import { day, isZero, money, month, moneyNode } from "../format.js";
import { button, card, hrefOf, pairs, signed, table } from "../parts.js";
import words from "../words.js";

const MONTHS = 24;
const now = () => new Date().toISOString().slice(0, 7);
const monthOf = (parameters) => (/^\d{4}-\d\d$/.test(parameters.month ?? "") ? parameters.month : now());

function monthsUntilNow(chosen) {
  const [year, number] = now().split("-").map(Number);
  const all = Array.from({ length: MONTHS }, (_, i) => new Date(Date.UTC(year, number - 1 - i, 1)).toISOString().slice(0, 7));
  return all.includes(chosen) ? all : [...all, chosen].sort().reverse();
}

function chooser(chosen) {
  const node = element("select", { "aria-label": words.statement.month }, ...monthsUntilNow(chosen).map((one) =>
    element("option", { value: one, ...(one === chosen ? { selected: "" } : {}) }, month(one))));
  node.addEventListener("change", () => { location.hash = hrefOf("statement", { month: node.value }); });
  return node;
}

export default {
  title: (parameters) => words.views.statement + " " + month(monthOf(parameters)),
  nav: "statement",
  load: (parameters, signal) => get("statement", { month: monthOf(parameters) }, signal),
  show(statement) {
    const { entries, sums } = statement;
    const text = words.statement, name = month(statement.month);
    const earned = sums.filter((one) => !isZero(one.earned)).map((one) => money(one.earned, one.currency));
    const columns = [
      { name: words.columns.day, cell: (row) => element("span", { class: "nowrap" }, day(row.day)) },
      { name: words.columns.what, cell: (row) => words.entries[row.word] ?? row.word },
      { name: words.columns.order, cell: (row) => row.number ?? "" },
      { name: words.columns.amount, n: true, cell: (row) => signed(row.amount, row.currency) },
    ];
    return { nodes: [
      element("h1", { class: "eyebrow", tabindex: "-1" }, words.views.statement),
      element("p", { class: "answer" }, earned.length ? text.answer(text.earned(earned.join(", ")), name) : entries.length ? name : text.none(name)),
      element("p", { class: "after muted" }, statement.closed ? text.closed : text.open),
      element("p", { class: "tools" }, chooser(statement.month),
        ...(entries.length ? [button(words.export, () => save("statement-" + statement.month, entries))] : []),
        element("a", { class: "button", target: "_blank", rel: "noopener", href: ownTab("view=statement&month=" + statement.month + "&print=1") }, words.print)),
      ...sums.map((one) => card(text.sums + ", " + one.currency, pairs(text.sums, ["opening", "earned", "adjusted", "paid_out", "closing"].map((part) =>
        [words.sums[part], moneyNode(one[part], one.currency)])))),
      ...(entries.length ? [card(text.entries, table(text.entries, columns, entries, { isList: true }))] : []),
    ] };
  },
};
