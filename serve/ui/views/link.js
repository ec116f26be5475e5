// One link: what it brought, and the commands that change it.
import { element } from "../dom.js";
import { byMinorUnits, capital, count, day, isZero, money, percent, shortDay, shortWhole, state } from "../format.js";
import { creatorLink, idLink, idOf, link as linkTo } from "../links.js";
import { CLICKS, ORDERS, bars, card, empty, head, table, tile, tiles } from "../parts.js";
import { commandBox, commandLine } from "../shell.js";
import { orderColumns } from "./orders.js";

const ownColumns = orderColumns.filter((column) => column.name !== "Creator");
/** What visitors get in a state that is not active. */
const STATES = { stopped: "visitors still arrive, and nothing counts", removed: "visitors get 404, and the id is never used again" };

function numbers(link) {
  const list = [tile("Clicks", count(link.clicks), "in 30 days"), tile("Devices", count(link.devices), "by day, added up"),
    tile("Orders", count(link.orders), link.conversion === null ? "in 30 days" : percent(link.conversion) + " of the devices")];
  if (link.amounts) {
    const [main, ...others] = [...link.amounts].sort((a, b) => byMinorUnits(a.earned, b.earned));
    const more = [...others.map((one) => [one.earned, one.currency, ""]), ...link.amounts.filter((one) => !isZero(one.adjusted))
      .map((one) => [one.adjusted, one.currency, " adjusted"])];
    list.push(tile("Earned", main ? money(main.earned, main.currency) : "0",
      more.length ? more.flatMap(([text, currency, words], i) => [i ? ", " : "", money(text, currency), words]) : "in 30 days"));
  }
  return tiles("Thirty days", list);
}

function charts({ days }) {
  const names = { what: "Day", name: (row) => day(row.day), tick: (row, i) => (i % 7 === 3 ? shortDay(row.day) : null) };
  return element("section", { class: "charts", "aria-label": "Thirty days by day" },
    bars("Clicks and devices by day", shortWhole, CLICKS, days, names), bars("Orders by day", shortWhole, ORDERS, days, names));
}

function commands({ link_id: id, state: word, to }, account) {
  if (word === "removed") return [];
  const of = (verb, ...options) => commandBox(commandLine("sluice link " + verb, [id], [["--account", account], ...options]));
  return [card("Commands", element("p", { class: "muted" }, "The link leads elsewhere:"), of("set", ["--to", to]),
    element("p", { class: "muted then" }, word === "stopped" ? "It counts again:" : "Nothing counts any more, and visitors still arrive:"),
    of(word === "stopped" ? "start" : "stop"), element("p", { class: "muted then" }, "The link is gone for ever:"), of("remove"))];
}

function orders({ newest_orders: list, newest_orders_cut: isCut, creator_id: creator }) {
  const none = isCut ? "None of the creator's newest orders came through this link." : "No order came through this link yet.";
  return card("Newest orders", list.length ? table("Orders", ownColumns, list) : empty(none),
    ...(isCut ? [element("p", { class: "muted" }, "Only the 2,000 newest orders of the creator were searched.")] : []),
    element("p", { class: "more" }, linkTo("orders", { creator }, "All orders of " + creator)));
}

export default {
  nav: "links",
  title: (parameters) => "Link " + (parameters.link || ""),
  load: ({ link }, get) => get("link", { link }),
  show(link, parameters, { me }) {
    const named = link.names[link.creator_id];
    const said = ["A link of ", creatorLink(link.creator_id), named ? " (" + named + ")" : "", " in ", idLink("program", { program: link.program_id }, link.program_id), " to ", idOf(link.to),
      link.deep ? ", and to the pages below it" : "", ", since ", day(link.created_at), ".",
      ...(STATES[link.state] ? [" ", state(capital(link.state)), ": " + STATES[link.state] + "."] : [])];
    return [head(["Link ", idOf(link.link_id)], said), numbers(link), charts(link), element("div", { class: "cards" },
      element("div", {}, orders(link)), element("div", {}, ...commands(link, me.account)))];
  },
};
