// Search: one field for ids, codes and creators.
import { inputsWaiting } from "../api.js";
import { element } from "../dom.js";
import { count, plural, time, told } from "../format.js";
import { creatorLink, hrefOf, idLink, idOf, link, orderLink } from "../links.js";
import { card, empty, head, silence, table } from "../parts.js";
import { commandBox, commandLine } from "../shell.js";
import { codeColumns, withNames } from "./orders.js";

const KINDS = { order: "Order", creator: "Creator", code: "Code", link: "Link", shop: "Shop", program: "Program", payout: "Payout", payout_run: "Payout run",
  command: "Command" };

/** View and parameters that show a hit. */
function placeOf(hit) {
  switch (hit.kind) {
    case "order": return ["order", { shop: hit.shop_id, order: hit.id }];
    case "creator": return ["creator", { creator: hit.id }];
    case "link": return ["link", { link: hit.id }];
    case "payout": return ["payout", { payout: hit.id }];
    case "shop": return ["orders", { shop: hit.id }];
    case "program": return ["program", { program: hit.id }];
    case "payout_run": return ["run", { run: hit.id }];
    case "command": return hit.order_id ? ["order", { shop: hit.shop_id, order: hit.order_id }]
      : hit.creator_id ? ["creator", { creator: hit.creator_id }] : ["approvals", { id: hit.id }];
    default: return ["orders", { code: hit.id }];
  }
}

async function load(parameters, get) {
  const q = parameters.q || "";
  if (!q) return { items: [] };
  const { items, searched } = await get("search", { q });
  const exact = items.filter((hit) => hit.match === "exact");
  if (exact.length === 1 && exact[0].kind !== "code") return { items, opens: exact[0] };
  const isCode = items.some((hit) => (hit.kind === "code" && hit.match === "exact") || hit.match === "code");
  if (isCode) return { items, orders: await get("orders", { code: q, sort: "-ordered_at", limit: 10 }) };
  if (items.length) return { items };
  const isAmount = searched.some((what) => what.startsWith("amounts"));
  return { items, searched, shops: isAmount ? null : await get("shops", { near: q, limit: 1000 }) };
}

function hits(items, title) {
  return card(title, table(title, [
    { name: "Hit", cell: (hit) => idLink(...placeOf(hit), hit.id) },
    { name: "Kind", cell: (hit) => KINDS[hit.kind] || hit.kind },
    ...(items.some((hit) => hit.shop_id) ? [{ name: "Shop", cell: (hit) => (hit.shop_id ? idOf(hit.shop_id) : "–") }] : []),
    { name: "What", cell: (hit) => told(hit.sentence) },
  ], items));
}

/** A line for each shop: what came last, and the orders next to the id. */
function shopsCard({ items, nearest }) {
  const beside = (shop) => nearest.filter((row) => row.shop_id === shop.shop_id);
  const columns = [{ name: "Shop", cell: (shop) => link("orders", { shop: shop.shop_id }, shop.shop_id) },
    { name: "Nearest orders", cell: (shop) => (beside(shop).length ? beside(shop).flatMap((row, i) => [i ? ", " : "", orderLink(row)]) : "–") },
    { name: "Last event", cell: (shop) => time(shop.last_event_at) || "none" },
    { name: "Silence", cell: silence },
    { name: "Dead letters, 30 days", n: true, cell: (shop) => String(shop.dead_letters) }];
  return card("Did the shop send it?", items.length ? table("Shops", columns, items) : empty("The account has no shop."));
}

function nothing(q, data) {
  const [first, ...others] = data.shops ? data.shops.items : [];
  const shop = first && !others.length ? first.shop_id : "SHOP";
  const waiting = inputsWaiting();
  const name = element("b", { class: "id" }, q);
  return [head("Search", data.shops ? ["No order ", name, " in the ledger, and nothing else of this name."] : ["No order or payout of ", name, " among the newest."]),
    element("p", { class: "muted" }, "Searched: " + data.searched.join("; ").replace(/\d{4,}/g, count) + "."),
    ...(waiting ? [element("p", { class: "note warn" }, plural(waiting, "input") +
      (waiting === 1 ? " waits to be applied. It may be the order." : " wait to be applied. The order may be among them."))] : []),
    ...(data.shops ? missing(data.shops, shop) : [])];
}

/** Where an order may be that the ledger does not have. */
function missing(shops, shop) {
  return [shopsCard(shops),
    card("Was it refused?", element("p", {}, "nginx writes a line for each request that it refuses; ",
      element("code", {}, "$sluice_reason"), " in its log format has the reason.")),
    card("Was it not applied?", element("p", {}, "The worker sets aside an event that it cannot apply, with the reason:"),
      commandBox("sluice dead list")),
    card("Which orders are missing?", element("p", {}, "Compare the shop's own list with the ledger:"),
      commandBox(commandLine("sluice reconcile orders.csv", [], [["--shop", shop]])))];
}

export default {
  title: (parameters) => "Search " + (parameters.q || ""),
  load,
  show(data, parameters, { replace }) {
    const q = parameters.q || "";
    if (data.opens) {
      return replace(hrefOf(...placeOf(data.opens)));
    }
    if (!q) return [head("Search", "The field above finds an order, a creator, a code, a link, a shop, a program or a payout: by id, by a part of an id or name, by bank reference, or by an amount such as 12.50 EUR.")];
    if (data.searched) return nothing(q, data);
    const owners = data.items.filter((hit) => hit.kind === "code" && hit.match === "exact");
    const isListed = (hit) => data.orders && hit.match === "code";
    const others = data.items.filter((hit) => !owners.includes(hit) && !isListed(hit));
    const said = data.orders ? (owners.length ? ["Code ", element("b", { class: "id" }, q), ": " + plural(owners.length, "owner") + "."]
      : ["Code ", element("b", { class: "id" }, q), " has no owner."]) : plural(others.length, "hit") + ", exact ones first.";
    return [head("Search", said),
      ...(owners.length ? [card("Owners of the code", table("Owners", [
        { name: "Creator", cell: (hit) => creatorLink(hit.creator_id) },
        { name: "Owns it", cell: (hit) => told(hit.sentence.replace("code of " + hit.creator_id + " ", "")) }], owners))] : []),
      ...(data.orders && data.orders.items.length ? [card("Newest orders with this code",
        table("Orders", codeColumns, withNames(data.orders)),
        element("p", { class: "more" }, link("orders", { code: q }, "All orders with this code")))] : []),
      ...(others.length ? [hits(others, data.orders ? "Other hits" : "Hits")] : [])];
  },
};
