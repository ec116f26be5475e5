// One program: its versions, two of them side by side, and the account's policy.
import { element } from "../dom.js";
import { amount, capital, plural, time, told } from "../format.js";
import { hrefOf, idOf } from "../links.js";
import { card, head, pairs, table } from "../parts.js";
import { rulesOf } from "./programs.js";

const IGNORED = new Set(["version", "applied_at", "applied_by", "program_id", "account_id", "policy"]);
const words = (name) => name.replaceAll("_", " ");
const AMOUNT = /^(-?\d+(?:\.\d+)?) ([A-Z]{3})$/;

/** A value of any shape in words. An amount stays beside its currency. */
export function text(value) {
  if (value === null || value === undefined) return "none";
  if (Array.isArray(value)) return value.length ? value.map(text).join(", ") : "none";
  if (typeof value === "object") {
    return Object.entries(value).filter(([, one]) => one !== null && !(Array.isArray(one) && !one.length))
      .map(([name, one]) => words(name) + " " + text(one)).join(", ");
  }
  if (typeof value === "boolean") return value ? "yes" : "no";
  const [, number, currency] = AMOUNT.exec(value) || [];
  return currency ? amount(number) + "\u00a0" + currency : told(String(value));
}
const isNone = (value) => value === null || value === undefined || (Array.isArray(value) && !value.length);
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** [field, before, after, "added" | "removed" | "changed"]. A list is compared row by row, so that one new rule is one line. */
export function differences(before, after) {
  const rows = [];
  for (const name of Object.keys(after)) {
    if (IGNORED.has(name) || same(before[name], after[name])) continue;
    if (Array.isArray(before[name]) && Array.isArray(after[name])) {
      const has = (list, value) => list.some((one) => same(one, value));
      for (const value of before[name]) if (!has(after[name], value)) rows.push([name, value, null, "removed"]);
      for (const value of after[name]) if (!has(before[name], value)) rows.push([name, null, value, "added"]);
      if (rows.at(-1)?.[0] !== name) rows.push([name, before[name], after[name], "changed"]);
    } else {
      rows.push([name, before[name], after[name], isNone(before[name]) ? "added" : isNone(after[name]) ? "removed" : "changed"]);
    }
  }
  return rows;
}

function comparison(versions, parameters, go) {
  if (versions.length < 2) return [];
  const number = (name, otherwise) => versions.find((row) => String(row.version) === parameters[name]) || otherwise;
  const after = number("to", versions[0]), before = number("with", versions[1]);
  const menu = (name, chosen, label) => {
    const node = element("select", { name }, ...versions.map((row) => element("option",
      { value: String(row.version), ...(row === chosen ? { selected: "" } : {}) }, "version " + row.version)));
    node.addEventListener("change", () => go(hrefOf("program", { program: parameters.program, with: before.version, to: after.version,
      [name]: node.value })));
    return element("label", {}, label, node);
  };
  const rows = differences(before, after);
  return [card("Two versions side by side", element("div", { class: "filters" }, menu("with", before, "Before"), menu("to", after, "After")),
    rows.length ? table("Differences", [
      { name: "Field", cell: ([name]) => words(name) },
      { name: "Version " + before.version, cell: ([, value, , kind]) => (kind === "added" ? "" : element("del", {}, text(value))) },
      { name: "Version " + after.version, cell: ([, , value, kind]) => (kind === "removed" ? "" : element("ins", {}, text(value))) },
      { name: "Difference", cell: ([, , , kind]) => kind }], rows) : element("p", { class: "empty" }, "They do not differ."))];
}

function rules(program) {
  if (!program.rules.length) return [];
  return [card("Rules", table("Rules, the most specific that matches wins", [
    { name: "Matches", cell: (rule) => (rule.match ? rule.match + " " + rule.value : "every item") },
    { name: "Conditions", cell: (rule) => text({ creator: rule.creator, group: rule.group, customer: rule.customer, from: rule.from,
      until: rule.until, "order of at least": rule.min_order_amount }) || "none" },
    { name: "Rate", n: true, cell: (rule) => rule.rate + (rule.tiers.length ? ", " + text(rule.tiers) : "") }], program.rules))];
}

export default {
  nav: "programs",
  title: (parameters) => "Program " + (parameters.program || ""),
  load: ({ program }, get) => Promise.all([get("program", { program }), get("program/versions", { program, limit: 1000 })]),
  show([program, { items }], parameters, { go }) {
    const since = program.applied_at ? [", since ", time(program.applied_at)] : [];
    return [head(["Program ", idOf(program.program_id)],
      ["Version " + program.version + " of " + plural(items.length, "version"), ...since, "."]),
    element("div", { class: "cards" }, element("div", {}, card("Now", pairs("Now", [...rulesOf(program), ["Base", program.base], ["Precedence", text(program.precedence)],
      ["Starts", program.starts_at ? time(program.starts_at) : "always"], ["Ends", program.ends_at ? time(program.ends_at) : "never"],
      ["Highest per order", text(program.max_per_order)]])),
    card("Versions", table("Versions", [{ name: "Version", cell: (row) => String(row.version) },
      { name: "Applied", cell: (row) => time(row.applied_at) },
      ...(items.some((row) => row.applied_by) ? [{ name: "By", cell: (row) => row.applied_by || "–" }] : []),
      { name: "Rate", n: true, cell: (row) => row.default_rate }], items))),
    card("Policy of the account", pairs("Policy of the account", Object.entries(program.policy).map(([name, value]) => [capital(words(name)),
      text(value)])))),
    ...rules(program), ...comparison(items, parameters, go)];
  },
};
