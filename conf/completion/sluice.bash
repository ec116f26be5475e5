# bash completion for sluice(1). It asks the program itself, so that it cannot grow stale.

_sluice()
{
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local -a names=() help
    local i

    case $before in
        --store | --into | --to) mapfile -t COMPREPLY < <(compgen -d -- "$word"); return ;;
        --token-file | --secret-from | --secret-file | --from) mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
        --format) mapfile -t COMPREPLY < <(compgen -W 'table json csv' -- "$word"); return ;;
        --scope) mapfile -t COMPREPLY < <(compgen -W 'write_orders write_products write_clicks read_orders' -- "$word"); return ;;
    esac

    # The subcommands so far: leave out options and what follows --store.
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
            --store) ((i++)) ;;
            -*) ;;
            [a-z]*) names+=("${COMP_WORDS[i]}") ;;
        esac
    done

    mapfile -t help < <("${COMP_WORDS[0]}" "${names[@]:0:2}" --help 2>/dev/null ||
                        "${COMP_WORDS[0]}" "${names[@]:0:1}" --help 2>/dev/null)
    if [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(printf '%s\n' "${help[@]}" | grep -oE -- '--[a-z][a-z-]*' | sort -u)" -- "$word")
        return
    fi
    mapfile -t COMPREPLY < <(compgen -W "$(printf '%s\n' "${help[@]}" |
        sed -n '/^Subcommands:/,/^[^ ]*:$/s/^  *\([a-z][a-z-]*\) .*/\1/p')" -- "$word")
    [ "${#COMPREPLY[@]}" -gt 0 ] || mapfile -t COMPREPLY < <(compgen -f -- "$word")
}
complete -F _sluice sluice
