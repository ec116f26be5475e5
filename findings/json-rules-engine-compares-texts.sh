#!/usr/bin/env bash
# json-rules-engine 7.3.1, next to json-logic-js 2.0.5 and filtrex 3.1.0 (npm), which decide by rules in JSON or text.
#
# Input: a rule for orders from a total on, as a shop stores one, and totals as texts, as shops' APIs write them, with
# a number in the rule and with a text.
# Behaviour: the numeric operators of json-rules-engine first check that the total reads as a number, and then
# compare what they were given. Two texts are compared as texts: a total of 9.00 reaches 10.00, and one of 100.00 does
# not reach 20.00. json-logic-js does the same without the check, and filtrex refuses a text. With a number in the
# rule the first two compare numbers, but for neither does a total of 1,000.00 reach anything.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent json-rules-engine@7.3.1 json-logic-js@2.0.5 filtrex@3.1.0 >&2
cat > run.cjs <<'JS'
const {Engine} = require('json-rules-engine'), logic = require('json-logic-js'), {compileExpression} = require('filtrex');
const engines = {
  'json-rules-engine': async (total, value) => {
    const engine = new Engine();
    engine.addRule({conditions: {all: [{fact: 'total', operator: 'greaterThanInclusive', value}]}, event: {type: 'bonus'}});
    return (await engine.run({total})).events.length > 0;
  },
  'json-logic-js': (total, value) => logic.apply({'>=': [{var: 'total'}, value]}, {total}),
  filtrex: (total, value) => {
    const result = compileExpression(`total >= ${JSON.stringify(value)}`)({total});
    return result instanceof Error ? result.constructor.name : result;
  },
};
(async () => {
  for (const [total, value] of [['9.00', '10.00'], ['100.00', '20.00'], ['9.00', 10], ['100.00', 20], ['1,000.00', 20]]) {
    const found = [];
    for (const [name, reaches] of Object.entries(engines)) found.push(`${name} ${await reaches(total, value)}`);
    console.log(`${JSON.stringify(total)} reaches ${JSON.stringify(value)}: ${found.join(', ')}`);
  }
})();
JS
expected='"9.00" reaches "10.00": json-rules-engine true, json-logic-js true, filtrex UnexpectedTypeError
"100.00" reaches "20.00": json-rules-engine false, json-logic-js false, filtrex UnexpectedTypeError
"9.00" reaches 10: json-rules-engine false, json-logic-js false, filtrex UnexpectedTypeError
"100.00" reaches 20: json-rules-engine true, json-logic-js true, filtrex UnexpectedTypeError
"1,000.00" reaches 20: json-rules-engine false, json-logic-js false, filtrex UnexpectedTypeError'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
