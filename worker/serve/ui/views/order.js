// One order: the answer first, then its history and its calculation (G6).
import { element } from "../dom.js";
import { amount, day, isZero, money, state, sum, time } from "../format.js";
import { creatorLink, idOf, link, payoutLink } from "../links.js";
import { card, facts, pairs, table } from "../parts.js";
import { commandBox } from "../shell.js";

const EVENTS = { ORDER_CREATE: "Order placed", ORDER_UPDATE: "Order updated", ORDER_CANCEL: "Order cancelled" };
const POSTINGS = {
  ACCRUAL: "Earned", ATTRIBUTION: "Attributed", CANCELLATION: "Taken back, cancelled", REFUND: "Refund",
  UPDATE: "Adjusted to the order", DETACH: "Detached", REJECT: "Rejected", RELEASE: "Released", MANUAL: "Adjusted by hand",
  CREDIT: "Credit", REVERSAL: "Reversed", OPENING: "Opening balance", WRITE_OFF: "Written off", PAYOUT: "Taken into a payout", SETTLE: "Paid", VOID: "Payout void",
  FAILED: "Payment failed", RETURNED: "Payment returned",
};

const words = (name) => !name ? "Entry" : name.charAt(0) + name.slice(1).toLowerCase().replaceAll("_", " ");

function eventSteps(order) {
  return order.events.map((event) => ({
    at: event.received_at, kind: event.anomalies.length ? "warn" : "",
    title: EVENTS[event.topic] || words(event.topic),
    more: [event.explanation.replace(/^applied: /, ""), ...event.anomalies.map((kind) => "Anomaly " + kind),
      ...(event.trace ? ["Trace " + event.trace] : [])],
  }));
}

/** One step for the entries that one event or command wrote together. */
function journalSteps(order) {
  const groups = new Map();
  for (const entry of order.journal) {
    const key = [entry.node, entry.recorded_at, entry.command_id || entry.event_seq, entry.reason, entry.payout_id].join(" ");
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(entry);
  }
  return [...groups.values()].map((entries) => {
    const [first] = entries;
    const isMoney = first.amount !== null;
    const title = [POSTINGS[first.reason] || words(first.reason)];
    if (isMoney) title.push(" ", money(sum(entries.map((entry) => entry.amount)), first.currency));
    const who = [first.actor, first.note].filter(Boolean).join(": ");
    const accounts = isMoney ? first.debit_account + " → " + first.credit_account : "";
    return { at: first.recorded_at, kind: isMoney ? "money" : "", title,
      more: [who, [first.creator_id && "for " + first.creator_id, first.program_id && "in " + first.program_id, accounts]
        .filter(Boolean).join(", ")] };
  });
}

function refundSteps(order) {
  return order.refunds.map((refund) => ({
    at: refund.version, kind: "", title: ["Refund of line " + refund.line_item_id + " ", money(refund.amount, order.currency)],
    more: [refund.counts ? "" : "does not count: " + refund.explanation],
  }));
}

const PAYOUT_STEPS = [["closed_at", "CLOSED"], ["sent_at", "SENT"], ["ended_at", null]];

function payoutSteps(order) {
  return order.payouts.flatMap((payout) => PAYOUT_STEPS.filter(([name]) => payout[name]).map(([name, word]) => ({
    at: payout[name], kind: "money", title: ["Payout ", state(word || payout.state), " ", money(payout.amount, payout.currency)],
    more: [payoutLink(payout.payout_id)] })));
}

function timeline(order) {
  const steps = [...eventSteps(order), ...refundSteps(order), ...journalSteps(order), ...payoutSteps(order)]
    .sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  return card("History", element("ol", { class: "timeline" }, ...steps.map((step) => {
    const at = time(step.at);
    at.classList.add("muted");
    return element("li", step.kind ? { class: step.kind } : {}, at, element("p", {}, ...[step.title].flat()),
      ...step.more.filter(Boolean).map((text) => element("p", { class: "muted" }, text)));
  })));
}

function lines(order) {
  const columns = [
    { name: "Line", cell: (line) => idOf(line.line_item_id) },
    { name: "SKU", cell: (line) => idOf(line.variant_sku || line.sku) },
    { name: "Amount", n: true, cell: (line) => amount(line.amount) },
    { name: "Commission", n: true, cell: (line) => amount(line.commission) },
  ];
  const how = order.lines.map((line) => element("dl", { class: "calc" }, element("dt", { class: "line" }, line.line_item_id),
    ...[["Rule", line.rule], ["Base", line.base], ["Refund", line.refund], ["Commission", line.calculation], ["Rounding", line.rounding],
      ["Note", line.explanation]].filter(([, text]) => text && !isZero(text))
      .flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)])));
  return card("Lines", table("Lines", columns, order.lines),
    element("details", { ...(order.lines.length < 4 ? { open: "" } : {}) }, element("summary", {}, "Calculation"), ...how));
}

function candidates(order) {
  const list = order.attribution.candidates;
  const given = element("p", {}, order.attribution.explanation);
  if (!list.length) return card("Attribution", given);
  return card("Attribution", given, table("Candidates", [
    { name: "Candidate", cell: (one) => idOf(one.source) },
    { name: "Creator", cell: (one) => creatorLink(one.creator_id) },
    { name: "Program", cell: (one) => one.program_id || "–" },
    { name: "Result", cell: (one) => one.explanation },
  ], list));
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
  if (answer.next_at) return time(answer.next_at, false);
  return { payable: "next close", waiting: "when the code has an owner", blocked: "when it is released", in_payout: "payment" }[
    answer.status] || "none";
}

function threeFacts(order) {
  const { creator_id: creator, program_id: program } = order.attribution;
  const accruals = order.accruals.filter((one) => one.creator_id === creator && one.program_id === program);
  const own = accruals[0];
  const currency = own ? own.currency : order.currency;
  const differs = own && own.accrued !== order.commission_amount ? ["accrued ", money(own.accrued, currency)] : null;
  const since = order.answer.since ? "since " + day(order.answer.since) : null;
  return facts([
    ["Commission", creator ? money(order.commission_amount, currency) : "none", differs],
    ["Creator", creator ? creatorLink(creator) : "none", program ? ["in ", link("program", { program }, program)] : null],
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
      element("p", { class: "answer first" }, order.answer.sentence)));
    return [head, threeFacts(order), element("div", { class: "cards" },
      element("div", {}, timeline(order), sale(order)),
      element("div", {}, ...help(order), lines(order), candidates(order), ...payouts(order)))];
  },
};

