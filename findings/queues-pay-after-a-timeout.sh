#!/usr/bin/env bash
# p-queue 10.0.0 and bottleneck 2.19.5 (npm).
#
# Input: two payouts in a queue that runs one at a time, with a time limit that the first one exceeds.
# Behaviour: both queues report that the first payout failed, do not stop it, and begin the second one, so two
# run at a time. The payout that was reported as failed is paid afterwards, and a caller that repeats it
# pays twice.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 200 npm install --no-audit --no-fund --ignore-scripts --silent p-queue@10.0.0 bottleneck@2.19.5 >&2
cat > run.mjs <<'JS'
import Bottleneck from 'bottleneck';
import PQueue from 'p-queue';
const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const queues = {
  'p-queue': () => {
    const queue = new PQueue({concurrency: 1, timeout: 500});
    return (task) => queue.add(task);
  },
  'bottleneck': () => {
    const limiter = new Bottleneck({maxConcurrent: 1});
    return (task) => limiter.schedule({expiration: 500}, task);
  },
};
for (const [name, make] of Object.entries(queues)) {
  const add = make(), events = [];
  for (const [payout, milliseconds] of [['first', 1500], ['second', 100]]) {
    const task = async () => {
      events.push(`${payout} begins`);
      await wait(milliseconds);
      events.push(`${payout} is paid`);
    };
    add(task).then(() => events.push(`${payout} succeeded`), () => events.push(`${payout} failed`));
  }
  await wait(2500);
  console.log(`${name}: ${events.join(', ')}`);
}
JS
expected='p-queue: first begins, first failed, second begins, second is paid, second succeeded, first is paid
bottleneck: first begins, first failed, second begins, second is paid, second succeeded, first is paid'
# The two reports of one moment come in either order.
found=$(timeout 60 node run.mjs | sed 's/second begins, first failed/first failed, second begins/')
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
