// One payout run with its payouts and the creators that it left out.
import { element } from "../dom.js";
import { SKIPPED, money, plural, time } from "../format.js";
import { idOf, namedCreator } from "../links.js";
import { card, empty, facts, growing, head, pageSize, table } from "../parts.js";
import { payoutColumns, payoutTabs, runAmounts, runStates } from "./payouts.js";

export default {
  nav: "payouts",
  title: (parameters) => "Payout run " + (parameters.run || ""),
  load: ({ run }, get) => Promise.all([get("run", { run }), get("payouts", { run, limit: pageSize() })]),
  show([run, first], parameters, { me }) {
    const skipped = run.skipped.length ? table("Left out", [
      { name: "Creator", cell: (row) => namedCreator(row.creator_id, run.names[row.creator_id]) },
      { name: "Reason", cell: (row) => SKIPPED[row.skip_reason] || row.skip_reason },
      { name: "Amount", n: true, cell: (row) => money(row.amount, row.currency) },
    ], run.skipped) : empty("No creator was left out.");
    return [head(["Payout run ", idOf(run.payout_run)],
      ["Closed on ", time(run.closed_at), " by " + (run.closed_by || "–") + ": " + plural(run.payouts, "payout") + " of what was payable until ",
        time(run.until), "."]),
    payoutTabs("runs", me),
    facts([["Amount", element("div", {}, ...[runAmounts(run)].flat())], ["States", element("div", {}, ...[runStates(run)].flat())]]),
    growing({ path: "payouts", parameters: { run: parameters.run }, what: "payout", title: "Payouts", caption: "Payouts of the run", columns: payoutColumns,
      first, none: empty("The run has no payout.") }),
    card("Left out", skipped),
    card("Digest", element("p", { class: "muted id" }, run.digest))];
  },
};
