# Sourced by the demos: steps with their duration, and a build with its progress.

step_began=''

say() { # TITLE: ends the step before it
    took
    printf '\n\033[1m%s\033[0m\n' "$*"
    step_began=$EPOCHREALTIME
}

took() {
    [ -n "$step_began" ] || return 0
    awk -v from="$step_began" -v to="$EPOCHREALTIME" 'BEGIN { printf "(%.1f s)\n", to - from }'
    step_began=''
}

# Prints a line for each tenth of ninja's [n/m] lines.
show_tenths() {
    local line shown=-1
    while IFS= read -r line; do
        if [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] && ((BASH_REMATCH[2] > 5)); then
            if ((10 * BASH_REMATCH[1] / BASH_REMATCH[2] > shown)); then
                shown=$((10 * BASH_REMATCH[1] / BASH_REMATCH[2]))
                echo "  ${BASH_REMATCH[1]} of ${BASH_REMATCH[2]} files"
            fi
        elif [[ $line == *'no work to do'* ]]; then
            echo '  nothing to do: built before'
        fi
    done
}

# Names clang++ in CXX where it is installed with a standard library and CXX is empty: it compiles code that is not
# optimized in two thirds of g++'s time.
choose_compiler() {
    local version
    [ -z "${CXX:-}" ] || return 0
    version=$(clang++ -dumpversion 2> /dev/null) || return 0
    [ "${version%%.*}" -ge 14 ] || return 0
    if echo '#include <filesystem>' | clang++ -std=c++20 -fsyntax-only -x c++ - 2> /dev/null; then
        export CC=clang CXX=clang++
    fi
}

build_with_progress() { # PRESET TARGET...: shows what the compiler says only if it fails
    local log failed=0
    choose_compiler
    log=$(mktemp)
    scripts/build "$@" 2>&1 | tee "$log" | show_tenths || failed=1
    [ "$failed" = 0 ] || tail -n 40 "$log" >&2
    rm -f "$log"
    return "$failed"
}
