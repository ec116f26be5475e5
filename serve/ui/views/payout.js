// One payout: the amount, its steps, its parts and its items.
import { element } from "../dom.js";
import { money, plural, state, time } from "../format.js";
import { creatorLink, idLink, idOf, link, orderLink } from "../links.js";
import { card, empty, facts, growing, head, pageSize, table } from "../parts.js";
import { commandBox, commandLine } from "../shell.js";

const ENDINGS = ["VOID", "FAILED", "RETURNED"];

/** [word, time, actor] of each step on the way. Those after an end that no bank paid never come, and are left out. */
function way(payout) {
  const list = [["CLOSED", payout.closed_at, payout.closed_by], ["APPROVED", payout.approved_at, payout.approved_by],
    ["SENT", payout.sent_at, payout.sent_by]];
  if (!ENDINGS.includes(payout.state)) return [...list, ["PAID", payout.paid_at || payout.ended_at, payout.ended_by]];
  const paid = payout.state === "RETURNED" ? [["PAID", payout.paid_at]] : [];
  return [...list.filter(([, at]) => at), ...paid, [payout.state, payout.ended_at, payout.ended_by]];
}

function steps(payout) {
  const isOpen = payout.state === "CLOSED";
  return element("ol", { class: "steps" }, ...way(payout).map(([name, at, who]) => {
    const isSkipped = name === "APPROVED" && !at && !isOpen;
    const isReached = at || isSkipped || payout.state === name || payout.state === "RETURNED";
    const note = at ? [time(at), who ? " by " + who : ""] : [isSkipped ? "not needed" : isReached ? "" : "not yet"];
    const word = name === payout.state ? state(name) : element("span", { class: "state plain" }, name);
    return element("li", isReached ? { class: ENDINGS.includes(name) ? "failed" : "done" } : {}, word, element("small", {}, ...note));
  }));
}

function command(payout) {
  const account = [["--account", payout.account_id]];
  const line = { CLOSED: ["sluice approvals show", account], APPROVED: ["sluice payout sent", account],
    SENT: ["sluice payout settle", [...account, ["--bank-ref", "REF"]]] }[payout.state];
  return line ? [card("Next command", commandBox(commandLine(line[0], [payout.payout_id], line[1])))] : [];
}

export default {
  nav: "payouts",
  title: (parameters) => "Payout " + (parameters.payout || ""),
  load: ({ payout }, get) => Promise.all([get("payout", { payout }), get("payout/items", { payout, limit: pageSize() })]),
  show([payout, first], parameters, { me }) {
    const columns = [
      { name: "Order", cell: (item) => (item.order_id ? orderLink(item) : item.kind.toLowerCase()) },
      { name: "Shop", cell: (item) => idOf(item.shop_id || "") },
      { name: "Line", cell: (item) => idOf(item.line_item_id || "") },
      { name: "Kind", cell: (item) => item.kind.toLowerCase() },
      { name: "Program", cell: (item) => item.program_id },
      { name: "Ordered", cell: (item) => time(item.ordered_at, false) },
      { name: "Amount", n: true, cell: (item) => money(item.amount, payout.currency) },
    ];
    return [head(["Payout ", idOf(payout.payout_id)],
      [money(payout.amount, payout.currency), " for ", creatorLink(payout.creator_id), payout.name ? " (" + payout.name + ")" : "", ", ",
        state(payout.state), "."]),
    element("section", { class: "card" }, element("p", { class: "big" }, money(payout.amount, payout.currency)), steps(payout),
      ...(ENDINGS.includes(payout.state) ? [element("p", { class: "muted then" }, (payout.end_reason ? "Reason: " + payout.end_reason + ". " : "") +
        "The amount went back to owed: a later close pays it.")] : [])),
    facts([["Payee", payout.payee || "none", payout.bank_ref ? "bank reference " + payout.bank_ref : null],
      ["Until", time(payout.until), ["of run ", me.role === "support" ? idOf(payout.payout_run) : idLink("run", { run: payout.payout_run }, payout.payout_run)]],
      ["Orders", String(payout.orders), plural(payout.items, "item")]]),
    ...(me.role === "support" ? [] : command(payout)),
    ...(payout.parts && payout.parts.length ? [card("By program", table("By program", [
      { name: "Program", cell: (part) => link("program", { program: part.program_id }, part.program_id) },
      { name: "Amount", n: true, cell: (part) => money(part.amount, payout.currency) }], payout.parts))] : []),
    growing({ path: "payout/items", parameters: { payout: parameters.payout }, what: "item", title: "Items", caption: "Items", columns, first,
      none: empty("The payout has no items.") })];
  },
};
