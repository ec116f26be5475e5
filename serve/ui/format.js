// Numbers, times and words as people read them. Amounts are decimal strings and never become floats.
import { element } from "./dom.js";

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const LONG = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
  "November", "December"];

const grouped = (digits) => digits.replace(/\B(?=(\d{3})+$)/g, ",");

/** 1840.00 -> 1,840.00, with a minus sign for negative amounts. */
export function amount(text) {
  const [, sign, whole, rest] = /^(-?)(\d+)(.*)$/.exec(String(text)) || [];
  return whole === undefined ? String(text) : (sign ? "−" : "") + grouped(whole) + rest;
}
/** Amounts within words: every number of four digits before the point or more. */
export const amountsIn = (text) => text.replace(/(?<![\d.])\d{4,}(\.\d+)?\b/g, amount);
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
/** The value of a chart's axis. */
export const short = (value) => compact.format(value).replace("-", "−");
/** The value of an axis of whole numbers. */
export const shortWhole = (value) => (Number.isInteger(value) ? short(value) : "");
export const count = (number) => (number < 0 ? "−" : "") + grouped(String(Math.abs(number)));

/** An amount with its currency, which is smaller. */
export function money(text, currency) {
  if (text === null || text === undefined) return element("span", {}, "–");
  const shown = element("span", { class: "nowrap" }, amount(text));
  if (currency) shown.append(element("span", { class: "unit" }, currency));
  return shown;
}

/** Sum of decimal strings, exact. */
export function sum(texts) {
  let digits = 0;
  for (const text of texts) digits = Math.max(digits, (String(text).split(".")[1] || "").length);
  let total = 0n;
  for (const text of texts) {
    const [whole, rest = ""] = String(text).replace("-", "").split(".");
    const value = BigInt(whole + rest.padEnd(digits, "0"));
    total += String(text).startsWith("-") ? -value : value;
  }
  const plain = String(total < 0n ? -total : total).padStart(digits + 1, "0");
  const split = plain.length - digits;
  return (total < 0n ? "-" : "") + plain.slice(0, split) + (digits ? "." + plain.slice(split) : "");
}
/** The first number of a text, in units that compare. */
export function scaled(text) {
  const [, sign, whole, rest = ""] = /([−-]?)([\d,]+)(?:\.(\d+))?/.exec(text) || [, "", "0"];
  const value = BigInt(whole.replaceAll(",", "") + rest.slice(0, 6).padEnd(6, "0"));
  return sign ? -value : value;
}
export const negated = (text) => (/^-?0*(\.0*)?$/.test(text) ? text.replace("-", "")
  : text.startsWith("-") ? text.slice(1) : "-" + text);
/** Amounts of different currencies are compared in minor units: a yen is nearer to a cent than to a euro. */
export const byMinorUnits = (a, b) => {
  const [left, right] = [a, b].map((text) => BigInt(text.replace(".", "")));
  return left < right ? 1 : left > right ? -1 : 0;
};
/** 0.125 -> 12.5%: at most 4 digits after the point. */
export function percent(text) {
  const [whole, rest = ""] = text.split(".");
  const hundredths = BigInt(whole + rest.padEnd(4, "0"));
  return (hundredths / 100n + "." + String(hundredths % 100n).padStart(2, "0")).replace(/\.?0+$/, "") + "%";
}
const SPANS = [[172800, 86400, " days"], [3600, 3600, " h"], [60, 60, " min"], [0, 1, " s"]];
/** How long one instant is before another, in its largest unit: 4 s before, 3 days after. */
export function before(at, other) {
  const seconds = Math.trunc((Date.parse(other) - Date.parse(at)) / 1000);
  const [, unit, name] = SPANS.find(([least]) => Math.abs(seconds) >= least);
  return count(Math.trunc(Math.abs(seconds) / unit)) + name + (Date.parse(other) < Date.parse(at) ? " after" : " before");
}
export const isZero = (text) => /^-?0*(\.0*)?$/.test(text);

/** 2026-03-03T... -> 3 Mar 2026 */
export function day(text) {
  return Number(text.slice(8, 10)) + " " + MONTHS[Number(text.slice(5, 7)) - 1] + " " + text.slice(0, 4);
}
/** The day without its year. */
export const shortDay = (text) => Number(text.slice(8, 10)) + " " + MONTHS[Number(text.slice(5, 7)) - 1];
export const monthName = (text) => LONG[Number(text.slice(5, 7)) - 1] + " " + text.slice(0, 4);
export const shortMonth = (text) => MONTHS[Number(text.slice(5, 7)) - 1];

/** Instants sort by their keys: the server leaves zeros at the end of a fraction out. */
export const instantKey = (text) => text.slice(0, 19) + text.slice(20, -1).padEnd(9, "0");

/** A time element with day, hour and minute; the whole instant is its title. */
export function time(text, withClock = true) {
  if (!text) return "";
  const words = day(text) + (withClock ? ", " + text.slice(11, 16) : "");
  return element("time", { datetime: text, title: text, class: "nowrap" }, words);
}

/** Why a close leaves a creator out. */
export const SKIPPED = {
  NOT_POSITIVE: "nothing is left to pay", BELOW_MINIMUM: "below the minimum", BLOCKED: "orders or creators held or blocked", HELD: "held",
  EXCLUDED: "left out by the command", NO_PAYEE: "no payee", PAYEE_CHANGED: "payee changed lately",
};

/** A sentence of the server, with its instants as days and times, and its amounts grouped. */
export const told = (text) => text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, (at) =>
  day(at) + (at.slice(11, 19) === "00:00:00" ? "" : ", " + at.slice(11, 16)))
  .replace(/(?<![\d.])\d{4,}(\.\d+)?(?= [A-Z]{3}\b)/g, amount);
export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

const COLORS = {
  paid: "good", closed: "warn", blocked: "warn", waiting: "warn", held: "warn", silent: "warn", failed: "bad",
  returned: "bad", stopped: "warn",
};
/** The word of a state, coloured where it matters. */
export function state(word) {
  return element("span", { class: "state " + (COLORS[String(word).toLowerCase()] || "plain") },
    String(word).replaceAll("_", " "));
}

export const plural = (number, one, many = one + "s") => count(number) + " " + (number === 1 ? one : many);
/** 2026-02 and its neighbours */
export function monthAfter(month, step) {
  const [year, number] = month.split("-").map(Number);
  return new Date(Date.UTC(year, number - 1 + step, 1)).toISOString().slice(0, 7);
}
export const monthStart = (month) => month + "-01T00:00:00Z";
export const today = () => new Date().toISOString().slice(0, 10);
