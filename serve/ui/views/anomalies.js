// Anomalies and holds: what a person should check.
import { element } from "../dom.js";
import { count, money, time, told } from "../format.js";
import { idOf, namedCreator, orderLink } from "../links.js";
import { card, empty, growing, head, pageSize, table, tabs } from "../parts.js";

const TABS = {
  blocks: { name: "Blocks", query: { blocks: "true" }, said: "These keep commissions from being paid.", none: "No anomaly blocks a payout." },
  open: { name: "Open", query: { blocks: "false", acknowledged: "false", showing: "true" }, said: "Not acknowledged yet; these block nothing.",
    none: "No anomaly is open." },
  acknowledged: { name: "Acknowledged", query: { acknowledged: "true" }, said: "A person has acknowledged these.", none: "None was acknowledged yet." },
};
const tabOf = (parameters) => (TABS[parameters.tab] ? parameters.tab : "blocks");

/** The rows of an answer, each with its order's commission. */
const withStakes = (answer) => answer.items.map((row, i) => ({ ...row, stake: answer.commissions[i] }));

function columnsOf(tab) {
  const columns = [
    { name: "Order", cell: orderLink },
    { name: "Date", cell: (row) => time(row.recorded_at) },
    { name: "Shop", cell: (row) => idOf(row.shop_id) },
    { name: "Kind", cell: (row) => element("code", { class: "fit" }, row.kind) },
    { name: "Message", cell: (row) => told(row.message) },
    { name: "Events", n: true, cell: (row) => count(row.count) },
    { name: "At stake", n: true, cell: ({ stake }) => (stake ? money(stake.amount, stake.currency) : "–") },
  ];
  if (tab === "acknowledged") columns.push({ name: "By", cell: (row) => [row.acknowledged_by || "–", " ", time(row.acknowledged_at, false)] });
  return columns;
}

function holdsCard({ items: holds, names }) {
  return card("Holds", holds.length ? table("Holds", [
    { name: "Held", cell: (row) => (row.order_id ? orderLink(row) : namedCreator(row.creator_id, names[row.creator_id])) },
    { name: "What", cell: (row) => (row.order_id ? "order of " + row.shop_id : "creator" + (row.program_id ? " in " + row.program_id : "")) },
    { name: "Since", cell: (row) => time(row.held_at) },
    { name: "By", cell: (row) => row.actor || "–" },
    { name: "Reason", cell: (row) => row.reason || "–" },
  ], holds) : empty("No order or creator is held."));
}

export default {
  nav: "today",
  title: () => "Anomalies",
  load(parameters, get) {
    const tab = tabOf(parameters);
    return Promise.all([get("anomalies", { ...TABS[tab].query, limit: pageSize() }), ...(tab === "blocks" ? [get("holds", { limit: 1000 })] : [])]);
  },
  show([first, holds], parameters) {
    const current = tabOf(parameters);
    const tab = TABS[current];
    const { blocks, holds: held, ...others } = first.counts;
    const counts = { ...others, blocks: blocks + held };
    return [head("Anomalies", first.items.length || holds?.items.length ? tab.said : tab.none),
      tabs("Anomalies", Object.entries(TABS).map(([id, one]) =>
        [id, one.name + (counts[id] !== null ? " " + count(counts[id]) : ""), "anomalies", { tab: id }]), current),
      growing({ path: "anomalies", parameters: tab.query, what: "anomaly", whats: "anomalies", caption: tab.name, columns: columnsOf(current), read: withStakes,
        first, none: empty(tab.none) }), ...(holds ? [holdsCard(holds)] : [])];
  },
};
