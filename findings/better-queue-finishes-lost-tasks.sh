#!/usr/bin/env bash
# better-queue 3.8.12 (npm).
#
# Input: two tasks of one order, paid and refunded, as objects with the member id, and one of another order.
# Behaviour: a task replaces the waiting one with the same id, so the first event of the order never reaches
# the handler. Both tickets report "finish" nevertheless, so a sender that waits for
# the first one forgets the event.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent better-queue@3.8.12 >&2
cat > run.cjs <<'JS'
const Queue = require('better-queue');
const queue = new Queue((task, done) => {
  console.log(`handled: ${task.id} ${task.event}`);
  done();
});
for (const [id, event] of [['order-1', 'paid'], ['order-1', 'refunded'], ['order-2', 'paid']]) {
  queue.push({id, event}).on('finish', () => console.log(`finish: ${id} ${event}`));
}
JS
expected='handled: order-1 refunded
finish: order-1 paid
finish: order-1 refunded
handled: order-2 paid
finish: order-2 paid'
found=$(timeout 60 node run.cjs)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
