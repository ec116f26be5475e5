// Home: what is ready, pending, on its way and paid.
import { get } from "../api.js";
import { element } from "../dom.js";
import { amount, compare, day, isNegative, isZero, minus, money, month, moneyNode, short, shortMonth } from "../format.js";
import { bars, card, link, orderColumns, pairs, table, tile } from "../parts.js";
import settings from "../settings.js";
import { findCard } from "./find.js";
import words from "../words.js";

const NEWEST = 5;

/** The first currency of which most is open. */
const byOpen = (a, b) => open(b) - open(a) || a.currency.localeCompare(b.currency);
const open = (sum) => ["ready", "pending", "on_its_way", "checked"].filter((part) => !isZero(sum[part])).length;

export function answerOf(sum) {
  const { currency, minimum } = sum;
  const text = words.answers, shown = (part) => money(sum[part], currency);
  if (isNegative(sum.ready)) return text.negative(shown("ready"));
  if (!isZero(sum.ready) && minimum !== null && compare(sum.ready, minimum) < 0) {
    return text.below(shown("ready"), money(minus(minimum, sum.ready), currency), money(minimum, currency));
  }
  if (!isZero(sum.ready)) return text.ready(shown("ready"), settings.paid);
  if (!isZero(sum.on_its_way)) return text.on_its_way(shown("on_its_way"));
  if (!isZero(sum.pending)) return sum.dates.length ? text.pending(money(sum.dates[0].amount, currency), day(sum.dates[0].day)) : text.waiting(shown("pending"));
  if (!isZero(sum.checked)) return text.checked(shown("checked"), settings.name);
  return isZero(sum.paid) ? text.nothing : text.paid;
}

function monthsCard(home, currency) {
  const months = home.months.filter((row) => row.currency === currency).reverse();
  if (!months.some((row) => !isZero(row.earned) || !isZero(row.adjusted))) return [];
  // A chart's height is no amount of money.
  const series = (name, color) => ({ name: words.columns[name], color, value: (row) => Number(row[name]), text: (row) => amount(row[name]) });
  return [bars(words.home.months + ", " + currency, short, [series("earned", "one"), series("adjusted", "two")], filled(months),
    { what: words.columns.month, name: (row) => month(row.month), tick: (row, i) => (i % 2 ? null : shortMonth(row.month)) })];
}

const monthNow = () => new Date().toISOString().slice(0, 7);

/** The twelve months up to this one, of which the API has rows: those without a row are zero. */
function filled(months) {
  const zero = minus(months[0].earned, months[0].earned);
  const [year, number] = monthNow().split("-").map(Number);
  return Array.from({ length: 12 }, (_, i) => {
    const name = new Date(Date.UTC(year, number - 12 + i, 1)).toISOString().slice(0, 7);
    return months.find((row) => row.month === name) ?? { month: name, earned: zero, adjusted: zero };
  });
}

function lastPayment({ last_payment: last }) {
  const content = last ? [element("p", {}, link("payment", { id: last.id }, money(last.amount, last.currency) + ", " + day(last.paid_on)))]
    : [element("p", { class: "empty" }, words.home.no_payment)];
  return card(words.home.last, ...content, element("p", { class: "links" }, link("payments", {}, words.home.all_payments)));
}

function cards(home, sum) {
  const list = [];
  if (sum?.dates.length) {
    list.push(card(words.home.dates, pairs(words.home.dates, sum.dates.map((one) => [day(one.day), moneyNode(one.amount, sum.currency)]))));
  }
  list.push(lastPayment(home));
  const shown = home.tiers.filter((tier) => !sum || tier.currency === sum.currency);
  if (shown.length) {
    list.push(card(words.home.tier, ...shown.map((tier) => element("p", {},
      words.home.tier_line(money(tier.missing, tier.currency), tier.rate.replace("%", "\u00a0%")),
      element("small", { class: "muted" }, " " + words.home.tier_volume(money(tier.volume, tier.currency), month(monthNow())))))));
  }
  list.push(card(words.home.payee, home.payee ? element("p", {}, home.payee,
    ...(home.payee_since ? [element("small", { class: "muted" }, " " + words.home.since(day(home.payee_since)))] : []))
    : element("p", { class: "empty" }, words.home.no_payee)));
  return list;
}

export default {
  title: () => words.views.home,
  async load(parameters, signal) {
    const [home, orders] = await Promise.all([get("home", {}, signal), get("orders", {}, signal)]);
    return { home, orders };
  },
  show({ home, orders }) {
    const [sum, ...others] = [...home.amounts].sort(byOpen);
    const nodes = [element("h1", { class: "eyebrow", tabindex: "-1" }, words.views.home),
      element("p", { class: "answer" }, sum ? answerOf(sum) : words.answers.nothing)];
    if (sum) {
      const checked = words.answers.checked(money(sum.checked, sum.currency), settings.name);
      if (!isZero(sum.checked) && answerOf(sum) !== checked) nodes.push(element("p", { class: "after" }, checked));
      nodes.push(element("div", { class: "tiles" }, ...["ready", "pending", "on_its_way", "paid"].map((part) =>
        tile(words[part], moneyNode(sum[part], sum.currency), part === "pending" && sum.dates.length ? day(sum.dates[0].day) : ""))));
    }
    if (others.length) {
      const parts = ["ready", "pending", "checked", "on_its_way", "paid"];
      nodes.push(card(words.home.others, table(words.home.others, [{ name: words.columns.currency, cell: (row) => row.currency },
        ...parts.map((part) => ({ name: words[part], n: true, cell: (row) => amount(row[part]) }))], others)));
    }
    const newest = orders.items.slice(0, NEWEST);
    nodes.push(card(words.home.newest, ...(newest.length
      ? [table(words.home.newest, orderColumns(), newest, { isList: true }), element("p", { class: "links" }, link("orders", {}, words.home.all_orders))]
      : [element("p", { class: "empty" }, words.home.no_orders)])));
    const shops = [...new Set([...Object.keys(settings.shops), ...orders.items.map((row) => row.shop)])];
    nodes.push(findCard(shops));
    nodes.push(element("div", { class: "cards" }, ...cards(home, sum), ...(sum ? monthsCard(home, sum.currency) : [])));
    return { nodes, who: home.name };
  },
};
