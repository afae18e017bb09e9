#compdef mmem
# Completion of mmem for zsh. Generated from the commands: python -m mmem.shells.generate

# Offer names of a kind; zsh escapes them for where they stand.
(( $+functions[_mmem_names] )) ||
_mmem_names() { # KIND
    local program=${(Q)mmem_line[1]} output entry
    local -a names shown expl
    [[ $program == */* ]] || program=mmem
    output=$(command ${program/#\~\//$HOME/} __complete $1 "${(Q)PREFIX}" "${(@Q)mmem_line[2,-1]}" 2>/dev/null)
    for entry in ${(f)output}; do
        names+=("${entry%%$'\t'*}")
        entry=${entry/$'\t'/  -- }
        shown+=("${entry%  -- }")
    done
    _description -V names expl "${1//-/ }"
    compadd "$expl[@]" -M 'm:{[:lower:][:upper:]}={[:upper:][:lower:]}' -d shown -a names
}

# Say what is due where nobody can know it. An empty action would do, but then zsh completes no options either.
(( $+functions[_mmem_text] )) ||
_mmem_text() { # WHAT
    [[ $PREFIX == -* ]] || _message "$1"
    return 1
}

(( $+functions[_mmem_json] )) ||
_mmem_json() {
    if compset -P @; then
        _files
    else
        _message 'JSON, @FILE or -'
    fi
}

(( $+functions[_mmem_graph] )) ||
_mmem_graph() { # NAME...
    _alternative "graphs:graph:($*)" 'files:file:_files'
}

(( $+functions[_mmem_command] )) ||
_mmem_command() {
    local -a tools commands
    tools=(
@TOOLS@
    )
    commands=(
@COMMANDS@
    )
    _describe -V -t tools tool tools
    _describe -V -t commands command commands
}

_mmem() {
    local curcontext=$curcontext state ret=1
    local -a state_descr line shared mmem_line
    typeset -A opt_args
    mmem_line=("${(@)words[1,CURRENT-1]}")
    shared=(
@SHARED@
    )
    _arguments -s -S -C $shared \
@ROOT@
        '(-): : _mmem_command' \
        '(-)*:: :->argument' && ret=0
    [[ $state == argument ]] || return ret
    case ${words[1]//_/-} in
@CASES@
    esac
    return ret
}

if [[ $funcstack[1] == _mmem ]]; then
    _mmem "$@"
else
    compdef _mmem mmem
fi
