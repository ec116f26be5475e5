// "Export": the rows of a view as CSV for spreadsheets.
import { get } from "./api.js";
import { element } from "./dom.js";
import { count } from "./format.js";

const ROWS_MAX = 50000;
const NUMBER = /^-?\d+(\.\d+)?$/, ID = /(^|_)id$/;

/** A spreadsheet runs text that begins so as a formula; an apostrophe keeps it text. A number is none, whatever its column is
 *  called, unless it is an id. */
export function cell(name, value) {
  if (value === null || value === undefined) return "";
  let text = typeof value === "object" ? words(value) : String(value);
  if ((!NUMBER.test(text) || ID.test(name)) && /^[=+\-@\t\r]/.test(text)) text = "'" + text;
  return /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
}
const words = (value) => (Array.isArray(value) && value.every((one) => typeof one !== "object") ? value.join(" ")
  : JSON.stringify(value));

export function csvOf(rows) {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = [names.map((name) => cell("", name)), ...rows.map((row) => names.map((name) => cell(name, row[name])))];
  return "\ufeff" + lines.map((line) => line.join(",") + "\r\n").join("");
}

function save(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  const link = element("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}

/** Saves rows under a name, `payouts` or `statement of ann`. */
export const saveRows = (name, rows) => save("sluice-" + name.replaceAll(" ", "-") + ".csv", csvOf(rows));

/** A button that reads every row of a list, up to 50,000, and saves them. */
export function exportButton(path, parameters, name) {
  const button = element("button", { type: "button" }, "Export");
  button.addEventListener("click", async () => {
    button.disabled = true;
    const rows = [];
    try {
      let after;
      do {
        const page = await get(path, { ...parameters, limit: 1000, after });
        rows.push(...page.items);
        after = page.next;
        button.textContent = "Export: " + count(rows.length);
      } while (after && rows.length < ROWS_MAX);
      saveRows(name, rows.slice(0, ROWS_MAX));
      button.textContent = "Export";
      document.getElementById("status").textContent = count(Math.min(rows.length, ROWS_MAX)) + " rows exported" +
        (after ? "; there are more" : "");
    } catch (error) {
      button.textContent = "Export failed: " + error.message;
    }
    button.disabled = false;
  });
  return button;
}
