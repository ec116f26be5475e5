// Addresses of views. The view and its filters are in the query, so that a link can be kept and sent.
import { encoded } from "./api.js";
import { element } from "./dom.js";

export const hrefOf = (view, parameters = {}) => "./?" + encoded({ view, ...parameters });
export const link = (view, parameters, text, attributes = {}) =>
  element("a", { href: hrefOf(view, parameters), ...attributes }, text);

/** Classes of ids up to a length: one that never breaks, one that a wide screen keeps whole, one that breaks like words. A longer id breaks anywhere. */
const ID_CLASSES = [[12, "id whole"], [20, "id fit"], [28, "id"], [Infinity, "id long"]];
export const idClass = (text) => ID_CLASSES.find(([longest]) => text.length <= longest)[1];
export const idOf = (text) => element("span", { class: idClass(text) }, text);
/** A link whose text is an id. */
export const idLink = (view, parameters, id) => link(view, parameters, id, { class: idClass(id) });

export const orderLink = (row) =>
  idLink("order", { shop: row.shop_id, order: row.order_id }, row.order_id);
export const creatorLink = (creator) => (creator ? idLink("creator", { creator }, creator) : "–");
/** A creator's id with the name below it. */
export const namedCreator = (creator, name) => [creatorLink(creator), name ? element("div", { class: "muted" }, name) : null];
export const payoutLink = (payout) => idLink("payout", { payout }, payout);
