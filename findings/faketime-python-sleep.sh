#!/usr/bin/env bash
# libfaketime 0.9.10 (Debian 12: 0.9.10-2.1) and Python 3.11.2 (python3.11-minimal 3.11.2-6+deb12u6).
#
# Input: a clock shifted by 61 days, with and without FAKETIME_DONT_FAKE_MONOTONIC=1, which keeps the monotonic clock
# real so that timers of event loops stay right.
# Behaviour: with the variable, time.sleep() raises OSError (EINVAL) for any positive duration, whether the clock is
# shifted forward or back, and so does Popen.wait(timeout=...) of a process that still runs. select() waits as it
# should. Without the variable all three wait.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq libfaketime=0.9.10-2.1 >&2
dpkg-deb -x ./*.deb root
cat > waits.py <<'PY'
import select
import subprocess
import time


def wait_for_process():
    process = subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE, env={})
    try:
        process.wait(timeout=0.1)
    except subprocess.TimeoutExpired:
        pass
    finally:
        process.stdin.close()
        process.wait()


WAYS = {
    "time.sleep": lambda: time.sleep(0.1),
    "Popen.wait": wait_for_process,
    "select": lambda: select.select([], [], [], 0.1),
}
for name, way in WAYS.items():
    try:
        way()
        print(name, "waits")
    except OSError as error:
        print(name, error.strerror)
PY
library=$folder/root/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1
expected='monotonic clock real, +61d:
time.sleep Invalid argument
Popen.wait Invalid argument
select waits
monotonic clock real, -61d:
time.sleep Invalid argument
Popen.wait Invalid argument
select waits
monotonic clock shifted, +61d:
time.sleep waits
Popen.wait waits
select waits'
run() {
    echo "$1, $2:"
    timeout 20 env LD_PRELOAD="$library" FAKETIME="$2" "${@:3}" /usr/bin/python3 waits.py
}
found=$(
    run 'monotonic clock real' +61d FAKETIME_DONT_FAKE_MONOTONIC=1
    run 'monotonic clock real' -61d FAKETIME_DONT_FAKE_MONOTONIC=1
    run 'monotonic clock shifted' +61d
)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
