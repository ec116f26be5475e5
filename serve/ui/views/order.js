// One order: the answer first, then its history and its calculation.
import { element } from "../dom.js";
import { amount, amountsIn, before, capital, day, instantKey, isZero, money, state, sum, time, told } from "../format.js";
import { creatorLink, idLink, idOf, link, namedCreator, payoutLink } from "../links.js";
import { card, cutNote, facts, pairs, table } from "../parts.js";
import { commandBox } from "../shell.js";

/** A sender may say ORDER_CREATE again, or send a refund or a cancellation with any topic: the content decides. */
function eventTitle(order, event, i) {
  if (!i) return "Order received";
  if (order.refunds.some((refund) => refund.version === event.version)) return "Refund received";
  if (order.cancelled_at && event.topic === "ORDER_CANCEL") return "Order cancelled";
  return event.topic === "ORDER_CANCEL" ? "Cancellation received" : UPDATED;
}
const UPDATED = "Order updated";
const POSTINGS = {
  ACCRUAL: "Earned", ATTRIBUTION: "Attributed", CANCELLATION: "Commission taken back", REFUND: "Commission reduced by the refund",
  UPDATE: "Commission adjusted to the order", DETACH: "Commission taken back", REJECT: "Commission taken back", RELEASE: "Released", MANUAL: "Adjusted by hand",
  CREDIT: "Credit", REVERSAL: "Reversed", OPENING: "Opening balance", WRITE_OFF: "Written off", TIER: "Tier of the month's volume", PAYOUT: "Taken into a payout", SETTLE: "Paid", VOID: "Payout void",
  FAILED: "Payment failed", RETURNED: "Payment returned", ACKNOWLEDGED: "Anomaly acknowledged",
};

const words = (name) => !name ? "Entry" : name.charAt(0) + name.slice(1).toLowerCase().replaceAll("_", " ");

/** Said only of orders of a shop with a platform: every other event is a signed post. */
const SOURCES = { signed_post: "Signed post", shopify: "From Shopify", woocommerce: "From WooCommerce", import: "Imported from a file" };

/** Steps of one instant are shown in this order. */
const RANKS = { click: -1, event: 0, refund: 1, memo: 2, money: 3, payout: 4 };

/** Clicks of the order's device that may have brought it. */
function clickSteps(order) {
  return order.attribution.candidates.filter((one) => one.clicked_at).map((one) => ({
    at: one.clicked_at, rank: RANKS.click, kind: "",
    title: ["Click on ", one.link_id ? idLink("link", { link: one.link_id }, one.link_id) : "a link", " of ", creatorLink(one.creator_id)],
    more: [before(one.clicked_at, order.ordered_at) + " the order", one.won ? "" : capital(told(one.explanation))],
  }));
}

function eventSteps(order) {
  const hasPlatform = order.events.some((event) => event.source.kind !== "signed_post");
  return order.events.map((event, i) => ({
    at: event.received_at, rank: RANKS.event, kind: event.anomalies.length ? "warn" : "",
    title: eventTitle(order, event, i),
    more: [i || order.ordered_at.slice(0, 16) === event.received_at.slice(0, 16) ? "" : ["Placed in the shop: ", time(order.ordered_at)], i && !event.explanation.startsWith("applied: its payload replaced the order") ? event.explanation : "",
      hasPlatform ? SOURCES[event.source.kind] : "", ...event.anomalies.map((kind) => "Anomaly " + kind), ...(event.trace ? ["Trace " + event.trace] : [])],
  }));
}

/** A refund came with the event of its version. */
function refundSteps(order) {
  return order.refunds.map((refund) => ({
    at: order.events.find((event) => event.version === refund.version)?.received_at || refund.version, rank: RANKS.refund, kind: "",
    title: ["Refund of line " + refund.line_item_id + ": ", money(refund.amount, order.currency)],
    more: [refund.counts ? "" : "does not count: " + refund.explanation],
  }));
}

/** The accounts of most postings, which are not named each time. */
const EARNING = "expense → owed";
const SIDES = { ATTRIBUTED: "to", DETACHED: "from" };

/** One step for the entries that one event or command wrote together. */
function journalSteps(order) {
  const groups = new Map();
  const isShown = (at) => order.events.some((event) => event.received_at === at && event.anomalies.length);
  for (const entry of order.journal) {
    if (entry.reason === "ANOMALY" && isShown(entry.recorded_at)) continue;
    const key = [entry.node, entry.recorded_at, entry.command_id || entry.event_seq, entry.reason, entry.payout_id].join(" ");
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(entry);
  }
  return [...groups.values()].map((entries) => {
    const [first] = entries;
    const isMoney = first.amount !== null, isOther = first.creator_id !== order.attribution.creator_id;
    const title = [POSTINGS[first.reason] || words(first.reason)];
    if (isMoney) title.push(" ", money(sum(entries.map((entry) => entry.amount)), first.currency));
    else if (SIDES[first.reason] && first.creator_id) title.push(" " + SIDES[first.reason] + " ", creatorLink(first.creator_id), " in " + first.program_id);
    const who = [first.actor, first.note].filter(Boolean).join(": ");
    const accounts = first.debit_account + " → " + first.credit_account;
    return { at: first.recorded_at, rank: isMoney ? RANKS.money : RANKS.memo, kind: isMoney ? "money" : "", title,
      more: [who, isMoney ? [isOther && first.creator_id && "for " + first.creator_id, accounts !== EARNING && accounts]
        .filter(Boolean).join(", ") : ""] };
  });
}

const PAYOUT_STEPS = [["closed_at", "CLOSED"], ["sent_at", "SENT"], ["ended_at", null]];

function payoutSteps(order) {
  return order.payouts.flatMap((payout) => PAYOUT_STEPS.filter(([name]) => payout[name]).map(([name, word]) => ({
    at: payout[name], rank: RANKS.payout, kind: "money", title: ["Payout ", state(word || payout.state), " ", money(payout.amount, payout.currency)],
    more: [payoutLink(payout.payout_id)] })));
}

/** Updates that moved no money, one after another, are one step of the history. */
const REPEATS_MIN = 3;
const isPlain = (group) => group.length === 1 && group[0].title === UPDATED && !group[0].more.some(Boolean);
function joined(groups) {
  const list = [];
  for (let from = 0, until; from < groups.length; from = until) {
    for (until = from; until < groups.length && isPlain(groups[until]);) ++until;
    if (until - from >= REPEATS_MIN) {
      const [first, last] = [groups[from][0], groups[until - 1][0]];
      list.push({ from: first.at, until: last.at, steps: [{ ...first, title: "Order updated " + (until - from) + " times" }] });
    } else {
      until = Math.max(until, from + 1);
      list.push(...groups.slice(from, until).map((steps) => ({ from: steps[0].at, steps })));
    }
  }
  return list;
}

/** A step's words below its title. Steps of one command have the same actor and note, which stand once. */
function notes(steps) {
  const said = new Set();
  return steps.map((step) => step.more.filter((text) => text && !(typeof text === "string" && said.has(text)) && said.add(text)));
}

/** Steps that one event or command caused stand together under its time. */
function timeline(order) {
  const steps = [...clickSteps(order), ...eventSteps(order), ...refundSteps(order), ...journalSteps(order), ...payoutSteps(order)]
    .map((step) => ({ ...step, key: instantKey(step.at) })).sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.rank - b.rank));
  const groups = [];
  for (const step of steps) {
    if (groups.at(-1)?.[0].at === step.at) groups.at(-1).push(step);
    else groups.push([step]);
  }
  return card("History", element("ol", { class: "timeline" }, ...joined(groups).map((group) => {
    const at = element("p", { class: "at" }, time(group.from), ...(group.until ? [" to ", time(group.until)] : []));
    const kind = ["warn", "money"].find((one) => group.steps.some((step) => step.kind === one));
    const more = notes(group.steps);
    return element("li", kind ? { class: kind } : {}, at, ...group.steps.flatMap((step, i) => [
      element("p", { class: "step" }, ...[step.title].flat()), ...more[i].map((text) => element("p", { class: "muted" }, ...[text].flat()))]));
  })));
}

/** The server's calculation, with the signs of print. */
const formula = (text) => text && amountsIn(text).replaceAll(" - ", " − ").replaceAll(" x ", " × ");

function lines(order) {
  const columns = [
    { name: "Line", cell: (line) => idOf(line.line_item_id) },
    { name: "SKU", cell: (line) => idOf(line.variant_sku || line.sku) },
    { name: "Amount", n: true, cell: (line) => amount(line.amount) },
    { name: "Commission", n: true, cell: (line) => amount(line.commission) },
  ];
  const how = order.lines.map((line) => element("dl", { class: "calc" }, element("dt", { class: "line" }, "Line ", line.line_item_id),
    ...[["Rule", line.rule], ["Base", formula(line.base)], ["Refund", line.refund], ["Commission", formula(line.calculation)], ["Rounding", formula(line.rounding)],
      ["Note", line.explanation]].filter(([, text]) => text && !isZero(text))
      .flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)])));
  return card("Lines", table("Lines", columns, order.lines),
    element("details", { ...(order.lines.length < 4 ? { open: "" } : {}) }, element("summary", {}, "Calculation"), ...how));
}

function candidates(order) {
  const list = order.attribution.candidates;
  const given = capital(told(order.attribution.explanation)) + ".";
  if (!list.length) return card("Attribution", element("p", {}, given));
  return card("Attribution", table("Candidates", [
    { name: "Candidate", cell: (one) => idOf(told(one.source)) },
    { name: "Creator", cell: (one) => namedCreator(one.creator_id, order.names[one.creator_id]) },
    { name: "Program", cell: (one) => one.program_id || "–" },
    { name: "Result", cell: (one) => told(one.explanation) },
  ], list), element("p", { class: "muted then" }, given));
}

function payouts(order) {
  if (!order.payouts.length) return [];
  return [card("Payouts", table("Payouts", [
    { name: "Payout", cell: (payout) => payoutLink(payout.payout_id) },
    { name: "State", cell: (payout) => state(payout.state) },
    { name: "Amount", n: true, cell: (payout) => money(payout.amount, payout.currency) },
  ], order.payouts))];
}

/** The date of a pending order's next step; else the event that comes next. */
function nextStep(order) {
  const { answer } = order;
  if (answer.status === "pending" && answer.next_at) return time(answer.next_at, false);
  const step = answer.next_step ? amountsIn(answer.next_step) : "none";
  return answer.next_at ? [step, ", ", time(answer.next_at, false)] : step;
}

function threeFacts(order) {
  const { creator_id: creator, program_id: program } = order.attribution;
  const accruals = order.accruals.filter((one) => one.creator_id === creator && one.program_id === program);
  const own = accruals[0];
  const currency = own ? own.currency : order.currency;
  const differs = own && own.accrued !== order.commission_amount ? ["accrued ", money(own.accrued, currency)]
    : ["of a sale of ", money(order.amount, order.currency)];
  const since = order.answer.since ? "since " + day(order.answer.since) : null;
  return facts([
    ["Commission", creator ? money(order.commission_amount, currency) : "none", differs],
    ["Creator", creator ? creatorLink(creator) : "none",
      program ? [order.names[creator] ? order.names[creator] + ", in " : "in ", link("program", { program }, program)] : null],
    ["Next step", nextStep(order), [state(order.answer.status), since ? " " + since : ""]],
  ]);
}

function sale(order) {
  const rows = [["Ordered", time(order.ordered_at)], ["Last update", time(order.last_updated_at)],
    ...(order.cancelled_at ? [["Cancelled", time(order.cancelled_at)]] : []),
    ["Amount", money(order.amount, order.currency)], ["Tax", money(order.tax, order.currency)],
    ["Shipping", money(order.shipping, order.currency)], ["Refunded", money(order.refund_amount, order.currency)],
    ["Codes", order.codes.join(", ") || "none"],
    ...(order.blocked_by.length ? [["Blocked by", order.blocked_by.join(", ")]] : [])];
  return card("Sale", pairs("Sale", rows));
}

function help(order) {
  if (!order.answer.command && !["blocked", "rejected"].includes(order.answer.status)) return [];
  return [card("Command that would help", commandBox(order.answer.command))];
}

export default {
  nav: "orders",
  title: (parameters) => "Order " + (parameters.order || ""),
  load: (parameters, get) => get("order", { shop: parameters.shop, order: parameters.order }),
  show(order) {
    const head = element("div", { class: "head" }, element("div", {},
      element("h1", { class: "eyebrow", tabindex: "-1" }, "Order ", element("b", {}, order.order_id), " of " + order.shop_id),
      element("p", { class: "answer first" }, told(order.answer.sentence))));
    return [head, threeFacts(order), element("div", { class: "cards" },
      element("div", {}, timeline(order), sale(order)),
      element("div", {}, ...help(order), lines(order), candidates(order), ...payouts(order))), ...cutNote(order)];
  },
};

