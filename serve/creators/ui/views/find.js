// "Where is my order?": the answer is one cause, in a sentence.
import { askPlatform, get, isFramed } from "../api.js";
import { element } from "../dom.js";
import { day, minute, money } from "../format.js";
import { button, link, shopName } from "../parts.js";
import settings from "../settings.js";
import words from "../words.js";

const text = words.find;

/** 49,90 -> 49.90 */
const plainAmount = (typed) => typed.trim().replace(/^(\d+),(\d{1,6})$/, "$1.$2");
/** 3.3.26 -> 2026-03-03 */
function plainDay(typed) {
  const [, date, month, year] = /^(\d{1,2})\.(\d{1,2})\.(\d{2}|\d{4})$/.exec(typed.trim()) || [];
  return date ? (year.length === 2 ? "20" + year : year) + "-" + month.padStart(2, "0") + "-" + date.padStart(2, "0") : typed.trim();
}

/** Names of a form's parameters. */
const PARAMETERS = { number: "order", cause: "cause" };

/** The configured address, with number and cause. What it has no place for enters a mail's body, or a form's parameters. */
export function questionTo(address, question) {
  const filled = address.replace(/\{(number|cause)\}/g, (_, name) => encodeURIComponent(question[name]));
  const left = Object.keys(question).filter((name) => question[name] && !address.includes("{" + name + "}"));
  if (!left.length) return filled;
  const [, before, query, fragment] = /^([^?#]*)\??([^#]*)(.*)$/s.exec(filled);
  const fields = query ? query.split("&") : [];
  if (before.startsWith("mailto:")) {
    const place = (name) => fields.findIndex((field) => field.toLowerCase().startsWith(name + "="));
    const lines = encodeURIComponent(left.map((name) => text.asked[name] + ": " + question[name]).join("\r\n"));
    if (place("subject") < 0) fields.push("subject=" + encodeURIComponent((text.title + " " + question.number).trim()));
    if (place("body") < 0) fields.push("body=" + lines);
    else fields[place("body")] += "%0D%0A" + lines;
  } else fields.push(...left.map((name) => PARAMETERS[name] + "=" + encodeURIComponent(question[name])));
  return before + "?" + fields.join("&") + fragment;
}

function ask(question) {
  if (!askPlatform(question) && settings.ask) window.open(questionTo(settings.ask, question), "_blank", "noopener");
}

function answerOf(found, shop, number) {
  const sentence = words.causes[found.cause]({ ...found, shop: shopName(shop), name: settings.name, day: found.day && day(found.day), since: found.since && minute(found.since),
    amount: found.commission === null ? "" : money(found.commission, found.currency) });
  return [element("p", { class: "answer" }, sentence), element("p", { class: "tools" },
    ...(found.number === null ? [] : [link("order", { shop: found.shop, order: found.order }, words.titles.order + " " + found.number)]),
    ...(settings.ask || isFramed ? [button(text.ask, () => ask({ number: number || (found.number ?? ""), cause: found.cause }))] : []))];
}

/**
 * The form. shops: those of which the page has names or the creator has orders. If the file names none, she may know of more than
 * these: the field takes any id.
 */
export function findCard(shops) {
  const input = (name, attributes) => element("input", { name, autocomplete: "off", spellcheck: "false", ...attributes });
  const field = (label, node) => element("label", {}, label, node);
  const result = element("div", { role: "status" });
  const isTyped = !Object.keys(settings.shops).length;
  const form = element("form", { class: "find" },
    ...(isTyped ? [field(text.shop, input("shop", { required: "", list: "shops", value: shops.length === 1 ? shops[0] : "" })),
      element("datalist", { id: "shops" }, ...shops.map((shop) => element("option", { value: shop })))] : [shops.length > 1 ? field(text.shop, element("select", { name: "shop" }, ...shops.map((shop) => element("option", { value: shop }, shopName(shop)))))
      : element("input", { type: "hidden", name: "shop", value: shops[0] })]),
    field(text.number, input("number", { maxlength: "64" })), field(text.day, input("day", { type: "date" })),
    field(text.total, input("total", { inputmode: "decimal" })), element("button", {}, text.search));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const typed = Object.fromEntries(new FormData(form));
    const given = { shop: typed.shop.trim(), number: typed.number.trim() || null, day: plainDay(typed.day) || null, total: plainAmount(typed.total) || null };
    try {
      result.replaceChildren(...answerOf(await get("find", given), given.shop, given.number ?? ""));
    } catch (error) {
      result.replaceChildren(element("p", {}, error.code === "rate_limited" ? text.limit : error.code === "parameter" ? text.hint
        : words.failed[error.code] ?? words.failed.other));
    }
  });
  return element("section", { class: "card", id: "find" }, element("h2", {}, text.title), element("p", { class: "muted" }, text.hint), form, result);
}
