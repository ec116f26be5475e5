// Frame of the page: who looks, which view, and the states of a view.
import { Refused, configure, get } from "./api.js";
import { element } from "./dom.js";
import { capital, count } from "./format.js";
import { hrefOf, link } from "./links.js";
import anomalies from "./views/anomalies.js";
import approvals from "./views/approvals.js";
import creator from "./views/creator.js";
import creators from "./views/creators.js";
import oneLink from "./views/link.js";
import links from "./views/links.js";
import month from "./views/month.js";
import order from "./views/order.js";
import orders from "./views/orders.js";
import payout from "./views/payout.js";
import payouts from "./views/payouts.js";
import program from "./views/program.js";
import programs from "./views/programs.js";
import run from "./views/run.js";
import search from "./views/search.js";
import shops from "./views/shops.js";
import statement from "./views/statement.js";
import today from "./views/today.js";

const VIEWS = { anomalies, approvals, creator, creators, link: oneLink, links, month, order, orders, payout, payouts, program, programs, run,
  search, shops, statement, today };
const LINKS = [["Today", "today"], ["Orders", "orders"], ["Creators", "creators"], ["Links", "links"], ["Payouts", "payouts"], ["Month", "month"],
  ["Programs", "programs"], ["Shops", "shops"]];
/** Views that a role may not read. */
const HIDDEN = { viewer: ["payouts", "month"], support: ["month"] };
const GHOST_MS = 200;
/** A view that refreshes takes at most this part of the server's time. */
const REFRESH_SHARE = 1 / 20;

const byId = (id) => document.getElementById(id);
const content = byId("content");
let me = null, going = null, timer = 0;
/** Whether the content is the view of the address: not while the view loads that a person went to. */
let isShown = false;

const parametersNow = () => Object.fromEntries(new URLSearchParams(location.search));

// ---- The bar ------------------------------------------------------------------------------------

/** A worker that does not run tells nobody how many inputs wait by now. */
const IDLE = { stopped: "worker stopped", stale: "worker not running", unknown: "worker not running", retrying: "worker retries" };

function showWaiting(headers) {
  const waiting = headers.get("X-Sluice-Waiting");
  const pill = byId("pill");
  if (waiting === null) {
    pill.className = "pill unknown";
    return;
  }
  const idle = IDLE[headers.get("X-Sluice-Worker")];
  const isApplied = waiting === "0" && !idle;
  pill.textContent = waiting !== "0" ? count(Number(waiting)) + (waiting === "1" ? " input waits" : " inputs wait") : idle || "all applied";
  pill.className = "pill " + (isApplied ? "good" : "warn");
}

function showAccount(chosen) {
  const ids = me.accounts.map((grant) => grant.account_id);
  if (ids.length < 2) {
    byId("account").replaceChildren(ids[0] || "");
    return;
  }
  const menu = element("select", { "aria-label": "Account" }, ...ids.map((id) =>
    element("option", { value: id, ...(id === chosen ? { selected: "" } : {}) }, id)));
  menu.addEventListener("change", () => {
    const view = parametersNow().view;
    const query = new URLSearchParams({ view: Object.hasOwn(VIEWS, view) ? VIEWS[view].nav : "today", account: menu.value });
    go("./?" + query);
  });
  byId("account").replaceChildren(menu);
}

function showLinks(view) {
  const current = VIEWS[view].nav;
  const hidden = (me && HIDDEN[me.role]) || [];
  byId("nav").replaceChildren(...LINKS.filter(([, id]) => !hidden.includes(id)).map(([text, id]) =>
    element("a", { href: hrefOf(id), ...(id === current ? { "aria-current": id === view ? "page" : "true" } : {}) }, text)));
}

// ---- States of a view ---------------------------------------------------------------------------

const ghosts = () => [element("div", { class: "ghost low" }), element("div", { class: "ghost" }), element("div", { class: "ghost" })];

const ADVICE = {
  scope: "Your role may not see this. A manager of the account may.",
  unauthorized: "Your login is missing or has ended.",
  login: "Your login has ended. Log in again, and this view comes back.",
  not_found: "The account has nothing of this name.",
  rate_limited: "Too many requests. Wait a moment.",
  busy: "The server is busy. Try again in a moment.",
  ledger_unavailable: "The ledger cannot be read at the moment. `sluice doctor` says why.",
};

/** Answers about the person or the address: nothing is broken. */
const PLAIN = ["login", "no_account", "not_found", "scope", "unauthorized"];

function failed(title, error) {
  const isLogin = error.status === 401;
  const retry = element("button", { type: "button" }, isLogin ? "Log in" : "Try again");
  retry.addEventListener("click", () => (isLogin ? location.reload() : render()));
  const words = error.code === "no_account" ? error.message + ". `sluice user add` adds one." : ADVICE[error.code] || error.message;
  const { order, creator, payout, run, program, id, link: linkId } = parametersNow();
  const missing = error.code === "not_found" && (order || creator || payout || run || program || id || linkId);
  return [element("h1", { tabindex: "-1" }, title), element("div", { class: PLAIN.includes(error.code) ? "note" : "note bad" },
    element("p", {}, ...words.split("`").map((part, i) => (i % 2 ? element("code", {}, part) : part))),
    ...error.errors.map((one) => element("p", {}, one.parameter + ": " + one.message)),
    element("p", { class: "muted" }, "Code: " + error.code),
    element("p", { class: "tools" }, retry, ...(missing ? [link("search", { q: missing }, "Search for it", { class: "button" })] : [])))];
}

// ---- Views --------------------------------------------------------------------------------------

/** Shows the view of the address. isFresh: false keeps what is shown until the answer is there. */
async function render(isFresh = true, focus = false) {
  clearTimeout(timer);
  going?.abort();
  const mine = going = new AbortController();
  isShown &&= !isFresh;
  const parameters = parametersNow();
  const name = Object.hasOwn(VIEWS, parameters.view) ? parameters.view : "today";
  const view = VIEWS[name];
  const begun = performance.now();
  let nodes, took = 0;
  const ghost = setTimeout(() => {
    if (isFresh) content.replaceChildren(...ghosts());
    content.setAttribute("aria-busy", "true");
  }, GHOST_MS);
  showLinks(name);
  try {
    me ??= await get("me");
    if (mine.signal.aborted) return;
    const isKnown = choose(parameters.account);
    showLinks(name);
    if (!isKnown) throw new Refused(403, { code: "no_account", detail: "You are no user of account " + parameters.account });
    byId("q").value = name === "search" ? parameters.q || "" : "";
    const asked = (path, values) => get(path, values, mine.signal);
    const data = await view.load(parameters, asked, me);
    took = performance.now() - begun;
    if (mine.signal.aborted) return;
    nodes = view.show(data, parameters, { go, replace, me });
    document.title = view.title(parameters) + " – sluice";
    byId("status").textContent = isFresh && focus ? document.title : "";
  } catch (error) {
    if (mine.signal.aborted || error.name === "AbortError") return;
    nodes = failed(view.title(parameters), error.code ? error : Object.assign(error, { code: "internal", errors: [] }));
    byId("status").textContent = "Not loaded: " + error.message;
    if (error.code === "internal") console.error(error);
  } finally {
    clearTimeout(ghost);
  }
  content.removeAttribute("aria-busy");
  if (nodes === null) return;
  const open = new Set([...content.querySelectorAll("details[open]")].map((node) => node.parentNode.textContent.slice(0, 40)));
  content.replaceChildren(...nodes);
  isShown = true;
  content.dispatchEvent(new Event("shown"));
  if (!isFresh) {
    for (const node of content.querySelectorAll("details")) node.open = open.has(node.parentNode.textContent.slice(0, 40));
  }
  if (focus) {
    scrollTo(0, 0);
    content.querySelector("h1")?.focus({ preventScroll: true });
  }
  if (view.refreshSeconds) timer = setTimeout(refresh, Math.max(view.refreshSeconds * 1000, took / REFRESH_SHARE));
}

// ---- Views that were left ---------------------------------------------------------------------------

/** Views that were left, by their place in the browser's history, with the rows that were loaded and where they were scrolled to. */
const left = new Map();
const LEFT_MAX = 20;
let place = history.state?.place ?? 0, lastPlace = place;
history.scrollRestoration = "manual";

function keep() {
  if (isShown) {
    left.delete(place);
    left.set(place, { address: location.href, title: document.title, scroll: scrollY, q: byId("q").value, nodes: [...content.childNodes] });
  }
  if (left.size > LEFT_MAX) left.delete(left.keys().next().value);
}

/** Shows a view that was left as it was, and asks for the account that it shows. */
function restore(kept) {
  clearTimeout(timer);
  going?.abort();
  const { view: name, account } = parametersNow();
  const view = VIEWS[Object.hasOwn(VIEWS, name) ? name : "today"];
  choose(account);
  showLinks(Object.hasOwn(VIEWS, name) ? name : "today");
  byId("q").value = kept.q;
  content.removeAttribute("aria-busy");
  content.replaceChildren(...kept.nodes);
  isShown = true;
  document.title = kept.title;
  content.querySelector("h1")?.focus({ preventScroll: true });
  scrollTo(0, kept.scroll);
  if (view.refreshSeconds) timer = setTimeout(refresh, view.refreshSeconds * 1000);
}

/** Refreshes a view unless a person uses it. */
function refresh() {
  const isIdle = !content.contains(document.activeElement) || document.activeElement.tagName === "H1" ||
    document.activeElement === content;
  if (!document.hidden && isIdle) render(false);
  else timer = setTimeout(refresh, 5000);
}

/** Asks for an account from here on, and for the first one if `account` is none of the person's. Returns whether it is one. */
function choose(account) {
  const ids = me.accounts.map((grant) => grant.account_id);
  const isKnown = !account || ids.includes(account);
  const chosen = ids.length > 1 ? (account && isKnown ? account : ids[0]) : null;
  configure({ account: chosen });
  showAccount(chosen);
  me.role = me.accounts.find((grant) => grant.account_id === (chosen || ids[0]))?.role ?? me.role;
  me.account = chosen || ids[0];
  return isKnown;
}

function go(address) {
  keep();
  place = ++lastPlace;
  history.pushState({ place }, "", address);
  render(true, true);
}
function replace(address) {
  history.replaceState({ place }, "", address);
  render(true, true);
  return null;
}

addEventListener("popstate", (event) => {
  const kept = left.get(event.state?.place ?? 0);
  place = event.state?.place ?? 0;
  if (me && kept && kept.address === location.href) restore(kept);
  else render(true, true);
});
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href^='./?']");
  if (!link || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  go(link.getAttribute("href"));
});
byId("skip").addEventListener("click", (event) => {
  event.preventDefault();
  content.focus();
});
byId("search").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = byId("q").value.trim();
  if (text) go(hrefOf("search", { q: text }));
});
configure({ onAnswer: showWaiting });
render();
