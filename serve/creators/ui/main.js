// Frame of the page: which view, and its states.
import { Ended, isFramed, onToken, takeFragment, tell } from "./api.js";
import { element } from "./dom.js";
import { hrefOf } from "./parts.js";
import settings from "./settings.js";
import home from "./views/home.js";
import links from "./views/links.js";
import order from "./views/order.js";
import orders from "./views/orders.js";
import payment from "./views/payment.js";
import payments from "./views/payments.js";
import statement from "./views/statement.js";
import words from "./words.js";

const VIEWS = { home, links, order, orders, payment, payments, statement };
const GHOST_MS = 200;

const byId = (id) => document.getElementById(id);
const content = byId("content");
let going = null, who = "";

const parametersNow = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));

function showBar(current) {
  byId("brand").replaceChildren(...(settings.logo ? [element("img", { src: settings.logo, alt: "" })] : []),
    element("span", {}, settings.name), ...(who ? [element("span", { class: "who muted" }, who)] : []));
  byId("nav").replaceChildren(...Object.entries(words.views).map(([id, text]) =>
    element("a", { href: hrefOf(id), ...(id === current ? { "aria-current": "page" } : {}) }, text)));
}

const ghosts = () => [element("div", { class: "ghost low" }), element("div", { class: "ghost" }), element("div", { class: "ghost" })];

function ended() {
  return [element("h1", { class: "sr", tabindex: "-1" }, settings.name), element("div", { class: "note ended" },
    element("p", {}, words.ended(settings.name)),
    ...(settings.return_url ? [element("p", {}, element("a", { class: "button", href: settings.return_url, target: "_top" }, words.open(settings.name)))] : []))];
}

function failed(title, error) {
  const retry = element("button", { type: "button" }, words.again);
  retry.addEventListener("click", () => render());
  return [element("h1", { class: "eyebrow", tabindex: "-1" }, title), element("div", { class: "note" },
    element("p", {}, words.failed[error.code] ?? words.failed.other), element("p", {}, retry))];
}

/** Shows the view of the address. */
async function render(focus = false) {
  going?.abort();
  const mine = going = new AbortController();
  const parameters = parametersNow();
  const name = Object.hasOwn(VIEWS, parameters.view ?? "") ? parameters.view : "home";
  const view = VIEWS[name];
  showBar(view.nav ?? name);
  const ghost = setTimeout(() => {
    content.replaceChildren(...ghosts());
    content.setAttribute("aria-busy", "true");
  }, GHOST_MS);
  let nodes;
  try {
    const shown = view.show(await view.load(parameters, mine.signal), parameters);
    if (mine.signal.aborted) return;
    if (shown.who !== undefined && shown.who !== who) {
      who = shown.who;
      showBar(view.nav ?? name);
    }
    nodes = shown.nodes;
  } catch (error) {
    if (mine.signal.aborted || error.name === "AbortError") return;
    if (!(error instanceof Ended) && !error.code) console.error(error);
    const hasEnded = error instanceof Ended;
    if (hasEnded) {
      who = "";
      showBar("");
    }
    nodes = hasEnded ? ended() : failed(view.title(parameters), error);
  } finally {
    clearTimeout(ghost);
  }
  document.title = view.title(parameters) + " – " + settings.name;
  content.removeAttribute("aria-busy");
  content.replaceChildren(...nodes);
  content.dispatchEvent(new Event("shown"));
  if (focus) {
    byId("status").textContent = document.title;
    if (!isFramed) scrollTo(0, 0);
    content.querySelector("h1")?.focus({ preventScroll: true });
  }
  if (parameters.print && !isFramed) print();
}

/** Empties the page before it shows anything else, because it may be another creator's. */
function begin() {
  going?.abort();
  who = "";
  content.replaceChildren();
  showBar("");
  render();
}

addEventListener("hashchange", () => {
  if (location.hash === "#content") return;
  if (takeFragment()) begin();
  else render(true);
});
byId("skip").addEventListener("click", (event) => {
  event.preventDefault();
  content.focus();
});
byId("skip").textContent = words.skip;
byId("foot").textContent = words.utc;
document.documentElement.lang = words.code;
onToken(begin);
// A pixel more: WebKit rounds parts of the page up, and would show a scrollbar.
new ResizeObserver(() => tell({ type: "height", height: Math.ceil(document.documentElement.getBoundingClientRect().height) + 1 }))
  .observe(document.documentElement);
begin();
