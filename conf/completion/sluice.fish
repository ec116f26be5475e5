# fish completion for sluice(1). It asks the program itself, so that it cannot grow stale.

# The help of the subcommands so far: without options and what follows --store.
function __sluice_help
    set -l words (commandline -opc)
    set -l names
    set -l skip 0
    for word in $words[2..-1]
        if test $skip = 1
            set skip 0
        else if test $word = --store
            set skip 1
        else if string match -qr '^[a-z]' -- $word
            set -a names $word
        end
    end
    set -l two $names[1..2]
    $words[1] $two --help 2>/dev/null; or $words[1] $names[1] --help 2>/dev/null
end

# `name<tab>text` of each subcommand.
function __sluice_subcommands
    __sluice_help | sed -n '/^Subcommands:/,/^[^ ]*:$/s/^  *\([a-z][a-z-]*\)  *\(.*\)/\1\t\2/p'
end

function __sluice_options
    __sluice_help | string match -ar -- '--[a-z][a-z-]*' | sort -u
end

function __sluice_wants_option
    string match -q -- '-*' (commandline -ct)
end

complete -c sluice -f
complete -c sluice -n 'not __sluice_wants_option' -a '(__sluice_subcommands)'
complete -c sluice -n '__sluice_wants_option' -a '(__sluice_options)'
complete -c sluice -n 'not __sluice_wants_option; and test -z "$(__sluice_subcommands)"' -F
complete -c sluice -l store -r -a '(__fish_complete_directories)'
complete -c sluice -l into -r -a '(__fish_complete_directories)'
complete -c sluice -l format -x -a 'table json csv'
complete -c sluice -l scope -x -a 'write_orders write_products write_clicks read_orders'
