// One order: whose it is, what it earns, and how that is calculated.
import { get } from "../api.js";
import { element } from "../dom.js";
import { day, money, moneyNode } from "../format.js";
import { card, link, pairs, shopName, source, state, table } from "../parts.js";
import settings from "../settings.js";
import words from "../words.js";

export default {
  title: (parameters) => words.titles.order + " " + (parameters.order ?? ""),
  nav: "orders",
  load: ({ shop = "", order = "" }, signal) => get("order", { shop, order }, signal),
  show({ order, lines }) {
    const { columns } = words;
    const sentence = words.order[order.state](money(order.commission, order.currency),
      { day: (order.ready_on ?? order.checked_since) && day(order.ready_on ?? order.checked_since), name: settings.name });
    const facts = [[columns.state, state(order.state)], [columns.shop, shopName(order.shop)], [columns.day, day(order.day)],
      [columns.by, source(order)]];
    if (order.payments.length) {
      facts.push([words.orders.paid_with, element("span", {}, ...order.payments.flatMap((id, i) => [i ? ", " : "", link("payment", { id }, id)]))]);
    }
    return { nodes: [
      element("h1", { class: "eyebrow", tabindex: "-1" }, words.titles.order + " " + order.number),
      element("p", { class: "answer" }, sentence),
      element("div", { class: "cards" }, card(words.titles.order, pairs(words.titles.order, facts)),
        ...(lines.length ? [element("section", { class: "card wide" }, element("h2", {}, words.orders.whole),
          table(words.orders.whole, [
            { name: columns.product, cell: (line) => [line.title ?? line.sku, ...(line.title ? [element("small", {}, line.sku)] : [])] },
            { name: columns.rate, cell: (line) => line.rate },
            { name: columns.calculation, cell: (line) => [element("p", { class: "calc" }, line.calculation),
              ...(line.rounding ? [element("small", {}, line.rounding)] : [])] },
            { name: columns.commission, n: true, cell: (line) => moneyNode(line.commission, order.currency) },
          ], lines, { isList: true }))] : [])),
    ] };
  },
};
