// Payments, the newest first, and why the last one left something out.
import { get } from "../api.js";
import { element } from "../dom.js";
import { day, isNegative, minus, money, moneyNode } from "../format.js";
import { card, growing, link, state } from "../parts.js";
import settings from "../settings.js";
import words from "../words.js";

export const dayOf = (payment) => payment.paid_on ?? payment.sent_on ?? payment.day;

function leftOut(rows) {
  if (!rows.length) return [];
  const sentences = rows.map((row) => words.left_out[row.reason]({
    amount: money(row.amount, row.currency), name: settings.name,
    minimum: row.minimum === null ? "" : money(row.minimum, row.currency),
    missing: row.minimum === null || isNegative(row.amount) ? "" : money(minus(row.minimum, row.amount), row.currency) }));
  return [card(words.payments.left_out(day(rows[0].day)), ...sentences.map((text) => element("p", {}, text)))];
}

export default {
  title: () => words.views.payments,
  load: (parameters, signal) => get("payments", {}, signal),
  show(first) {
    const head = element("h1", { class: "eyebrow", tabindex: "-1" }, words.views.payments);
    const columns = [
      { name: words.columns.payment, cell: (row) => link("payment", { id: row.id }, row.id) },
      { name: words.columns.day, cell: (row) => element("span", { class: "nowrap" }, day(dayOf(row))) },
      { name: words.columns.paid_to, cell: (row) => row.payee },
      { name: words.columns.state, cell: (row) => state(row.state) },
      { name: words.columns.amount, n: true, cell: (row) => moneyNode(row.amount, row.currency) },
    ];
    const [newest] = first.items;
    const sentence = newest ? words.payment[newest.state](money(newest.amount, newest.currency), { day: day(dayOf(newest)) }) : words.payments.none;
    return { nodes: [head, element("p", { class: "answer" }, sentence),
      ...(newest ? [] : [element("p", { class: "empty after" }, words.payments.hint)]),
      ...leftOut(first.left_out),
      ...(newest ? [element("section", { class: "card" },
        ...growing(words.views.payments, columns, first, (after) => get("payments", { after })))] : [])] };
  },
};
