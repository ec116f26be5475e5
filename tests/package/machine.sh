# shellcheck shell=bash
# Sourced by the tests of the packages: functions, and a machine that is put back at the end. Debian
# as root; nothing of sluice installed before. DEBS is the folder of the packages.
export DEBIAN_FRONTEND=noninteractive
work=$(mktemp -d /var/tmp/sluice-package-XXXXXX)
worker_pid='' serve_pid=''

say() { echo "== $*"; }
fail() { echo "test-package: $*" >&2; tail -n 20 /var/log/nginx/error.log "$work"/*.log >&2 2> /dev/null; exit 1; }
wait_for() { # SECONDS WHAT COMMAND...
    local until=$((SECONDS + $1)) what=$2
    shift 2
    until "$@"; do
        [ $SECONDS -lt $until ] || fail "this did not happen in time: $what"
        sleep 0.2
    done
}
nginx_pid() { cat /run/nginx.pid 2> /dev/null; }
gone() { ! kill -0 "$1" 2> /dev/null; }

# Addresses are random, and the table of imported functions is read-only before the program starts.
check_hardening() { # FILE...
    local file
    for file in "$@"; do
        readelf -hW "$file" | grep 'Type: *DYN' > /dev/null || fail "$file is not position-independent"
        readelf -lW "$file" | grep GNU_RELRO > /dev/null || fail "$file has no RELRO"
        readelf -dW "$file" | grep BIND_NOW > /dev/null || fail "$file binds late"
        nm -D "$file" | grep __stack_chk_fail > /dev/null || fail "$file has no stack protector"
        [ "$(objdump -d --no-show-raw-insn "$file" | grep -c endbr64)" -gt 1000 ] || [ "$(uname -m)" != x86_64 ] ||
            fail "$file has no targets for indirect calls"
    done
}

# Runs the unit's ExecStart as the unit's user, because there is no systemd here.
unit_command() { # UNIT
    sed -n 's/^ExecStart=//p' "/lib/systemd/system/$1.service" | sed 's/ \$SLUICE_[A-Z]*_OPTIONS//'
}
start_worker() {
    # shellcheck disable=SC2046
    setpriv --reuid sluice --regid sluice --init-groups $(unit_command sluice) > "$work/worker.log" 2>&1 &
    worker_pid=$!
}
start_serve() {
    install -d -o sluice -g sluice /run/sluice
    # shellcheck disable=SC2046
    setpriv --reuid sluice --regid sluice --groups sluice,www-data $(unit_command sluice-serve) > "$work/serve.log" 2>&1 &
    serve_pid=$!
}
stop() { # PID
    [ -n "$1" ] || return 0
    kill -TERM "$1" 2> /dev/null || true
    wait "$1" 2> /dev/null || true
}
stop_worker() {
    stop "$worker_pid"
    worker_pid=
}
start_nginx() {
    /etc/init.d/nginx start > "$work/start.log" 2>&1 || fail "nginx does not start"
}
stop_nginx() {
    local pid
    pid=$(nginx_pid) || return 0
    /etc/init.d/nginx stop > /dev/null 2>&1 || true
    wait_for 30 "nginx to stop" gone "$pid"
}
put_back() {
    stop "$serve_pid"
    stop_worker
    stop_nginx
    dpkg --purge libnginx-mod-http-sluice sluice > "$work/cleanup.log" 2>&1 || true
    rm -f /etc/nginx/conf.d/00-sluice.conf /etc/nginx/conf.d/sluice*.conf /etc/nginx/modules-enabled/60-sluice-threads.conf
    [ ! -e /usr/sbin/policy-rc.d.sluice-test ] || mv /usr/sbin/policy-rc.d.sluice-test /usr/sbin/policy-rc.d
    [ -z "${made_default:-}" ] || ln -sf /etc/nginx/sites-available/default /etc/nginx/sites-enabled/default
    rm -rf /var/lib/sluice /run/sluice /etc/nginx/sluice.htpasswd
    rm -rf "$work"
}

[ "$(id -u)" -eq 0 ] || { echo "test-package: needs root" >&2; exit 1; }
[ ! -e /var/lib/sluice ] || { echo "test-package: /var/lib/sluice exists; not on a machine that is in use" >&2; exit 1; }
[ ! -e /run/nginx.pid ] || gone "$(nginx_pid)" || { echo "test-package: Debian's nginx runs; not on a machine that is in use" >&2; exit 1; }
trap put_back EXIT

# Build machines deny every start of a service; the upgrade of a running nginx is tested.
if [ -e /usr/sbin/policy-rc.d ]; then
    mv /usr/sbin/policy-rc.d /usr/sbin/policy-rc.d.sluice-test
fi
if [ -L /etc/nginx/sites-enabled/default ]; then # it listens on port 80
    rm /etc/nginx/sites-enabled/default
    made_default=1
fi
