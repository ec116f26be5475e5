// The list of creators (G7).
import { element } from "../dom.js";
import { creatorLink, idLink } from "../links.js";
import { empty, filters, growing, head, pageSize } from "../parts.js";

const joined = (nodes) => nodes.flatMap((node, i) => (i ? [", ", node] : [node]));

const COLUMNS = [
  { name: "Creator", cell: (row) => creatorLink(row.creator_id) },
  { name: "Name", cell: (row) => row.name || "" },
  { name: "Program", cell: (row) => [idLink("program", { program: row.program_id }, row.program_id), row.removed ? " (removed)" : ""] },
  { name: "Codes", cell: (row) => joined(row.codes.map((code) => idLink("search", { q: code }, code))) },
];

export default {
  nav: "creators",
  title: () => "Creators",
  load: (parameters, get) => get("creators", { program: parameters.program, q: parameters.q, limit: pageSize() }),
  show(first, parameters, { go }) {
    const { program, q } = parameters;
    const said = program || q ? "Creators" + (q ? " that begin with " + q : "") + (program ? " in " + program : "") + "."
      : "One line for each creator and program.";
    return [head("Creators", said),
      filters("creators", [{ name: "q", label: "Id or name begins with" }, { name: "program", label: "Program" }], parameters, go),
      growing({ path: "creators", parameters: { program, q }, what: "creator", caption: "Creators", columns: COLUMNS,
        first, none: program || q ? empty("No creator matches. Remove a filter.")
          : empty("No creator yet. ", element("code", {}, "sluice creator import"), " adds them.") })];
  },
};
