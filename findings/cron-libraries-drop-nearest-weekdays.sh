#!/usr/bin/env bash
# cron-schedule 6.0.0, @breejs/later 4.2.0, node-schedule 2.1.1 and croner 11.0.1 (npm).
#
# Input: 15W, the working day next to the 15th, and LW, the month's last working day, both usual for payouts;
# from 1 March 2026, whose 15th is a Sunday.
# Behaviour: croner reads both. cron-schedule reads 15W as 15 and pays on a Sunday, and refuses LW. later reads
# LW as every working day. node-schedule returns null for either and throws nothing, so a caller that ignores
# the result has a job that never runs.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent croner@11.0.1 cron-schedule@6.0.0 @breejs/later@4.2.0 node-schedule@2.1.1 >&2
cat > run.mjs <<'JS'
import {createRequire} from 'module';
import {Cron} from 'croner';
import {parseCronExpression} from 'cron-schedule';
const require = createRequire(import.meta.url);
const later = require('@breejs/later');
const schedule = require('node-schedule');
const start = new Date('2026-03-01T12:00:00Z');
later.date.UTC();
const next = {
  'croner': (expression) => new Cron(expression, {paused: true}).nextRuns(3, start),
  'cron-schedule': (expression) => parseCronExpression(expression).getNextDates(3, start),
  '@breejs/later': (expression) => later.schedule(later.parse.cron(expression)).next(3, start),
};
for (const expression of ['0 9 15W * *', '0 9 LW * *']) {
  for (const [name, days] of Object.entries(next)) {
    let found;
    try {
      found = days(expression).map((day) => day.toISOString().slice(0, 10)).join(', ');
    } catch {
      found = 'refused';
    }
    console.log(`${expression}, ${name}: ${found}`);
  }
  console.log(`${expression}, node-schedule: ${schedule.scheduleJob(expression, () => {})}`);
}
process.exit();
JS
expected='0 9 15W * *, croner: 2026-03-16, 2026-04-15, 2026-05-15
0 9 15W * *, cron-schedule: 2026-03-15, 2026-04-15, 2026-05-15
0 9 15W * *, @breejs/later: 2026-03-16, 2026-04-15, 2026-05-15
0 9 15W * *, node-schedule: null
0 9 LW * *, croner: 2026-03-31, 2026-04-30, 2026-05-29
0 9 LW * *, cron-schedule: refused
0 9 LW * *, @breejs/later: 2026-03-02, 2026-03-03, 2026-03-04
0 9 LW * *, node-schedule: null'
found=$(TZ=UTC timeout 60 node run.mjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
