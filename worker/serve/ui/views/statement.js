// One creator's month as a page that prints.
import { address } from "../api.js";
import { element } from "../dom.js";
import { amount, money, monthName, time } from "../format.js";
import { idLink, idOf, payoutLink } from "../links.js";
import { card, empty, head, table } from "../parts.js";

function sums(statement) {
  if (!statement.sums.length) return empty("No posting in this month.");
  return table("Sums", [
    { name: "Program", cell: (row) => row.program_id }, { name: "Currency", cell: (row) => row.currency },
    ...[["opening", "Opening"], ["earned", "Earned"], ["adjusted", "Adjusted"], ["paid_out", "Paid out"], ["closing", "Closing"]]
      .map(([name, title]) => ({ name: title, n: true, cell: (row) => amount(row[name]) })),
  ], statement.sums);
}

export default {
  nav: "month",
  title: ({ creator, month }) => "Statement of " + creator + ", " + month,
  load: ({ creator, month }, get) => get("statement", { creator, month }),
  show(statement, { creator, month }) {
    const print = element("button", { type: "button" }, "Print");
    print.addEventListener("click", () => window.print());
    const csv = element("a", { class: "button", href: address("statement", { creator, month, format: "csv" }), download: "" }, "CSV");
    return [head(["Statement of ", idOf(statement.creator_id)],
      [monthName(month) + ", account " + statement.account_id + ", " + statement.status + "."], print, csv),
    card("Sums", sums(statement)),
    ...(statement.payouts.length ? [card("Payouts", table("Payouts", [{ name: "Payout", cell: (row) => payoutLink(row.payout_id) },
      { name: "Amount", n: true, cell: (row) => money(row.amount, row.currency) }], statement.payouts))] : []),
    card("Postings", statement.rows.length ? table("Postings", [
      { name: "Date", cell: (row) => time(row.accounting_date, false) },
      { name: "Reason", cell: (row) => row.reason.toLowerCase() },
      { name: "Order", cell: (row) => (row.order_id ? idLink("order", { shop: row.shop_id, order: row.order_id }, row.order_id) : "") },
      { name: "Shop", cell: (row) => row.shop_id || "" },
      { name: "Program", cell: (row) => row.program_id },
      { name: "Amount", n: true, cell: (row) => money(row.amount, row.currency) },
    ], statement.rows) : empty("No posting in this month."))];
  },
};
