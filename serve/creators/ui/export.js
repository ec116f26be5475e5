// CSV for spreadsheets: UTF-8 with BOM, RFC 4180.
import { element } from "./dom.js";

const NUMBER = /^-?\d+(\.\d+)?$/, TEXTS = ["number", "shop", "id"];

/** A spreadsheet runs text that begins so as a formula; an apostrophe keeps it text. A number is none, unless it is an id. */
export function cell(name, value) {
  if (value === null || value === undefined) return "";
  let text = Array.isArray(value) ? value.join(" ") : String(value);
  if ((!NUMBER.test(text) || TEXTS.includes(name)) && /^[=+\-@\t\r]/.test(text)) text = "'" + text;
  return /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
}

export function save(name, rows) {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = [names, ...rows.map((row) => names.map((one) => cell(one, row[one])))];
  const text = "\ufeff" + lines.map((line) => line.join(",") + "\r\n").join("");
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  element("a", { href: address, download: name + ".csv" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}
