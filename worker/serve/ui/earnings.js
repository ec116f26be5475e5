// Earned and adjusted by day or month, from the journal, which proves the past (G15).
import { get } from "./api.js";
import { element } from "./dom.js";
import { amount, day, monthAfter, monthName, negated, shortDay, shortMonth, sum, today } from "./format.js";
import { bars, card, empty } from "./parts.js";

const EARNED = new Set(["ACCRUAL", "ATTRIBUTION"]);
const PAGES_MAX = 10;
const DAY_MS = 86400000;

const daysBack = (number) => new Date(Date.parse(today()) - number * DAY_MS).toISOString().slice(0, 10);
const STEPS = {
  day: { title: "Earned and adjusted by day", button: "Show the last 30 days", of: (at) => at.slice(0, 10),
    places: () => Array.from({ length: 30 }, (_, i) => daysBack(29 - i)), start: () => daysBack(29) + "T00:00:00Z",
    names: { what: "Day", name: (row) => day(row.place), tick: (row, i) => (i % 7 === 3 ? shortDay(row.place) : null) } },
  month: { title: "Earned and adjusted by month", button: "Show the last 12 months", of: (at) => at.slice(0, 7),
    places: () => Array.from({ length: 12 }, (_, i) => monthAfter(today().slice(0, 7), i - 11)),
    start: () => monthAfter(today().slice(0, 7), -11) + "-01T00:00:00Z",
    names: { what: "Month", name: (row) => monthName(row.place), tick: (row, i) => (i % 2 ? shortMonth(row.place) : null) } },
};

/** The postings between expense and owed since an instant; null if the journal has more than 10,000 rows since then. */
async function postings(query, from) {
  const rows = [];
  let after, pages = 0;
  do {
    const page = await get("journal", { ...query, from, limit: 1000, after });
    rows.push(...page.items);
    after = page.next;
  } while (after && ++pages < PAGES_MAX);
  const pair = (row) => [row.debit_account, row.credit_account];
  return after ? null : rows.filter((row) => pair(row).includes("expense") && pair(row).includes("owed"));
}

function chart(step, currency, rows) {
  const zero = rows.find((row) => row.currency === currency).amount.replace("-", "").replace(/\d/g, "0").replace(/^0+(?=\d)/, "");
  const points = step.places().map((place) => {
    const own = rows.filter((row) => row.currency === currency && step.of(row.accounting_date) === place);
    const total = (isEarned) => sum([zero, ...own.filter((row) => EARNED.has(row.reason) === isEarned)
      .map((row) => (row.credit_account === "owed" ? row.amount : negated(row.amount)))]);
    return { place, earned: total(true), adjusted: total(false) };
  });
  const short = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
  return bars(step.title + ", " + currency, (value) => short.format(value), [["earned", "one"], ["adjusted", "two"]].map(([name, color]) =>
    ({ name, color, value: (row) => Number(row[name]), text: (row) => amount(row[name]) })), points, step.names);
}

/** A card with a button that draws a chart for each currency. query: filters of the journal; by: "day" or "month". */
export function earnings(query, by) {
  const step = STEPS[by];
  const button = element("button", { type: "button" }, step.button);
  const section = card(step.title, button);
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      const rows = await postings(query, step.start());
      const entries = (currency) => rows.filter((row) => row.currency === currency).length;
      const currencies = [...new Set((rows || []).map((row) => row.currency))].sort((a, b) => entries(b) - entries(a));
      if (!currencies.length) {
        section.replaceChildren(element("h2", {}, step.title), rows ? empty("Nothing was earned in this time.")
          : empty("The journal has more than 10,000 entries of this time: ", element("code", {}, "sluice report journal"), " has them all."));
        return;
      }
      const charts = element("section", { class: "charts", "aria-label": step.title });
      section.replaceWith(charts);
      for (const currency of currencies) charts.append(chart(step, currency, rows));
      charts.querySelector("svg").focus();
    } catch (error) {
      button.disabled = false;
      button.textContent = "Not loaded: " + error.message;
    }
  });
  return section;
}
