// Requests of the page, and the page token that they carry. The token is taken out of the address at once and kept in memory; a tab
// of its own also keeps it in sessionStorage, for reloads. A frame never does: the token of a creator who logged out would outlive it.
import settings from "./settings.js";
import { speak } from "./format.js";

const MARK = "scp1.", KEPT = "sluice-page-token";
const ANSWER_MS = 10000, RENEWED_MS = 60000;

export const isFramed = window.parent !== window;

let token = null, owner = null, endsAt = 0;
let asked = null;
let hears = false;
let shown = () => {};

/** No token counts any more. */
export class Ended extends Error {}

/** What the API refused, or that it could not be reached. */
export class Refused extends Error {
  constructor(status, problem = {}) {
    super(problem.detail || problem.title || "status " + status);
    Object.assign(this, { status, code: problem.code || "unreachable" });
  }
}

/** show(): empties the page and shows its view again, for a token that came by itself. */
export function onToken(show) {
  shown = show;
}

/** Keeps a token. Returns whether it is another creator's than the one before. */
function take(text) {
  const before = owner;
  let times = [0, 0];
  try {
    const [, creator, ...rest] = atob(text.split(".")[1].replaceAll("-", "+").replaceAll("_", "/")).split("\n");
    owner = creator;
    times = rest.map(Number);
  } catch {
    owner = null;  // the server refuses it
  }
  token = text;
  endsAt = performance.now() + (times[1] - times[0]) * 1000;
  if (!isFramed) store(() => sessionStorage.setItem(KEPT, text));
  return before !== null && before !== owner;
}

/** Storage may be switched off. */
function store(act) {
  try {
    return act();
  } catch {
    return null;
  }
}

/** Moves a token from the fragment into memory, and leaves the rest of the fragment. Returns whether there was one. */
export function takeFragment() {
  const [first, ...rest] = location.hash.slice(1).split("&");
  if (!first.startsWith(MARK)) return false;
  take(first);
  history.replaceState(null, "", location.pathname + location.search + (rest.length ? "#" + rest.join("&") : ""));
  return true;
}

/** Address of a view in a tab of its own. */
export const ownTab = (view) => location.pathname + "#" + token + "&" + view;

export function tell(message) {
  if (isFramed) parent.postMessage({ sluice: 1, ...message }, "*");
}

/** Sends a question about an order to the platform, and to no other page. Returns whether it could. */
export function askPlatform(question) {
  if (!isFramed || !hears) return false;
  for (const origin of settings.origins) {
    parent.postMessage({ sluice: 1, type: "ask", ...question }, origin);
  }
  return true;
}

/** Asks the parent for a token. Resolves to whether one came within ten seconds. */
function renewed() {
  if (!isFramed) return Promise.resolve(false);
  if (asked) return asked.answer;
  let settle;
  const answer = new Promise((resolve) => { settle = resolve; });
  asked = { answer, settle };
  setTimeout(() => settle(false), ANSWER_MS);
  answer.then(() => { asked = null; });
  tell({ type: "token" });
  return answer;
}

addEventListener("message", ({ source, origin, data }) => {
  if (!isFramed || source !== parent || !settings.origins.includes(origin)) return;
  if (data === null || typeof data !== "object" || data.sluice !== 1 || data.type !== "token") return;
  if (typeof data.lang === "string") speak(data.lang);
  hears = true;
  if (typeof data.token !== "string" || !data.token.startsWith(MARK)) return;
  const isOther = take(data.token);
  if (asked && !isOther) asked.settle(true);
  else {
    asked?.settle(false);
    shown();
  }
});

/** A page of the back-forward cache may be another creator's by now. */
addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  if (hears) token = null;
  shown();
});

async function request(path, parameters, signal) {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null));
  try {
    return await fetch("v1/" + path + (query.size ?? [...query].length ? "?" + query : ""),
      { signal, credentials: "omit", cache: "no-store", headers: { Authorization: "Bearer " + token } });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0);
  }
}

/** Reads a path of the API. Throws Ended, Refused. */
export async function get(path, parameters = {}, signal = undefined) {
  if (!token) await renewed();
  else if (isFramed && endsAt - performance.now() < RENEWED_MS) renewed();
  if (!token) throw new Ended();
  let response = await request(path, parameters, signal);
  if (response.status === 401 && await renewed()) response = await request(path, parameters, signal);
  if (response.status === 401) {
    token = owner = null;
    store(() => sessionStorage.removeItem(KEPT));
    throw new Ended();
  }
  const isJson = /json/.test(response.headers.get("Content-Type") || "");
  if (!response.ok) throw new Refused(response.status, isJson ? await response.json() : {});
  return response.json();
}

if (!takeFragment() && !isFramed) {
  const kept = store(() => sessionStorage.getItem(KEPT));
  if (kept) take(kept);
}
