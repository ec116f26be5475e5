#compdef sluice
# zsh completion for sluice(1). It asks the program itself, so that it cannot grow stale.

_sluice()
{
    local before=${words[CURRENT - 1]} word
    local -a names help found
    local -i i

    case $before in
        (--store|--into|--to) _files -/; return ;;
        (--token-file|--secret-from|--secret-file|--from) _files; return ;;
        (--format) compadd table json csv; return ;;
        (--scope) compadd write_orders write_products write_clicks read_orders; return ;;
    esac

    # The subcommands so far: leave out options and what follows --store.
    for ((i = 2; i < CURRENT; i++)); do
        word=${words[i]}
        case $word in
            (--store) ((i++)) ;;
            (-*) ;;
            ([a-z]*) names+=($word) ;;
        esac
    done

    help=(${(f)"$("${words[1]}" ${names[1,2]} --help 2> /dev/null ||
                  "${words[1]}" ${names[1]} --help 2> /dev/null)"})
    if [[ ${words[CURRENT]} == -* ]]; then
        compadd -- ${(f)"$(print -rl -- $help | grep -oE -- '--[a-z][a-z-]*' | sort -u)"}
        return
    fi
    found=(${(f)"$(print -rl -- $help |
        sed -n '/^Subcommands:/,/^[^ ]*:$/s/^  *\([a-z][a-z-]*\)  *\(.*\)/\1:\2/p')"})
    if ((${#found})); then
        _describe 'command' found
    else
        _files
    fi
}

_sluice "$@"
