// One creator's month as a page that prints.
import { get } from "../api.js";
import { element } from "../dom.js";
import { saveRows } from "../export.js";
import { amount, count, money, monthAfter, monthName, monthStart, time } from "../format.js";
import { idOf, orderLink, payoutLink } from "../links.js";
import { card, cutNote, empty, head, table } from "../parts.js";

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

const restOf = (statement) => statement.cut?.find((one) => one.member === "rows");

/** Every posting, those of an answer that was cut as well. */
async function everyPosting(statement, parameters) {
  const rows = [...statement.rows];
  for (let rest = restOf(statement); rest;) {
    const more = await get("statement", { ...parameters, after: rest.next });
    rows.push(...more.rows);
    rest = restOf(more);
  }
  return rows;
}

/** The lines of `report statement --format csv`: the postings between the balances. */
function linesOf(statement, rows) {
  const { account_id, creator_id, month, status } = statement;
  const none = { shop_id: null, order_id: null, line_item_id: null, refers_to: null, payout_id: null };
  const noSums = { opening: null, earned: null, adjusted: null, paid_out: null };
  const named = { account_id, creator_id, month, status };
  const boundary = (sum, reason, at, amount_, sums) => ({ accounting_date: at, program_id: sum.program_id, currency: sum.currency,
    ledger_account: "owed", reason, amount: amount_, ...none, ...noSums, ...sums, ...named });
  return [
    ...statement.sums.map((sum) => boundary(sum, "PERIOD_OPENING", monthStart(month), sum.opening, { opening: sum.opening })),
    ...rows.map((row) => ({ ...row, ...noSums, ...named })),
    ...statement.sums.map(({ opening, earned, adjusted, paid_out, closing, ...sum }) =>
      boundary(sum, "PERIOD_CLOSING", monthStart(monthAfter(month, 1)), closing, { opening, earned, adjusted, paid_out })),
  ];
}

function csvButton(statement, parameters) {
  const button = element("button", { type: "button" }, "CSV");
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      saveRows("statement of " + statement.creator_id + " " + statement.month, linesOf(statement, await everyPosting(statement, parameters)));
    } catch (error) {
      button.textContent = "CSV failed: " + error.message;
    }
    button.disabled = false;
  });
  return button;
}

export default {
  nav: "month",
  title: ({ creator, month }) => "Statement of " + creator + ", " + month,
  load: ({ creator, month }, get) => get("statement", { creator, month }),
  show(statement, { creator, month }) {
    const print = element("button", { type: "button" }, "Print");
    print.addEventListener("click", () => window.print());
    const csv = csvButton(statement, { creator, month });
    return [head(["Statement of ", idOf(statement.creator_id)],
      [monthName(month) + ", account " + statement.account_id + ", " + statement.status + "."], print, csv),
    card("Sums", sums(statement)),
    ...(statement.payouts.length ? [card("Payouts", table("Payouts", [{ name: "Payout", cell: (row) => payoutLink(row.payout_id) },
      { name: "Amount", n: true, cell: (row) => money(row.amount, row.currency) }], statement.payouts))] : []),
    postings(statement), ...cutNote(statement)];
  },
};
