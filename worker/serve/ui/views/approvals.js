// What waits for another person, oldest first, and one of them in full (controls K3).
import { element } from "../dom.js";
import { amount, instantKey, money, plural, time } from "../format.js";
import { idLink, idOf } from "../links.js";
import { card, empty, growing, head, pairs, table } from "../parts.js";
import { commandBox, commandLine } from "../shell.js";
import { payoutTabs } from "./payouts.js";

const shown = (value) => (value === null || value === undefined ? "–" : typeof value === "object" ? JSON.stringify(value) : String(value));
const words = (name) => name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " ");
const ISO = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

function list(first) {
  const columns = [
    { name: "Waits", cell: (row) => idLink("approvals", { id: row.id }, row.id) },
    { name: "Command", cell: (row) => row.command },
    { name: "By", cell: (row) => row.actor || "–" },
    { name: "Reason", cell: (row) => row.reason || "–" },
    { name: "Since", cell: (row) => time(row.received_at) },
    { name: "Amount", n: true, cell: (row) => (row.amount === null ? "–" : money(row.amount, row.currency)) },
  ];
  const rows = [...first.items].sort((a, b) => (instantKey(a.received_at) < instantKey(b.received_at) ? -1 : 1));
  const said = first.items.length ? plural(first.items.length, "command") + (first.items.length === 1 ? " waits" : " wait") +
    " for another person, the oldest first." : "Nothing waits for approval.";
  return [head("Approvals", said), payoutTabs("approvals"), growing({ path: "approvals", parameters: {}, what: "approval",
    caption: "Approvals, oldest first", columns, first: { ...first, items: rows }, none: empty("Nothing waits for approval.") })];
}

/** Members of any shape, because each command has its own: lists of rows become tables. */
function members(title, value) {
  if (Array.isArray(value)) {
    if (!value.length) return [];
    if (typeof value[0] !== "object") return [card(title, element("p", { class: "id" }, value.map(shown).join(", ")))];
    const names = [...new Set(value.flatMap((row) => Object.keys(row)))];
    return [card(title, table(title, names.map((name) => ({ name: words(name), n: /amount/.test(name),
      cell: (row) => (/amount/.test(name) && row[name] ? amount(row[name]) : shown(row[name])) })), value))];
  }
  const isNested = (one) => one !== null && typeof one === "object";
  const plain = Object.entries(value).filter(([, one]) => !isNested(one));
  const nested = Object.entries(value).filter(([, one]) => isNested(one));
  return [...(plain.length ? [card(title, pairs(title, plain.map(([name, one]) =>
    [words(name), ISO.test(one) ? time(one) : idOf(shown(one))])))] : []),
  ...nested.flatMap(([name, one]) => members(title + ": " + words(name), one))];
}

function one(approval, me) {
  const parts = Object.entries(approval).filter(([, value]) => value !== null && typeof value === "object");
  const plain = Object.fromEntries(Object.entries(approval).filter(([name, value]) =>
    (value === null || typeof value !== "object") && !["id", "command", "digest", "account_id"].includes(name)));
  const result = approval.effect && approval.effect.result;
  return [head(["Approval ", idOf(approval.id)], [approval.command + " by " + (approval.actor || "–") + (result ? ": " + result : "") + "."]),
    payoutTabs("approvals"), ...parts.flatMap(([name, value]) => members(words(name), value)), ...members("Command", plain),
    card("Approve exactly this", element("p", { class: "muted" }, "Digest ", idOf(approval.digest)),
      commandBox(commandLine("sluice approve", [approval.id], [["--account", me.account], ["--expect", approval.digest]])))];
}

export default {
  nav: "payouts",
  title: (parameters) => (parameters.id ? "Approval " + parameters.id : "Approvals"),
  load: ({ id }, get) => get(id ? "approval" : "approvals", { id }),
  show: (data, parameters, { me }) => (parameters.id ? one(data, me) : list(data)),
};
