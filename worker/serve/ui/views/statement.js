// One creator's month as a page that prints.
import { address } from "../api.js";
import { element } from "../dom.js";
import { amount, count, money, monthName, time } from "../format.js";
import { idOf, orderLink, payoutLink } from "../links.js";
import { card, empty, head, table } from "../parts.js";

function sums(statement) {
  if (!statement.sums.length) return empty("No posting in this month.");
  return table("Sums", [
    { name: "Program", cell: (row) => idOf(row.program_id) }, { name: "Currency", cell: (row) => row.currency },
    ...[["opening", "Opening"], ["earned", "Earned"], ["adjusted", "Adjusted"], ["paid_out", "Paid out"], ["closing", "Closing"]]
      .map(([name, title]) => ({ name: title, n: true, cell: (row) => amount(row[name]) })),
  ], statement.sums);
}

/** Rows that a phone can draw at once. */
const POSTINGS_SHOWN = 500;

const POSTINGS = [
  { name: "Date", cell: (row) => time(row.accounting_date, false) },
  { name: "Reason", cell: (row) => row.reason.toLowerCase() },
  { name: "Order", cell: (row) => (row.order_id ? orderLink(row) : "") },
  { name: "Shop", cell: (row) => idOf(row.shop_id || "") },
  { name: "Program", cell: (row) => idOf(row.program_id) },
  { name: "Amount", n: true, cell: (row) => money(row.amount, row.currency) },
];

/** Shows the postings that are left, before the page is printed. */
let showAll = () => {};
addEventListener("beforeprint", () => showAll());

/** A creator may have thousands of postings. All of them are printed. */
function postings({ rows }) {
  if (!rows.length) return card("Postings", empty("No posting in this month."));
  const node = table("Postings", POSTINGS, rows.slice(0, POSTINGS_SHOWN));
  if (rows.length <= POSTINGS_SHOWN) return card("Postings", node);
  const button = element("button", { type: "button" }, "Show all " + count(rows.length) + " postings");
  const more = element("p", { class: "more" }, element("span", { class: "muted" }, "The first " + POSTINGS_SHOWN + " are shown."), button);
  showAll = () => {
    if (more.isConnected) node.addRows(rows.slice(POSTINGS_SHOWN));
    more.remove();
  };
  button.addEventListener("click", showAll);
  return card("Postings", node, more);
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
    postings(statement)];
  },
};
