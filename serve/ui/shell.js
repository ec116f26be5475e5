// Commands that a person may paste into a shell.
import { element } from "./dom.js";

/** A word quoted for a POSIX shell; null if it has a control character, because a pasted line must not run another. */
export function quoted(word) {
  if (/[\u0000-\u001f\u007f]/.test(word)) return null;
  const plain = /^[A-Za-z0-9._:@+/=][A-Za-z0-9._:@+/=-]*$/.test(word);
  return plain ? word : "'" + word.replaceAll("'", "'\\''") + "'";
}

/** `sluice approve ID --account A`; null if a word cannot be quoted. options: [[name, value]]. */
export function commandLine(verb, words, options) {
  const parts = [verb];
  for (const word of words) parts.push(word.startsWith("-") ? null : quoted(word));
  for (const [name, value] of options) {
    const word = quoted(value);
    parts.push(word === null ? null : name + (value.startsWith("-") ? "=" : " ") + word);
  }
  return parts.includes(null) ? null : parts.join(" ");
}

/** The command with a button that copies it, or a sentence if there is none. */
export function commandBox(line) {
  if (!line) return element("p", { class: "empty" }, "No command is shown: an id has a control character.");
  const text = element("code", {}, line);
  const button = element("button", { type: "button" }, "Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(line);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(text);
      button.textContent = "Selected";
    }
    document.getElementById("status").textContent = button.textContent;
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  return element("div", { class: "command" }, element("pre", { tabindex: "0" }, text), button);
}
