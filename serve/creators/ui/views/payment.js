// One payment: its steps, and the orders that it pays.
import { get } from "../api.js";
import { element } from "../dom.js";
import { day, money, moneyNode } from "../format.js";
import { card, growing, link, pairs, shopName, state } from "../parts.js";
import words from "../words.js";
import { dayOf } from "./payments.js";

export default {
  title: (parameters) => words.titles.payment + " " + (parameters.id ?? ""),
  nav: "payments",
  load: ({ id = "" }, signal) => get("payment", { id }, signal),
  show({ payment, ...items }) {
    const text = words.payments;
    const facts = [[words.columns.state, state(payment.state)], [text.day, day(payment.day)],
      ...(payment.sent_on ? [[text.sent, day(payment.sent_on)]] : []), ...(payment.paid_on ? [[text.paid, day(payment.paid_on)]] : []),
      ...(payment.ended_on ? [[text.ended, day(payment.ended_on)]] : []), ...(payment.payee ? [[text.to, payment.payee]] : [])];
    const columns = [
      { name: words.columns.order, cell: (row) => (row.number === null ? text.other
        : link("order", { shop: row.shop, order: row.order }, row.number)) },
      { name: words.columns.shop, cell: (row) => (row.shop === null ? "" : shopName(row.shop)) },
      { name: words.columns.amount, n: true, cell: (row) => moneyNode(row.amount, payment.currency) },
    ];
    return { nodes: [
      element("h1", { class: "eyebrow", tabindex: "-1" }, words.titles.payment + " " + payment.id),
      element("p", { class: "answer" }, words.payment[payment.state](money(payment.amount, payment.currency), { day: day(dayOf(payment)) })),
      element("div", { class: "cards" }, card(words.titles.payment, pairs(words.titles.payment, facts)),
        element("section", { class: "card" }, element("h2", {}, text.items),
          ...growing(text.items, columns, items, (after) => get("payment", { id: payment.id, after })))),
    ] };
  },
};
