// Amounts, days and months in the reader's language. Amounts are decimal strings and never become floats.
import { element } from "./dom.js";

let language = "en", words = null;

/** Sets the language of numbers and dates. One that no browser knows changes nothing. */
export function speak(tag) {
  try {
    new Intl.NumberFormat(tag);
    language = tag;
    words = null;
  } catch { /* the language stays */ }
}
speak(navigator.language); // WebKitGTK says "C" in that locale

function formats() {
  const date = (options) => new Intl.DateTimeFormat(language, { ...options, timeZone: "UTC", calendar: "gregory", numberingSystem: "latn" });
  return words ??= {
    whole: new Intl.NumberFormat(language, { numberingSystem: "latn" }),
    point: new Intl.NumberFormat(language, { numberingSystem: "latn", minimumFractionDigits: 1 }).formatToParts(1.5).find((part) => part.type === "decimal").value,
    short: new Intl.NumberFormat(language, { numberingSystem: "latn", notation: "compact", maximumSignificantDigits: 3 }),
    day: date({ day: "numeric", month: "short", year: "numeric" }),
    minute: date({ day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" }),
    month: date({ month: "long", year: "numeric" }),
    shortMonth: date({ month: "short" }),
  };
}

/** 1840.00 -> 1,840.00 in English */
export function amount(text) {
  const [, sign, whole, rest] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) || [];
  if (whole === undefined) return text;
  return (sign ? "−" : "") + formats().whole.format(BigInt(whole)) + (rest ? formats().point + rest : "");
}
/** 80.00 EUR, which no line breaks */
export const money = (text, currency) => amount(text) + "\u00a0" + currency;
/** The same with a smaller currency. */
export const moneyNode = (text, currency) => element("span", { class: "nowrap" }, amount(text), element("span", { class: "unit" }, currency));
export const short = (value) => formats().short.format(value).replace("-", "−");
const at = (text) => new Date(text + "T00:00:00Z");
export const day = (text) => formats().day.format(at(text)).replaceAll(" ", "\u00a0");
/** An instant to the minute, UTC. */
export const minute = (text) => formats().minute.format(new Date(text)).replaceAll(" ", "\u00a0");
export const month = (text) => formats().month.format(at(text + "-01"));
export const shortMonth = (text) => formats().shortMonth.format(at(text + "-01"));
/** 1840 -> 1,840 in English */
export const count = (number) => amount(String(number));
/** 0.125 -> 12.5% in English */
export const percent = (text) => new Intl.NumberFormat(language, { style: "percent", numberingSystem: "latn", maximumFractionDigits: 1 }).format(text);
export const isZero = (text) => /^-?0*(\.0*)?$/.test(text);
export const isNegative = (text) => text.startsWith("-") && !isZero(text);
export const negated = (text) => (isZero(text) ? text.replace("-", "") : text.startsWith("-") ? text.slice(1) : "-" + text);

const digitsOf = (text) => (text.split(".")[1] || "").length;
const unitsOf = (text, digits) => {
  const [whole, rest = ""] = text.replace("-", "").split(".");
  const units = BigInt(whole + rest.padEnd(digits, "0"));
  return text.startsWith("-") ? -units : units;
};
/** Compares two amounts of one currency. */
export function compare(a, b) {
  const digits = Math.max(digitsOf(a), digitsOf(b));
  const [left, right] = [unitsOf(a, digits), unitsOf(b, digits)];
  return left < right ? -1 : left > right ? 1 : 0;
}
/** The sum of two amounts of one currency, exact. */
export const sum = (a, b) => minus(a, negated(b));
/** Their difference. */
export function minus(a, b) {
  const digits = Math.max(digitsOf(a), digitsOf(b));
  const units = unitsOf(a, digits) - unitsOf(b, digits);
  const text = String(units < 0n ? -units : units).padStart(digits + 1, "0");
  const split = text.length - digits;
  return (units < 0n ? "-" : "") + text.slice(0, split) + (digits ? "." + text.slice(split) : "");
}
