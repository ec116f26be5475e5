#!/usr/bin/env bash
# Six libraries of npm that read cron expressions: versions below.
#
# Input: 0 9 1 * 1, "at nine on the first of the month, and on Mondays" as cron reads it: a day that fits
# either field.
# Behaviour: four read it so, and their next five runs are five Mondays. @breejs/later and node-cron want a
# day that fits both, so a run of payouts that moves to them waits for the next first of a month that is
# a Monday.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent croner@11.0.1 cron-schedule@6.0.0 cron@4.4.0 cron-parser@5.10.6 \
    @breejs/later@4.2.0 node-cron@4.6.0 >&2
cat > run.mjs <<'JS'
import {createRequire} from 'module';
import {Cron} from 'croner';
import {parseCronExpression} from 'cron-schedule';
const require = createRequire(import.meta.url);
const {CronTime} = require('cron');
const {CronExpressionParser} = require('cron-parser');
const later = require('@breejs/later');
const nodeCron = require('node-cron');
const expression = '0 9 1 * 1', start = new Date();
later.date.UTC();
const next = {
  'croner': () => new Cron(expression, {paused: true}).nextRuns(5, start),
  'cron-schedule': () => parseCronExpression(expression).getNextDates(5, start),
  'cron': () => new CronTime(expression).sendAt(5).map((day) => day.toJSDate()),
  'cron-parser': () => CronExpressionParser.parse(expression, {currentDate: start}).take(5).map((day) => day.toDate()),
  '@breejs/later': () => later.schedule(later.parse.cron(expression)).next(5, start),
  'node-cron': () => nodeCron.createTask(expression, () => {}).getNextRuns(5),
};
for (const [name, days] of Object.entries(next)) {
  const found = days();
  const both = found.filter((day) => day.getUTCDay() === 1 && day.getUTCDate() === 1).length;
  const near = (found[4] - start) / 86400000 < 36;
  console.log(`${name}: ${both === 5 ? 'both fields' : 'either field'}, five runs within ${near ? 'five weeks' : 'years'}`);
}
process.exit();
JS
expected='croner: either field, five runs within five weeks
cron-schedule: either field, five runs within five weeks
cron: either field, five runs within five weeks
cron-parser: either field, five runs within five weeks
@breejs/later: both fields, five runs within years
node-cron: both fields, five runs within years'
found=$(TZ=UTC timeout 60 node run.mjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
