// Orders that are hers, the newest first.
import { get } from "../api.js";
import { element } from "../dom.js";
import { save } from "../export.js";
import { button, card, growing, orderColumns } from "../parts.js";
import words from "../words.js";

export default {
  title: () => words.views.orders,
  load: (parameters, signal) => get("orders", {}, signal),
  show(first) {
    const count = first.items.length;
    const head = [element("h1", { class: "eyebrow", tabindex: "-1" }, words.views.orders),
      element("p", { class: "answer" }, first.next ? words.orders.more(count) : count ? words.orders.answer(count) : words.orders.none)];
    if (!count && !first.next) return { nodes: [...head, element("p", { class: "empty" }, words.orders.hint)] };
    const saving = button(words.export, async () => {
      saving.disabled = true;
      const rows = [];
      let after;
      try {
        do {
          const page = await get("orders", { after });
          rows.push(...page.items);
          after = page.next;
        } while (after);
        save("orders", rows);
        saving.textContent = words.export;
      } catch (error) {
        saving.textContent = words.failed[error.code] ?? words.failed.other;
      }
      saving.disabled = false;
    });
    return { nodes: [...head, element("section", { class: "card" },
      ...growing(words.views.orders, orderColumns(), first, (after) => get("orders", { after }), { tools: [saving] }))] };
  },
};
