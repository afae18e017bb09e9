# Completion of mmem for bash. Generated from the commands: python -m mmem.shells.generate

# Set `kinds` to what the words after an option stand for, each with a space behind it; to nothing for a flag.
_mmem_takes() { # COMMAND OPTION
    case $1:$2 in
        create-entities:-t | create-entities:--type) kinds='entity-type ' ;;
        create-entities:-o | create-entities:--observation) kinds='free ' ;;
        create-entities:-O | create-entities:--typed-observation) kinds='observation-type free ' ;;
        create-entities:--source) kinds='source ' ;;
        create-entities:--timestamp) kinds='free ' ;;
        create-entities:-p | create-entities:--property) kinds='free ' ;;
        create-entities:--json) kinds='json ' ;;
        create-relations:--from-type) kinds='entity-type ' ;;
        create-relations:--to-type) kinds='entity-type ' ;;
        create-relations:-p | create-relations:--property) kinds='free ' ;;
        create-relations:--json) kinds='json ' ;;
        add-observations:-t | add-observations:--type) kinds='entity-type ' ;;
        add-observations:-O | add-observations:--typed-observation) kinds='observation-type free ' ;;
        add-observations:--source) kinds='source ' ;;
        add-observations:--timestamp) kinds='free ' ;;
        add-observations:-p | add-observations:--property) kinds='free ' ;;
        add-observations:--json) kinds='json ' ;;
        delete-entities:-t | delete-entities:--type) kinds='entity-type ' ;;
        delete-entities:--json) kinds='json ' ;;
        delete-observations:-t | delete-observations:--type) kinds='entity-type ' ;;
        delete-observations:-O | delete-observations:--observation-type) kinds='observation-type ' ;;
        delete-observations:--source) kinds='source ' ;;
        delete-observations:--id) kinds='observation-id ' ;;
        delete-observations:--json) kinds='json ' ;;
        delete-relations:--from-type) kinds='entity-type ' ;;
        delete-relations:--to-type) kinds='entity-type ' ;;
        delete-relations:--id) kinds='relation-id ' ;;
        delete-relations:--json) kinds='json ' ;;
        read-graph:-n | read-graph:--limit) kinds='free ' ;;
        read-graph:--offset) kinds='free ' ;;
        read-graph:--json) kinds='json ' ;;
        search-nodes:-n | search-nodes:--limit) kinds='free ' ;;
        search-nodes:--offset) kinds='free ' ;;
        search-nodes:-t | search-nodes:--type) kinds='entity-type ' ;;
        search-nodes:-O | search-nodes:--observation-type) kinds='observation-type ' ;;
        search-nodes:--source) kinds='source ' ;;
        search-nodes:--since) kinds='free ' ;;
        search-nodes:--until) kinds='free ' ;;
        search-nodes:-p | search-nodes:--property) kinds='free ' ;;
        search-nodes:--relation) kinds='relation-type ' ;;
        search-nodes:--observations) kinds='choice:auto,matched,all ' ;;
        search-nodes:--json) kinds='json ' ;;
        open-nodes:-t | open-nodes:--type) kinds='entity-type ' ;;
        open-nodes:--json) kinds='json ' ;;
        list-categories:--json) kinds='json ' ;;
        delete-category:--json) kinds='json ' ;;
        neighbors:-t | neighbors:--type) kinds='entity-type ' ;;
        neighbors:--depth) kinds='free ' ;;
        neighbors:--relation) kinds='relation-type ' ;;
        neighbors:--direction) kinds='choice:in,out,both ' ;;
        neighbors:-n | neighbors:--limit) kinds='free ' ;;
        neighbors:--json) kinds='json ' ;;
        path:--from-type) kinds='entity-type ' ;;
        path:--to-type) kinds='entity-type ' ;;
        path:--relation) kinds='relation-type ' ;;
        path:--max) kinds='free ' ;;
        path:--json) kinds='json ' ;;
        rename:-t | rename:--type) kinds='entity-type ' ;;
        rename:--json) kinds='json ' ;;
        retype:-t | retype:--type) kinds='entity-type ' ;;
        retype:--json) kinds='json ' ;;
        merge:-t | merge:--type) kinds='entity-type ' ;;
        merge:--other-type) kinds='entity-type ' ;;
        merge:--json) kinds='json ' ;;
        move:--to) kinds='category ' ;;
        move:-t | move:--type) kinds='entity-type ' ;;
        move:--json) kinds='json ' ;;
        edit:-t | edit:--type) kinds='entity-type ' ;;
        batch:--durable) kinds='choice:full,normal ' ;;
        serve:--dialect) kinds='choice:multi-memory,server-memory ' ;;
        serve:--tools) kinds='choice:eleven,all ' ;;
        serve:--pin) kinds='category ' ;;
        serve:--max-bytes) kinds='free ' ;;
        config:--name) kinds='free ' ;;
        config:--dialect) kinds='choice:multi-memory,server-memory ' ;;
        config:--pin) kinds='category ' ;;
        import:--missing-end) kinds='choice:placeholder,error ' ;;
        import:--encoding) kinds='free ' ;;
        export:--to) kinds='choice:jsonl,memory-jsonl,json,yaml,toon,markdown,csv,dot,mermaid,graphml,html ' ;;
        export:-o | export:--output) kinds='file ' ;;
        export:-t | export:--type) kinds='entity-type ' ;;
        export:--around) kinds='entity ' ;;
        export:--depth) kinds='free ' ;;
        stats:-n | stats:--limit) kinds='free ' ;;
        view:-o | view:--output) kinds='file ' ;;
        view:--around) kinds='entity ' ;;
        view:--depth) kinds='free ' ;;
        backup:-o | backup:--output) kinds='file ' ;;
        *:--base-dir) kinds='folder ' ;;
        *:-c | *:--category) kinds='category ' ;;
        *:-f | *:--format) kinds='choice:auto,json,jsonl,toon,yaml,table ' ;;
        *:--errors) kinds='choice:text,json ' ;;
        *:--color) kinds='choice:auto,always,never ' ;;
        *) kinds= ;;
    esac
}

# Set `kinds` to what the argument at a place stands for.
_mmem_argument() { # COMMAND PLACE
    case $1:$2 in
        create-entities:*) kinds='free ' ;;
        create-relations:0) kinds='entity ' ;;
        create-relations:1) kinds='relation-type ' ;;
        create-relations:2) kinds='entity ' ;;
        add-observations:0) kinds='entity ' ;;
        add-observations:*) kinds='free ' ;;
        delete-entities:*) kinds='entity ' ;;
        delete-observations:0) kinds='entity ' ;;
        delete-relations:0) kinds='entity ' ;;
        delete-relations:1) kinds='relation-type ' ;;
        delete-relations:2) kinds='entity ' ;;
        search-nodes:*) kinds='free ' ;;
        open-nodes:*) kinds='entity ' ;;
        delete-category:0) kinds='category ' ;;
        neighbors:0) kinds='entity ' ;;
        path:0) kinds='entity ' ;;
        path:1) kinds='entity ' ;;
        rename:0) kinds='entity ' ;;
        rename:1) kinds='free ' ;;
        retype:0) kinds='entity ' ;;
        retype:1) kinds='entity-type ' ;;
        merge:0) kinds='entity ' ;;
        merge:1) kinds='entity ' ;;
        move:*) kinds='entity ' ;;
        edit:0) kinds='entity ' ;;
        batch:0) kinds='file ' ;;
        config:0) kinds='choice:claude-desktop,claude-code,cursor,vscode ' ;;
        completions:0) kinds='choice:bash,zsh,fish ' ;;
        seed:*) kinds='graph:demo,household,recall,research ' ;;
        import:*) kinds='file ' ;;
        restore:*) kinds='file ' ;;
        help:*) kinds='choice:create-entities,create-relations,add-observations,delete-entities,delete-observations,delete-relations,read-graph,search-nodes,open-nodes,list-categories,delete-category,neighbors,path,rename,retype,merge,move,edit,batch,serve,config,completions,seed,import,export,stats,view,backup,restore,reindex,purge,doctor,help,man ' ;;
        man:*) kinds='choice:create-entities,create-relations,add-observations,delete-entities,delete-observations,delete-relations,read-graph,search-nodes,open-nodes,list-categories,delete-category,neighbors,path,rename,retype,merge,move,edit,batch,serve,config,completions,seed,import,export,stats,view,backup,restore,reindex,purge,doctor,help,man ' ;;
        *) kinds= ;;
    esac
}

# Set `options` to those of a command.
_mmem_options() { # COMMAND
    case $1 in
        '') options="--base-dir --category --format --errors --color --no-pager --quiet --help --version -c -f -q -h" ;;
        create-entities) options="--type --observation --typed-observation --source --timestamp --property --override --json --base-dir --category --format --errors --color --no-pager --quiet --help -t -o -O -p -c -f -q -h" ;;
        create-relations) options="--from-type --to-type --property --override --json --base-dir --category --format --errors --color --no-pager --quiet --help -p -c -f -q -h" ;;
        add-observations) options="--type --typed-observation --source --timestamp --property --override --json --base-dir --category --format --errors --color --no-pager --quiet --help -t -O -p -c -f -q -h" ;;
        delete-entities) options="--type --yes --json --base-dir --category --format --errors --color --no-pager --quiet --help -t -y -c -f -q -h" ;;
        delete-observations) options="--type --observation-type --source --id --yes --json --base-dir --category --format --errors --color --no-pager --quiet --help -t -O -y -c -f -q -h" ;;
        delete-relations) options="--from-type --to-type --id --yes --json --base-dir --category --format --errors --color --no-pager --quiet --help -y -c -f -q -h" ;;
        read-graph) options="--limit --offset --names --print0 --json --base-dir --category --format --errors --color --no-pager --quiet --help -n -0 -c -f -q -h" ;;
        search-nodes) options="--limit --offset --type --observation-type --source --since --until --property --relation --observations --names --print0 --no-relations --all-categories --exit-status --verbose --json --base-dir --category --format --errors --color --no-pager --quiet --help -n -t -O -p -0 -a -e -v -c -f -q -h" ;;
        open-nodes) options="--type --related --names --print0 --json --base-dir --category --format --errors --color --no-pager --quiet --help -t -0 -c -f -q -h" ;;
        list-categories) options="--verbose --print0 --json --base-dir --category --format --errors --color --no-pager --quiet --help -v -0 -c -f -q -h" ;;
        delete-category) options="--yes --json --base-dir --category --format --errors --color --no-pager --quiet --help -y -c -f -q -h" ;;
        neighbors) options="--type --depth --relation --direction --limit --json --base-dir --category --format --errors --color --no-pager --quiet --help -t -n -c -f -q -h" ;;
        path) options="--from-type --to-type --directed --relation --max --json --base-dir --category --format --errors --color --no-pager --quiet --help -c -f -q -h" ;;
        rename) options="--type --json --base-dir --category --format --errors --color --no-pager --quiet --help -t -c -f -q -h" ;;
        retype) options="--type --json --base-dir --category --format --errors --color --no-pager --quiet --help -t -c -f -q -h" ;;
        merge) options="--type --other-type --yes --json --base-dir --category --format --errors --color --no-pager --quiet --help -t -y -c -f -q -h" ;;
        move) options="--to --type --drop-relations --json --base-dir --category --format --errors --color --no-pager --quiet --help -t -c -f -q -h" ;;
        edit) options="--type --base-dir --category --format --errors --color --no-pager --quiet --help -t -c -f -q -h" ;;
        batch) options="--stop-on-error --atomic --dry-run --errors-only --summary --durable --base-dir --category --format --errors --color --no-pager --quiet --help -c -f -q -h" ;;
        serve) options="--dialect --read-only --tools --pin --max-bytes --base-dir --category --format --errors --color --no-pager --quiet --help -c -f -q -h" ;;
        config) options="--name --project --dialect --pin --read-only --write --yes --base-dir --category --format --errors --color --no-pager --quiet --help -y -c -f -q -h" ;;
        completions) options="--install --base-dir --category --format --errors --color --no-pager --quiet --help -c -f -q -h" ;;
        seed) options="--override --dry-run --check --base-dir --category --format --errors --color --no-pager --quiet --help -c -f -q -h" ;;
        import) options="--keep-going --strict --missing-end --encoding --dry-run --base-dir --category --format --errors --color --no-pager --quiet --help -c -f -q -h" ;;
        export) options="--to --output --type --around --depth --all-categories --base-dir --category --format --errors --color --no-pager --quiet --help -o -t -a -c -f -q -h" ;;
        stats) options="--limit --base-dir --category --format --errors --color --no-pager --quiet --help -n -c -f -q -h" ;;
        view) options="--output --open --around --depth --base-dir --category --format --errors --color --no-pager --quiet --help -o -c -f -q -h" ;;
        backup) options="--all-categories --all --output --yes --base-dir --category --format --errors --color --no-pager --quiet --help -a -o -y -c -f -q -h" ;;
        restore) options="--yes --base-dir --category --format --errors --color --no-pager --quiet --help -y -c -f -q -h" ;;
        reindex) options="--all --base-dir --category --format --errors --color --no-pager --quiet --help -a -c -f -q -h" ;;
        purge) options="--all --base-dir --category --format --errors --color --no-pager --quiet --help -a -c -f -q -h" ;;
        doctor) options="--fix --thorough --base-dir --category --format --errors --color --no-pager --quiet --help -c -f -q -h" ;;
        help) options="--base-dir --category --format --errors --color --no-pager --quiet --help -c -f -q -h" ;;
        man) options="--base-dir --category --format --errors --color --no-pager --quiet --help -c -f -q -h" ;;
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
        COMPREPLY=($(compgen -W "create-entities create-relations add-observations delete-entities delete-observations delete-relations read-graph search-nodes open-nodes list-categories delete-category neighbors path rename retype merge move edit batch serve config completions seed import export stats view backup restore reindex purge doctor help man" -- "${current//_/-}"))
    else
        _mmem_argument "$command" "$place"
        [[ -n $kinds ]] && _mmem_offer "${kinds%% *}" "$current" ""
    fi
    return 0
}

complete -o nosort -F _mmem mmem 2>/dev/null || complete -F _mmem mmem
