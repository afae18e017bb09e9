# Completion of mmem for bash. Generated from the commands: python -m mmem.shells.generate

# Set `kinds` to what the words after an option stand for, each with a space behind it; to nothing for a flag.
_mmem_takes() { # COMMAND OPTION
    case $1:$2 in
@TAKES@
        *) kinds= ;;
    esac
}

# Set `kinds` to what the argument at a place stands for.
_mmem_argument() { # COMMAND PLACE
    case $1:$2 in
@ARGUMENTS@
        *) kinds= ;;
    esac
}

# Set `options` to those of a command.
_mmem_options() { # COMMAND
    case $1 in
@OPTIONS@
        *) options= ;;
    esac
}

# Take the line up to the cursor apart, as the shell would: `words` without quotes, `current` the one at the cursor,
# `quote` one that is open, `base` how much of `current` stands before the text that readline replaces.
_mmem_split() {
    local line=${COMP_LINE:0:COMP_POINT} i c next started=
    for ((i = 0; i < ${#line}; i++)); do
        c=${line:i:1}
        if [[ -n $quote && $c == "$quote" ]]; then
            quote= base=${#current}
        elif [[ $quote == "'" ]]; then
            current+=$c
        elif [[ $c == \\ ]]; then
            next=${line:i+1:1} started=1
            [[ $quote == '"' && $next != [\$\`\"\\] ]] && current+=$c
            current+=$next
            ((++i))
        elif [[ $quote == '"' ]]; then
            current+=$c
        elif [[ $c == [\'\"] ]]; then
            quote=$c started=1 base=${#current}
        elif [[ $c == [[:space:]] ]]; then
            [[ -n $started ]] && words+=("$current")
            current= started= base=0
        else
            [[ $COMP_WORDBREAKS == *"$c"* ]] && base=$((${#current} + 1))
            [[ $c == @ ]] && base=${#current} # readline takes it along, since it marks names of hosts
            current+=$c started=1
        fi
    done
}

# Offer a word, in the quotes that are open or else escaped.
_mmem_add() { # WORD
    local rest=${1:base}
    if [[ $quote == "'" ]]; then
        local other="'\\''"
        rest=${rest//"'"/"$other"}
    elif [[ $quote == '"' ]]; then
        local mark='"\!"'
        rest=${rest//\\/\\\\}
        rest=${rest//\"/\\\"}
        rest=${rest//\$/\\\$}
        rest=${rest//\`/\\\`}
        rest=${rest//!/"$mark"}
    elif [[ -n $rest ]]; then
        printf -v rest %q "$rest"
    fi
    [[ -n $quote && $rest == *"$quote" ]] && rest+=$quote # readline doesn't close what seems to be closed
    COMPREPLY+=("$rest")
}

_mmem_files() { # PREFIX LEAD
    local file
    while IFS= read -r file; do
        [[ -d $file ]] && file+=/ && compopt -o nospace 2>/dev/null
        _mmem_add "$2$file"
    done < <(compgen -f -- "$1")
}

# Offer what a word of some kind can be. LEAD stands before it in the same word, such as `--format=`.
_mmem_offer() { # KIND PREFIX LEAD
    local word program
    case $1 in
        choice:* | graph:*)
            local IFS=,
            for word in ${1#*:}; do
                [[ $word == "$2"* ]] && _mmem_add "$3$word"
            done
            ;;
    esac
    case $1 in
        choice:* | free) ;;
        folder) compopt -o dirnames 2>/dev/null ;;
        json) [[ $2 == @* ]] && _mmem_files "${2#@}" "$3@" ;;
        file) compopt -o default 2>/dev/null ;;
        graph:*) _mmem_files "$2" "$3" ;;
        *)
            program=${words[0]}
            [[ $program == */* ]] || program=mmem
            program=${program/#~\//$HOME/}
            while IFS=$'\t' read -r word _; do
                _mmem_add "$3$word"
            done < <(command "$program" __complete "$1" "$2" "${words[@]:1}" 2>/dev/null)
            ;;
    esac
}

# Read the letters of a word such as `-qn5`: `kinds` is what the last one still waits for, `attached` its own value.
_mmem_letters() { # COMMAND WORD
    local i
    attached= lead=$2
    for ((i = 1; i < ${#2}; i++)); do
        _mmem_takes "$1" "-${2:i:1}"
        if [[ -n $kinds ]]; then
            attached=${2:i+1} lead=${2:0:i+1}
            return
        fi
    done
}

_mmem() {
    local words=() current= quote= base=0 command= place=0 dashes= kinds= options= attached= lead= word IFS=$' \t\n'
    COMPREPLY=()
    _mmem_split
    for word in "${words[@]:1}"; do
        if [[ -n $kinds ]]; then
            kinds=${kinds#* }
        elif [[ -z $dashes && $word == -- ]]; then
            dashes=1
        elif [[ -z $dashes && $word == --* ]]; then
            _mmem_takes "$command" "${word%%=*}"
            [[ $word == *=* ]] && kinds=${kinds#* }
        elif [[ -z $dashes && $word == -?* ]]; then
            _mmem_letters "$command" "$word"
            [[ -n $attached ]] && kinds=${kinds#* }
        elif [[ -z $command ]]; then
            command=${word//_/-}
        else
            ((++place))
        fi
    done
    if [[ -n $kinds ]]; then
        _mmem_offer "${kinds%% *}" "$current" ""
    elif [[ -z $dashes && $current == --*=* ]]; then
        _mmem_takes "$command" "${current%%=*}"
        [[ -n $kinds ]] && _mmem_offer "${kinds%% *}" "${current#*=}" "${current%%=*}="
    elif [[ -z $dashes && $current == -* ]]; then
        [[ $current == -[!-]?* ]] && _mmem_letters "$command" "$current"
        if [[ -n $kinds ]]; then
            _mmem_offer "${kinds%% *}" "$attached" "$lead"
        else
            _mmem_options "$command"
            COMPREPLY=($(compgen -W "$options" -- "$current"))
        fi
    elif [[ -z $command ]]; then
        COMPREPLY=($(compgen -W "@COMMANDS@" -- "${current//_/-}"))
    else
        _mmem_argument "$command" "$place"
        [[ -n $kinds ]] && _mmem_offer "${kinds%% *}" "$current" ""
    fi
    return 0
}

complete -o nosort -F _mmem mmem 2>/dev/null || complete -F _mmem mmem
