// Programs as cards.
import { element } from "../dom.js";
import { plural } from "../format.js";
import { idLink } from "../links.js";
import { empty, head, pairs } from "../parts.js";

const tiers = (program) => program.default_tiers.map((tier) => tier.rate + " from " + tier.from).join(", ") +
  (program.tiers_apply === "month" ? " for the whole month" : "");

/** Facts of a program, in words. */
export function rulesOf(program) {
  return [
    ["Shops", program.shops.length ? program.shops.join(", ") : "every shop of the account"],
    ["Rate", program.default_rate + (program.default_tiers.length ? ", " + tiers(program) : "")],
    ["Rules", program.rules.length ? plural(program.rules.length, "rule") : "none"],
    ["Window", plural(program.window_days, "day") + " after a click"],
    ["Clearing", plural(program.clearing_days, "day") + " after the order"],
    ["Version", String(program.version)],
  ];
}

export default {
  nav: "programs",
  title: () => "Programs",
  load: (parameters, get) => get("programs", { limit: 1000 }),
  show({ items }) {
    const cards = items.map((program) => element("section", { class: "card" },
      element("h2", {}, idLink("program", { program: program.program_id }, program.program_id)),
      pairs(program.program_id, rulesOf(program))));
    return [head("Programs", items.length ? plural(items.length, "program") + "." : "No program yet."),
      items.length ? element("div", { class: "cards" }, ...cards)
        : element("section", { class: "card" }, empty("A program says which creators earn what. ", element("code", {}, "sluice program apply"), " adds one."))];
  },
};
