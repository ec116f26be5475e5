// Shops and nodes: which shops there are, and which node is behind (G12).
import { element } from "../dom.js";
import { count, plural, time } from "../format.js";
import { idOf, link } from "../links.js";
import { card, empty, head, table } from "../parts.js";

const BEHIND_SECONDS = 3600;

function shopTable(shops) {
  return table("Shops", [
    { name: "Shop", cell: (shop) => idOf(shop.shop_id) },
    { name: "Since", cell: (shop) => time(shop.created_at, false) },
    { name: "State", cell: (shop) => (shop.suspended ? element("span", { class: "state bad" }, "suspended") : "active") },
    { name: "See", cell: (shop) => link("orders", { shop: shop.shop_id }, "orders") },
  ], shops);
}

/** A node whose last receipt is over an hour older than the newest node's. */
function isBehind(node, nodes) {
  const newest = Math.max(...nodes.map((one) => Date.parse(one.last_received)));
  return (newest - Date.parse(node.last_received)) / 1000 > BEHIND_SECONDS;
}

function nodeTable(nodes) {
  return table("Nodes", [
    { name: "Node", cell: (node) => ["node " + node.number, element("div", { class: "muted id" }, node.node)] },
    { name: "State", cell: (node) => (isBehind(node, nodes) ? element("span", { class: "state warn" }, "behind") : node.worker_state || "–") },
    { name: "Last received", cell: (node) => time(node.last_received) },
    { name: "Entries", n: true, cell: (node) => count(node.entries) },
    { name: "Chain", cell: (node) => element("span", { class: "id muted" }, node.hash) },
  ], nodes);
}

export default {
  nav: "shops",
  title: () => "Shops and nodes",
  load: (parameters, get, me) => Promise.all([get("shops", { limit: 1000 }), ...(me.role === "viewer" ? [] : [get("nodes", { limit: 1000 })])]),
  show([shops, nodes]) {
    const behind = nodes ? nodes.items.filter((node) => isBehind(node, nodes.items)) : [];
    const said = plural(shops.items.length, "shop") + (nodes ? ", " + plural(nodes.items.length, "node") + (behind.length ? ", " + behind.length + " behind" : "") : "") + ".";
    return [head("Shops and nodes", said), card("Shops", shops.items.length ? shopTable(shops.items)
      : empty("No shop yet. ", element("code", {}, "sluice shop create"), " adds one.")),
    ...(nodes ? [card("Nodes", nodes.items.length ? nodeTable(nodes.items) : empty("No node has applied anything yet."))] : [])];
  },
};
