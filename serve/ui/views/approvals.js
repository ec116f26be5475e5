// What waits for another person, oldest first, and one of them in full (controls K3).
import { element } from "../dom.js";
import { amount, capital, instantKey, money, plural, time, told } from "../format.js";
import { idLink, idOf } from "../links.js";
import { card, empty, growing, head, pairs, table } from "../parts.js";
import { commandBox, commandLine } from "../shell.js";
import { payoutTabs } from "./payouts.js";
import { text } from "./program.js";

const words = (name) => capital(name.replace(/_id$/, "").replaceAll("_", " "));
/** policy.min_payout -> policy: min payout */
const field = (name) => name.replace(/\.([a-z_]+)$/, (_, last) => ": " + last.replaceAll("_", " "));
const isNone = (value) => value === null || value === undefined || value === "" || (Array.isArray(value) && !value.length);
const IGNORED = new Set(["ended_by", "ended_at", "account", "account_number", "account_id", "id", "command", "digest"]);
/** A row with more members than this is a card of its own. */
const COLUMNS_MAX = 7;
const NUMBER = /^-?\d+(\.\d+)?$/;

function list(first, me) {
  const columns = [
    { name: "Approval", cell: (row) => idLink("approvals", { id: row.id }, row.id) },
    { name: "Command", cell: (row) => row.command },
    { name: "By", cell: (row) => row.actor || "–" },
    { name: "Reason", cell: (row) => row.reason || "–" },
    { name: "Since", cell: (row) => time(row.received_at) },
    { name: "Amount", n: true, cell: (row) => (row.amount === null ? "–" : money(row.amount, row.currency)) },
  ];
  const rows = [...first.items].sort((a, b) => (instantKey(a.received_at) < instantKey(b.received_at) ? -1 : 1));
  const said = first.items.length ? plural(first.items.length, "command") + (first.items.length === 1 ? " waits" : " wait") +
    " for another person, the oldest first." : "Nothing waits for approval.";
  return [head("Approvals", said), payoutTabs("approvals", me), growing({ path: "approvals", parameters: {}, what: "approval",
    caption: "Approvals, oldest first", columns, first: { ...first, items: rows }, none: empty("Nothing waits for approval.") })];
}

/** Rows of differences separate the members of a list by ";" alone. */
const shown = (value) => (NUMBER.test(value) ? amount(value) : text(value).replaceAll(";", ", "));
const values = (title, value) => pairs(title, Object.entries(value).filter(([name, one]) => !IGNORED.has(name) && !isNone(one))
  .map(([name, one]) => [words(name), idOf(shown(one))]));

function rows(title, list) {
  const names = [...new Set(list.flatMap((row) => Object.keys(row)))].filter((name) => !IGNORED.has(name) && list.some((row) => !isNone(row[name])));
  if (names.length > COLUMNS_MAX) return list.map((row) => card(title + ": " + (row.id || row.account || ""), values(title, row)));
  const isNumber = (name) => list.every((row) => isNone(row[name]) || NUMBER.test(row[name]));
  return [card(title, table(title, names.map((name) => ({ name: words(name), n: isNumber(name),
    cell: (row) => (isNone(row[name]) ? "–" : name === "field" ? field(row[name]) : idOf(shown(row[name]))) })), list))];
}

/** Members of any shape, because each command has its own: lists of rows become tables. */
function members(title, value) {
  const isNested = (one) => (Array.isArray(one) ? typeof one[0] === "object" : one !== null && typeof one === "object");
  if (Array.isArray(value)) return !value.length ? [] : isNested(value) ? rows(title, value) : [card(title, element("p", {}, text(value)))];
  const plain = Object.entries(value).filter(([name, one]) => !isNested(one) && !isNone(one) && !IGNORED.has(name));
  const nested = Object.entries(value).filter(([, one]) => isNested(one));
  return [...(plain.length ? [card(title, values(title, Object.fromEntries(plain)))] : []), ...nested.flatMap(([name, one]) => members(words(name), one))];
}

/** The value with the name behind each creator's id. */
function withNames(value, names) {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map((one) => withNames(one, names));
  return Object.fromEntries(Object.entries(value).map(([name, one]) =>
    [name, /^creator(_id)?$/.test(name) && names[one] ? one + " (" + names[one] + ")" : withNames(one, names)]));
}

/** The command that approves what waits, and who may; or who decided, and when. */
function decision(approval, me) {
  if (approval.state !== "PENDING") {
    const done = approval.state.toLowerCase();
    return card(capital(done), element("p", {}, approval.ended_by ? capital(done) + " by " + approval.ended_by + " on " : "Nothing waits. ",
      time(approval.ended_at)), element("p", { class: "muted" }, "Digest ", idOf(approval.digest)));
  }
  const who = approval.approvers.filter((name) => name !== approval.actor);
  return card("Approve exactly this", element("p", {}, who.length ? who.join(" or ") + " may approve it." : "Any person but " + (approval.actor || "the requester") + " may approve it."),
    element("p", { class: "muted" }, "Digest ", idOf(approval.digest)),
    commandBox(commandLine("sluice approve", [approval.id], [["--account", me.account], ["--expect", approval.digest]])));
}

function one({ names, ...read }, me) {
  const approval = withNames(read, names);
  const { differences = [], fields = {}, effect = {} } = approval;
  const { result, ...effects } = effect || {};
  const asked = Object.fromEntries(Object.entries(approval).filter(([, value]) => value === null || typeof value !== "object"));
  // The result of a program file repeats the differences, which have a table of their own.
  const said = result && (differences.length ? result.split("; ")[0] : result);
  return [head(["Approval ", idOf(approval.id)], [capital(approval.command) + " by " + (approval.actor || "–") + (said ? ": " + told(said) : "") + "."]),
    payoutTabs("approvals", me),
    decision(approval, me),
    ...members("Differences", differences), ...members("Effect", effects),
    element("div", { class: "cards" }, ...members("Command", asked), ...members("Asked for", fields))];
}

export default {
  nav: "payouts",
  title: (parameters) => (parameters.id ? "Approval " + parameters.id : "Approvals"),
  load: ({ id }, get) => get(id ? "approval" : "approvals", { id }),
  show: (data, parameters, { me }) => (parameters.id ? one(data, me) : list(data, me)),
};
