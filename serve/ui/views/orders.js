// The list of orders with its filters.
import { money, state, time } from "../format.js";
import { idOf, namedCreator, orderLink } from "../links.js";
import { empty, filtered, filters, growing, head, pageSize, sumsOf } from "../parts.js";

export const STATUSES = ["waiting", "pending", "blocked", "payable", "in_payout", "paid", "cancelled", "rejected", "detached"];
const FILTERS = ["shop", "creator", "program", "code", "status", "attributed", "blocked", "from", "to"];

export const orderColumns = [
  { name: "Order", cell: orderLink },
  { name: "Ordered", cell: (row) => time(row.ordered_at) },
  { name: "Shop", cell: (row) => idOf(row.shop_id) },
  { name: "Creator", cell: (row) => namedCreator(row.creator_id, row.name) },
  { name: "Amount", n: true, cell: (row) => money(row.amount, row.currency) },
  { name: "Commission", n: true, cell: (row) => (row.creator_id ? money(row.commission_amount, row.commission_currency) : "–") },
  { name: "Status", cell: (row) => state(row.status) },
];

/** The same with the discount codes as sent. */
export const codeColumns = [...orderColumns.slice(0, 4), { name: "Codes", cell: (row) => row.codes.join(", ") || "–" }, ...orderColumns.slice(4)];

/** The orders of an answer, with the names of their creators and their codes. */
export const withNames = (answer) => answer.items.map((row, i) => ({ ...row, name: answer.names?.[row.creator_id], codes: answer.codes[i].codes }));

function sums(rows) {
  const given = rows.filter((row) => row.creator_id);
  const commission = sumsOf(given, (row) => row.commission_amount, (row) => row.commission_currency);
  return rows.length ? [...sumsOf(rows, (row) => row.amount, (row) => row.currency), ...(commission.length ? ["; commission ", ...commission] : [])] : [];
}

/** A day of the form, as the first instant of that day, or of the day after. */
function instant(text, days) {
  if (!/^\d{4}-\d\d-\d\d$/.test(text || "")) return text;
  return new Date(Date.parse(text) + days * 86400000).toISOString().slice(0, 10) + "T00:00:00Z";
}

function queryOf(parameters) {
  const query = Object.fromEntries(FILTERS.map((name) => [name, parameters[name]]));
  query.from = instant(query.from, 0);
  query.to = instant(query.to, 1);
  return { ...query, sort: "-ordered_at" };
}

const said = {
  shop: (value) => "of " + value, creator: (value) => "for " + value, program: (value) => "in " + value,
  code: (value) => "with code " + value, status: (value) => value.replaceAll("_", " "),
  attributed: (value) => (value === "true" ? "with a creator" : "without a creator"),
  blocked: (value) => (value === "true" ? "blocked by a hold or anomaly of their own" : "not blocked"),
  from: (value) => "from " + value, to: (value) => "to " + value,
};

export default {
  nav: "orders",
  title: () => "Orders",
  load: (parameters, get) => filtered(get, "orders", { ...queryOf(parameters), limit: pageSize() }, FILTERS),
  show(first, parameters, { go }) {
    const chosen = FILTERS.filter((name) => parameters[name]).map((name) => said[name](parameters[name]));
    const fields = [
      { name: "status", label: "Status", options: STATUSES.map((word) => [word, word.replaceAll("_", " ")]) },
      { name: "attributed", label: "Creator known", options: [["true", "yes"], ["false", "no"]] },
      { name: "creator", label: "Creator" }, { name: "code", label: "Code" }, { name: "shop", label: "Shop" },
      { name: "program", label: "Program" }, { name: "from", label: "From day", type: "date" },
      { name: "to", label: "To day", type: "date" },
    ];
    const list = growing({ path: "orders", parameters: queryOf(parameters), what: "order", caption: "Orders",
      columns: codeColumns, read: withNames, sums, first, none: first.refused ? empty(first.refused) : empty(chosen.length ? "No order matches. Remove a filter, or search for its id above."
        : "No order yet. Shops send them to nginx; Shops shows the last event of each.") });
    return [head("Orders", "The newest first" + (chosen.length ? ": " + chosen.join(", ") : "") + "."),
      filters("orders", fields, parameters, go), list];
  },
};
