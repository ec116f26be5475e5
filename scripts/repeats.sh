# Sourced by scripts/test and scripts/test-more. Their tests use real processes, disks and clocks on a shared machine, so
# one that fails is repeated alone, with a message. A test that fails twice fails the run, and so do more than
# REPEATS_MAX repeats: a suite that needs them has a fault of its own.

# Every process of pytest compiles all files with their asserts, unless it finds what another compiled: half of the time
# in which it collects the tests.
unset PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX="$PWD/build/pycache"

REPEATS_MAX=3
repeated=()

count_repeats() { # NAME...
    repeated+=("$@")
    [ ${#repeated[@]} -gt 0 ] || return 0
    echo "== failed tests, repeated one by one (${#repeated[@]} repeats so far, at most $REPEATS_MAX)"
    printf '%s\n' "$@"
    [ ${#repeated[@]} -le $REPEATS_MAX ] || {
        echo "more than $REPEATS_MAX tests needed a second run" >&2
        return 1
    }
}

unit_tests() { # BUILD OPTION...: of ctest
    local log="$1/Testing/Temporary/LastTestsFailed.log" build=$1 failed
    shift
    rm -f "$log"
    # More at once than processors, because most of them wait for servers, syncs and children.
    ctest --test-dir "$build" "$@" --output-on-failure -j "$(($(nproc) + 2))" --no-tests=error && return
    [ -s "$log" ] || return 1  # it did not come to the tests
    mapfile -t failed < <(cut -d : -f 2- "$log")
    count_repeats "${failed[@]}" || return 1
    ctest --test-dir "$build" --output-on-failure --rerun-failed
}

python_tests() { # NAME MARKERS ARGUMENT...
    local cache="$PWD/build/pytest-$1" markers=$2 failed
    shift 2
    rm -f "$cache/v/cache/lastfailed"
    local pytest=(/usr/bin/python3 -m pytest -q -m "$markers" -o cache_dir="$cache")
    # More at once than processors, because most of them wait for servers, syncs and other processes.
    "${pytest[@]}" -n "$((2 * $(nproc) + 1))" --dist loadfile "$@" && return
    [ -s "$cache/v/cache/lastfailed" ] || return 1
    mapfile -t failed < <(/usr/bin/python3 -c 'import json, sys; print(*json.load(open(sys.argv[1])), sep="\n")' \
        "$cache/v/cache/lastfailed")
    count_repeats "${failed[@]}" || return 1
    "${pytest[@]}" --last-failed --last-failed-no-failures none "$@"
}
