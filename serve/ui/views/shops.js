// Shops and nodes: who still sends, and who is behind.
import { element } from "../dom.js";
import { count, plural, time } from "../format.js";
import { idOf, link } from "../links.js";
import { card, empty, head, silence, table } from "../parts.js";

function shopTable(shops) {
  const columns = [{ name: "Shop", cell: (shop) => idOf(shop.shop_id) },
    { name: "Last event", cell: (shop) => time(shop.last_event_at) || "none" }, { name: "Silence", cell: silence }];
  if (shops.some((shop) => shop.dead_letters)) {
    columns.push({ name: "Dead letters, 30 days", n: true, cell: (shop) => (shop.dead_letters ? count(shop.dead_letters) : "–") });
  }
  if (shops.some((shop) => shop.devices)) {
    columns.push({ name: "Orders with a device id, 7 days", n: true,
      cell: ({ devices }) => (devices ? count(devices.with_device) + " of " + count(devices.orders) : "–") });
  }
  columns.push({ name: "Since", cell: (shop) => time(shop.created_at, false) },
    { name: "State", cell: (shop) => (shop.suspended ? element("span", { class: "state bad" }, "suspended") : "active") },
    { name: "See", cell: (shop) => link("orders", { shop: shop.shop_id }, "orders") });
  return table("Shops", columns, shops);
}

/** A node that has sent nothing for long is called gone, and stays in the list. */
function stateOf(node) {
  if (node.gone_since) return ["gone since ", time(node.gone_since)];
  return node.behind ? element("span", { class: "state warn" }, "behind") : node.worker_state || "–";
}

function nodeTable(nodes) {
  const columns = [
    { name: "Node", cell: (node) => ["node " + node.number, element("div", { class: "muted id" }, node.node)] },
    { name: "State", cell: stateOf },
    { name: "Last received", cell: (node) => time(node.last_received) },
    { name: "Waiting", n: true, cell: (node) => (node.waiting === null ? "–" : count(node.waiting)) },
    { name: "Entries", n: true, cell: (node) => count(node.entries) },
    { name: "Chain", cell: (node) => (node.entries ? element("span", { class: "id muted" }, node.hash) : "–") },
  ];
  return table("Nodes", columns, nodes);
}

export default {
  nav: "shops",
  title: () => "Shops and nodes",
  load: (parameters, get, me) => Promise.all([get("shops", { limit: 1000 }), ...(me.role === "manager" ? [get("nodes", { limit: 1000 })] : [])]),
  show([shops, nodes]) {
    const silent = shops.items.filter((shop) => shop.silence && shop.silence.state === "silent");
    const behind = nodes ? nodes.items.filter((node) => node.behind) : [];
    const said = plural(shops.items.length, "shop") + (silent.length ? ", " + silent.length + " silent" : "") +
      (nodes ? ", " + plural(nodes.items.length, "node") + (behind.length ? ", " + behind.length + " behind" : "") : "") + ".";
    return [head("Shops and nodes", said), card("Shops", shops.items.length ? shopTable(shops.items)
      : empty("No shop yet. ", element("code", {}, "sluice shop create"), " adds one.")),
    ...(nodes ? [card("Nodes", nodes.items.length ? nodeTable(nodes.items) : empty("No node has applied anything yet."))] : [])];
  },
};
