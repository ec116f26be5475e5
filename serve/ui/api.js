// Requests to the API. Every figure of the page comes from here.

/** What the API refused, or that it could not be reached. */
export class Refused extends Error {
  constructor(status, problem) {
    super(problem.detail || problem.title || "status " + status);
    Object.assign(this, { status, code: problem.code || "unreachable", errors: problem.errors || [] });
  }
}

let account = null;
let heard = () => {};
let waiting = 0;

/** Inputs that the worker had not applied when the last answer came. */
export const inputsWaiting = () => waiting;

/** account: the one that a person of several chose, or null; onAnswer: called with each answer's headers. */
export function configure(options) {
  if ("account" in options) account = options.account;
  if (options.onAnswer) heard = options.onAnswer;
}

/** The parameters that have a value, and the account, as a query. */
export function encoded(parameters) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== null && value !== "") query.set(name, value);
  }
  if (account !== null) query.set("account", account);
  return query.toString();
}

/** Address of an answer. `me` is asked before an account is known. */
export function address(path, parameters) {
  const query = encoded(parameters);
  return "../v1/" + path + (query ? "?" + query : "");
}

/** A list's page may be empty while more rows follow, because a request reads 10,000 rows. Reads on to the first row or the end,
 *  so that "nothing" is never said of a list that was not read. */
export async function get(path, parameters = {}, signal) {
  let answer = await getOnce(path, parameters, signal);
  while (answer.items && !answer.items.length && answer.next) answer = await getOnce(path, { ...parameters, after: answer.next }, signal);
  return answer;
}

async function getOnce(path, parameters, signal) {
  let response;
  try {
    response = await fetch(address(path, parameters), { signal, redirect: "manual", headers: { Accept: "application/json" } });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, { detail: "The server could not be reached." });
  }
  const isJson = /json/.test(response.headers.get("Content-Type") || "");
  // The API redirects nobody. A login in front of it answers with its form, with the way to it, or with its own 401.
  const isLogin = response.type === "opaqueredirect" || (!isJson && (response.ok || response.status === 401));
  if (isLogin) throw new Refused(401, { code: "login", detail: "Your login has ended." });
  if (!response.ok) {
    let problem = { detail: "The server does not answer: nginx says " + response.status + "." };
    try {
      if (isJson) problem = await response.json();
    } catch { /* the status says enough */ }
    throw new Refused(response.status, problem);
  }
  waiting = Number(response.headers.get("X-Sluice-Waiting"));
  heard(response.headers);
  return response.json();
}
