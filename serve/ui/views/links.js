// The list of creators' links.
import { element } from "../dom.js";
import { count, state } from "../format.js";
import { idLink, idOf, namedCreator } from "../links.js";
import { empty, filtered, filters, growing, head, pageSize, tabs } from "../parts.js";

const figure = (name, field) => ({ name, n: true, cell: (row) => count(row[field]) });
const COLUMNS = [
  { name: "Link", cell: (row) => [idLink("link", { link: row.link_id }, row.link_id), row.state === "active" ? null : [" ", state(row.state)],
    element("div", { class: "muted" }, idOf(row.to))].flat() },
  { name: "Creator", cell: (row) => namedCreator(row.creator_id, row.name) },
  { name: "Program", cell: (row) => idLink("program", { program: row.program_id }, row.program_id) },
  figure("Clicks, 30 days", "clicks"), figure("Devices", "devices"), figure("Orders", "orders"), figure("Clicks this month", "month"),
];

const withMonth = (answer) => answer.items.map((row, i) => ({ ...row, month: answer.clicks_this_month[i], name: answer.names[row.creator_id] }));
const queryOf = ({ creator, program, q, sort }) => ({ creator, program, q, sort: sort === "-clicks" ? sort : undefined });

export default {
  nav: "links",
  title: () => "Links",
  load: (parameters, get) => filtered(get, "links", { ...queryOf(parameters), limit: pageSize() }, ["creator", "program"]),
  show(first, parameters, { go }) {
    const { creator, program, q, sort } = parameters;
    const isFiltered = creator || program || q;
    const said = isFiltered ? "Links" + (creator ? " of " + creator : "") + (program ? " in " + program : "") + (q ? " with " + q + " in id or URL" : "") + "."
      : "Links that nginx serves for creators, with what they brought.";
    return [head("Links", said),
      filters("links", [{ name: "q", label: "Id or URL has" }, { name: "creator", label: "Creator" }, { name: "program", label: "Program" }], parameters, go),
      tabs("Order", [["id", "By creator", "links", { creator, program, q }], ["clicks", "Most clicks of the month", "links", { creator, program, q, sort: "-clicks" }]],
        sort === "-clicks" ? "clicks" : "id"),
      growing({ path: "links", parameters: queryOf(parameters), what: "link", caption: "Links", columns: COLUMNS, read: withMonth, first,
        none: first.refused ? empty(first.refused) : isFiltered ? empty("No link matches. Remove a filter.")
          : empty("No link yet. ", element("code", {}, "sluice link create"), " adds one.") })];
  },
};
