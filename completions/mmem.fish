# Completion of mmem for fish. Generated from the commands: python -m mmem.shells.generate

# Print how many words an option takes.
function __mmem_takes # COMMAND OPTION
    switch "$argv[1]:$argv[2]"
        case 'create-entities:-t' 'create-entities:--type'
            echo 1
        case 'create-entities:-o' 'create-entities:--observation'
            echo 1
        case 'create-entities:-O' 'create-entities:--typed-observation'
            echo 2
        case 'create-entities:--source'
            echo 1
        case 'create-entities:--timestamp'
            echo 1
        case 'create-entities:-p' 'create-entities:--property'
            echo 1
        case 'create-entities:--json'
            echo 1
        case 'create-relations:--from-type'
            echo 1
        case 'create-relations:--to-type'
            echo 1
        case 'create-relations:-p' 'create-relations:--property'
            echo 1
        case 'create-relations:--json'
            echo 1
        case 'add-observations:-t' 'add-observations:--type'
            echo 1
        case 'add-observations:-O' 'add-observations:--typed-observation'
            echo 2
        case 'add-observations:--source'
            echo 1
        case 'add-observations:--timestamp'
            echo 1
        case 'add-observations:-p' 'add-observations:--property'
            echo 1
        case 'add-observations:--json'
            echo 1
        case 'delete-entities:-t' 'delete-entities:--type'
            echo 1
        case 'delete-entities:--json'
            echo 1
        case 'delete-observations:-t' 'delete-observations:--type'
            echo 1
        case 'delete-observations:-O' 'delete-observations:--observation-type'
            echo 1
        case 'delete-observations:--source'
            echo 1
        case 'delete-observations:--id'
            echo 1
        case 'delete-observations:--json'
            echo 1
        case 'delete-relations:--from-type'
            echo 1
        case 'delete-relations:--to-type'
            echo 1
        case 'delete-relations:--id'
            echo 1
        case 'delete-relations:--json'
            echo 1
        case 'read-graph:-n' 'read-graph:--limit'
            echo 1
        case 'read-graph:--offset'
            echo 1
        case 'read-graph:--json'
            echo 1
        case 'search-nodes:-n' 'search-nodes:--limit'
            echo 1
        case 'search-nodes:--offset'
            echo 1
        case 'search-nodes:-t' 'search-nodes:--type'
            echo 1
        case 'search-nodes:-O' 'search-nodes:--observation-type'
            echo 1
        case 'search-nodes:--source'
            echo 1
        case 'search-nodes:--since'
            echo 1
        case 'search-nodes:--until'
            echo 1
        case 'search-nodes:-p' 'search-nodes:--property'
            echo 1
        case 'search-nodes:--relation'
            echo 1
        case 'search-nodes:--observations'
            echo 1
        case 'search-nodes:--json'
            echo 1
        case 'open-nodes:-t' 'open-nodes:--type'
            echo 1
        case 'open-nodes:--json'
            echo 1
        case 'list-categories:--json'
            echo 1
        case 'delete-category:--json'
            echo 1
        case 'neighbors:-t' 'neighbors:--type'
            echo 1
        case 'neighbors:--depth'
            echo 1
        case 'neighbors:--relation'
            echo 1
        case 'neighbors:--direction'
            echo 1
        case 'neighbors:-n' 'neighbors:--limit'
            echo 1
        case 'neighbors:--json'
            echo 1
        case 'path:--from-type'
            echo 1
        case 'path:--to-type'
            echo 1
        case 'path:--relation'
            echo 1
        case 'path:--max'
            echo 1
        case 'path:--json'
            echo 1
        case 'rename:-t' 'rename:--type'
            echo 1
        case 'rename:--json'
            echo 1
        case 'retype:-t' 'retype:--type'
            echo 1
        case 'retype:--json'
            echo 1
        case 'merge:-t' 'merge:--type'
            echo 1
        case 'merge:--other-type'
            echo 1
        case 'merge:--json'
            echo 1
        case 'move:--to'
            echo 1
        case 'move:-t' 'move:--type'
            echo 1
        case 'move:--json'
            echo 1
        case 'edit:-t' 'edit:--type'
            echo 1
        case 'batch:--durable'
            echo 1
        case 'serve:--dialect'
            echo 1
        case 'serve:--tools'
            echo 1
        case 'serve:--pin'
            echo 1
        case 'serve:--max-bytes'
            echo 1
        case 'config:--name'
            echo 1
        case 'config:--dialect'
            echo 1
        case 'config:--pin'
            echo 1
        case 'import:--missing-end'
            echo 1
        case 'import:--encoding'
            echo 1
        case 'export:--to'
            echo 1
        case 'export:-o' 'export:--output'
            echo 1
        case 'export:-t' 'export:--type'
            echo 1
        case 'export:--around'
            echo 1
        case 'export:--depth'
            echo 1
        case 'stats:-n' 'stats:--limit'
            echo 1
        case 'view:-o' 'view:--output'
            echo 1
        case 'view:--around'
            echo 1
        case 'view:--depth'
            echo 1
        case 'backup:-o' 'backup:--output'
            echo 1
        case '*:--base-dir'
            echo 1
        case '*:-c' '*:--category'
            echo 1
        case '*:-f' '*:--format'
            echo 1
        case '*:--errors'
            echo 1
        case '*:--color'
            echo 1
        case '*'
            echo 0
    end
end

# Read the line up to the cursor, once for all the conditions below: which command, how many arguments before the
# cursor, and how many words an option still waits for.
function __mmem_read
    set -l line (commandline -cp | string collect)
    test "$line" = "$__mmem_line"
    and return
    set -g __mmem_line $line
    set -g __mmem_command ''
    set -g __mmem_place 0
    set -g __mmem_waits 0
    set -l dashes 0
    for word in (commandline -opc)[2..-1]
        if test $__mmem_waits -gt 0
            set __mmem_waits (math $__mmem_waits - 1)
        else if test $dashes = 0; and string match -q -- -- $word
            set dashes 1
        else if test $dashes = 0; and string match -q -- '--*=*' $word
            set __mmem_waits (math max 0, (__mmem_takes "$__mmem_command" (string split -m 1 = -- $word)[1]) - 1)
        else if test $dashes = 0; and string match -q -- '--*' $word
            set __mmem_waits (__mmem_takes "$__mmem_command" $word)
        else if test $dashes = 0; and string match -q -- '-?*' $word
            __mmem_letters $word
        else if test -z "$__mmem_command"
            set __mmem_command (string replace -a _ - -- $word)
        else
            set __mmem_place (math $__mmem_place + 1)
        end
    end
end

# Read the letters of a word such as `-qn5`.
function __mmem_letters # WORD
    set -l letters (string split '' -- (string sub -s 2 -- $argv[1]))
    for index in (seq (count $letters))
        set -l takes (__mmem_takes "$__mmem_command" -$letters[$index])
        if test $takes -gt 0
            test $index -lt (count $letters)
            and set takes (math $takes - 1)
            set __mmem_waits $takes
            return
        end
    end
end

function __mmem_in # COMMAND
    __mmem_read
    test "$__mmem_command" = "$argv[1]"
end

function __mmem_at # COMMAND PLACE
    __mmem_in $argv[1]
    and test $__mmem_waits = 0
    and test $__mmem_place = $argv[2]
end

function __mmem_after # COMMAND PLACE
    __mmem_in $argv[1]
    and test $__mmem_waits = 0
    and test $__mmem_place -ge $argv[2]
end

# Print the current word without its quotes, also those that are still open.
function __mmem_current
    set -l current (commandline -ct)
    for quote in '' '"' "'"
        string unescape -- $current$quote 2>/dev/null
        and return
    end
end

# Print names of a kind; fish escapes them for where they stand.
function __mmem_names # KIND
    set -l words (commandline -opc)
    set -l prefix (__mmem_current)
    contains -- -- $words
    or set prefix (string replace -r -- '^(--[a-z-]+=|-[a-zA-Z])' '' $prefix)
    set -l program $words[1]
    string match -q '*/*' -- $program
    or set program mmem
    command $program __complete $argv[1] "$prefix" $words[2..-1] 2>/dev/null
end

# Print files behind an @.
function __mmem_json
    set -l current (string replace -r -- '^--json=' '' (__mmem_current))
    string match -q '@*' -- $current
    and printf '@%s\n' (__fish_complete_path (string sub -s 2 -- $current))
end

complete -c mmem -f
complete -c mmem -n "__mmem_at '' 0" -k -a man -d 'Show the manual page of a command or a topic.'
complete -c mmem -n "__mmem_at '' 0" -k -a help -d 'Explain a command or a topic.'
complete -c mmem -n "__mmem_at '' 0" -k -a doctor -d 'Check what mmem stands on, and mend what is safe.'
complete -c mmem -n "__mmem_at '' 0" -k -a purge -d 'Make deleted texts unreadable in a category\'s file.'
complete -c mmem -n "__mmem_at '' 0" -k -a reindex -d 'Rebuild the search index of a category.'
complete -c mmem -n "__mmem_at '' 0" -k -a restore -d 'Bring categories back from backups.'
complete -c mmem -n "__mmem_at '' 0" -k -a backup -d 'Back up a category to a file of its own.'
complete -c mmem -n "__mmem_at '' 0" -k -a view -d 'Show a category\'s graph as a page in the browser.'
complete -c mmem -n "__mmem_at '' 0" -k -a stats -d 'Show a category in figures.'
complete -c mmem -n "__mmem_at '' 0" -k -a export -d 'Write a graph as JSON lines, YAML, CSV, GraphML and more.'
complete -c mmem -n "__mmem_at '' 0" -k -a import -d 'Import graphs from files of other memory programs.'
complete -c mmem -n "__mmem_at '' 0" -k -a seed -d 'Fill categories from graphs in YAML.'
complete -c mmem -n "__mmem_at '' 0" -k -a completions -d 'Have TAB complete commands, options and names in your shell.'
complete -c mmem -n "__mmem_at '' 0" -k -a config -d 'Configure a host to use mmem.'
complete -c mmem -n "__mmem_at '' 0" -k -a serve -d 'Serve the tools to Claude Desktop and other MCP hosts.'
complete -c mmem -n "__mmem_at '' 0" -k -a batch -d 'Carry out requests from JSON lines.'
complete -c mmem -n "__mmem_at '' 0" -k -a edit -d 'Change an entity in your editor.'
complete -c mmem -n "__mmem_at '' 0" -k -a move -d 'Move entities to another category.'
complete -c mmem -n "__mmem_at '' 0" -k -a merge -d 'Make one of two entities: NAME gets all that OTHER has.'
complete -c mmem -n "__mmem_at '' 0" -k -a retype -d 'Give an entity another type.'
complete -c mmem -n "__mmem_at '' 0" -k -a rename -d 'Give an entity another name.'
complete -c mmem -n "__mmem_at '' 0" -k -a path -d 'Show a shortest path between two entities.'
complete -c mmem -n "__mmem_at '' 0" -k -a neighbors -d 'Show the entities around one.'
complete -c mmem -n "__mmem_at '' 0" -k -a delete-category -d 'Delete a category with everything in it.'
complete -c mmem -n "__mmem_at '' 0" -k -a list-categories -d 'List the categories.'
complete -c mmem -n "__mmem_at '' 0" -k -a open-nodes -d 'Show entities by name or id.'
complete -c mmem -n "__mmem_at '' 0" -k -a search-nodes -d 'Find entities by name, type, text or property.'
complete -c mmem -n "__mmem_at '' 0" -k -a read-graph -d 'Show the whole graph of a category.'
complete -c mmem -n "__mmem_at '' 0" -k -a delete-relations -d 'Delete relations between entities, or by id.'
complete -c mmem -n "__mmem_at '' 0" -k -a delete-observations -d 'Delete observations of an entity, or by id.'
complete -c mmem -n "__mmem_at '' 0" -k -a delete-entities -d 'Delete entities, with their observations and relations.'
complete -c mmem -n "__mmem_at '' 0" -k -a add-observations -d 'Add observations to an entity.'
complete -c mmem -n "__mmem_at '' 0" -k -a create-relations -d 'Relate entities to each other.'
complete -c mmem -n "__mmem_at '' 0" -k -a create-entities -d 'Create entities, with their observations.'

complete -c mmem -l base-dir -x -a '(__fish_complete_directories)' -d 'Where the categories lie'
complete -c mmem -s c -l category -x -k -a '(__mmem_names category)' -d 'The category to use'
complete -c mmem -s f -l format -x -a 'auto json jsonl toon yaml table' -d 'How to print'
complete -c mmem -l errors -x -a 'text json' -d 'How to print errors and notices'
complete -c mmem -l color -x -a 'auto always never' -d 'When to use colours'
complete -c mmem -l no-pager -d 'Don\'t show long output in a pager'
complete -c mmem -s q -l quiet -d 'Print no progress'
complete -c mmem -s h -l help -d 'Show this message and exit'
complete -c mmem -n "__mmem_in ''" -l version -d 'Show the version and exit'

complete -c mmem -n "__mmem_in create-entities" -s t -l type -x -k -a '(__mmem_names entity-type)' -d 'Type of the entities'
complete -c mmem -n "__mmem_in create-entities" -s o -l observation -x -d 'A plain observation'
complete -c mmem -n "__mmem_in create-entities" -s O -l typed-observation -x -k -a '(__mmem_names observation-type)' -d 'An observation with a type'
complete -c mmem -n "__mmem_in create-entities" -l source -x -k -a '(__mmem_names source)' -d 'Where the observations come from'
complete -c mmem -n "__mmem_in create-entities" -l timestamp -x -d 'When it was so'
complete -c mmem -n "__mmem_in create-entities" -s p -l property -x -d 'A property of the entities, as text or as JSON'
complete -c mmem -n "__mmem_in create-entities" -l override -d 'Replace the properties and observations of entities that exist'
complete -c mmem -n "__mmem_in create-entities" -l json -x -a '(__mmem_json)' -d 'The request as JSON'
complete -c mmem -n "__mmem_in create-relations" -l from-type -x -k -a '(__mmem_names entity-type)' -d 'Type of the entity FROM'
complete -c mmem -n "__mmem_in create-relations" -l to-type -x -k -a '(__mmem_names entity-type)' -d 'Type of the entity TO'
complete -c mmem -n "__mmem_in create-relations" -s p -l property -x -d 'A property of the relation, as text or as JSON'
complete -c mmem -n "__mmem_in create-relations" -l override -d 'Replace the properties of a relation that exists'
complete -c mmem -n "__mmem_in create-relations" -l json -x -a '(__mmem_json)' -d 'The request as JSON'
complete -c mmem -n "__mmem_in add-observations" -s t -l type -x -k -a '(__mmem_names entity-type)' -d 'Type of the entity'
complete -c mmem -n "__mmem_in add-observations" -s O -l typed-observation -x -k -a '(__mmem_names observation-type)' -d 'An observation with a type'
complete -c mmem -n "__mmem_in add-observations" -l source -x -k -a '(__mmem_names source)' -d 'Where the observations come from'
complete -c mmem -n "__mmem_in add-observations" -l timestamp -x -d 'When it was so'
complete -c mmem -n "__mmem_in add-observations" -s p -l property -x -d 'A property of the observations, as text or as JSON'
complete -c mmem -n "__mmem_in add-observations" -l override -d 'Replace observations of the same type and source'
complete -c mmem -n "__mmem_in add-observations" -l json -x -a '(__mmem_json)' -d 'The request as JSON'
complete -c mmem -n "__mmem_in delete-entities" -s t -l type -x -k -a '(__mmem_names entity-type)' -d 'Type of the entities'
complete -c mmem -n "__mmem_in delete-entities" -s y -l yes -d 'Don\'t ask'
complete -c mmem -n "__mmem_in delete-entities" -l json -x -a '(__mmem_json)' -d 'The request as JSON'
complete -c mmem -n "__mmem_in delete-observations" -s t -l type -x -k -a '(__mmem_names entity-type)' -d 'Type of the entity'
complete -c mmem -n "__mmem_in delete-observations" -s O -l observation-type -x -k -a '(__mmem_names observation-type)' -d 'Type of the observation'
complete -c mmem -n "__mmem_in delete-observations" -l source -x -k -a '(__mmem_names source)' -d 'Source of the observation'
complete -c mmem -n "__mmem_in delete-observations" -l id -x -k -a '(__mmem_names observation-id)' -d 'An observation by its own id'
complete -c mmem -n "__mmem_in delete-observations" -s y -l yes -d 'Don\'t ask'
complete -c mmem -n "__mmem_in delete-observations" -l json -x -a '(__mmem_json)' -d 'The request as JSON'
complete -c mmem -n "__mmem_in delete-relations" -l from-type -x -k -a '(__mmem_names entity-type)' -d 'Type of the entity FROM'
complete -c mmem -n "__mmem_in delete-relations" -l to-type -x -k -a '(__mmem_names entity-type)' -d 'Type of the entity TO'
complete -c mmem -n "__mmem_in delete-relations" -l id -x -k -a '(__mmem_names relation-id)' -d 'A relation by its own id'
complete -c mmem -n "__mmem_in delete-relations" -s y -l yes -d 'Don\'t ask'
complete -c mmem -n "__mmem_in delete-relations" -l json -x -a '(__mmem_json)' -d 'The request as JSON'
complete -c mmem -n "__mmem_in read-graph" -s n -l limit -x -d 'At most so many entities'
complete -c mmem -n "__mmem_in read-graph" -l offset -x -d 'Leave out the first N entities'
complete -c mmem -n "__mmem_in read-graph" -l names -d 'Print names alone'
complete -c mmem -n "__mmem_in read-graph" -s 0 -l print0 -d 'Print names alone, raw and each ended by a NUL, for xargs -0'
complete -c mmem -n "__mmem_in read-graph" -l json -x -a '(__mmem_json)' -d 'The request as JSON'
complete -c mmem -n "__mmem_in search-nodes" -s n -l limit -x -d 'At most so many entities'
complete -c mmem -n "__mmem_in search-nodes" -l offset -x -d 'Leave out the best N entities'
complete -c mmem -n "__mmem_in search-nodes" -s t -l type -x -k -a '(__mmem_names entity-type)' -d 'Only entities of this type'
complete -c mmem -n "__mmem_in search-nodes" -s O -l observation-type -x -k -a '(__mmem_names observation-type)' -d 'Only observations of this type'
complete -c mmem -n "__mmem_in search-nodes" -l source -x -k -a '(__mmem_names source)' -d 'Only observations from this source'
complete -c mmem -n "__mmem_in search-nodes" -l since -x -d 'Only observations from this time on'
complete -c mmem -n "__mmem_in search-nodes" -l until -x -d 'Only observations up to this time'
complete -c mmem -n "__mmem_in search-nodes" -s p -l property -x -d 'A property that the entity or the observation has, as text or as JSON'
complete -c mmem -n "__mmem_in search-nodes" -l relation -x -k -a '(__mmem_names relation-type)' -d 'Only entities with a relation of this type'
complete -c mmem -n "__mmem_in search-nodes" -l observations -x -a 'auto matched all' -d 'Which observations to show'
complete -c mmem -n "__mmem_in search-nodes" -l names -d 'Print names alone'
complete -c mmem -n "__mmem_in search-nodes" -s 0 -l print0 -d 'Print names alone, raw and each ended by a NUL, for xargs -0'
complete -c mmem -n "__mmem_in search-nodes" -l no-relations -d 'Leave out the relations'
complete -c mmem -n "__mmem_in search-nodes" -s a -l all-categories -d 'Search every category'
complete -c mmem -n "__mmem_in search-nodes" -s e -l exit-status -d 'Exit with 1 where nothing matched'
complete -c mmem -n "__mmem_in search-nodes" -s v -l verbose -d 'Show scores, on a terminal'
complete -c mmem -n "__mmem_in search-nodes" -l json -x -a '(__mmem_json)' -d 'The request as JSON'
complete -c mmem -n "__mmem_in open-nodes" -s t -l type -x -k -a '(__mmem_names entity-type)' -d 'Type of the entities'
complete -c mmem -n "__mmem_in open-nodes" -l related -d 'Show every relation that touches them'
complete -c mmem -n "__mmem_in open-nodes" -l names -d 'Print names alone'
complete -c mmem -n "__mmem_in open-nodes" -s 0 -l print0 -d 'Print names alone, raw and each ended by a NUL, for xargs -0'
complete -c mmem -n "__mmem_in open-nodes" -l json -x -a '(__mmem_json)' -d 'The request as JSON'
complete -c mmem -n "__mmem_in list-categories" -s v -l verbose -d 'Show what each holds, its size and its last change'
complete -c mmem -n "__mmem_in list-categories" -s 0 -l print0 -d 'Print names alone, raw and each ended by a NUL, for xargs -0'
complete -c mmem -n "__mmem_in list-categories" -l json -x -a '(__mmem_json)' -d 'The request as JSON'
complete -c mmem -n "__mmem_in delete-category" -s y -l yes -d 'Don\'t ask'
complete -c mmem -n "__mmem_in delete-category" -l json -x -a '(__mmem_json)' -d 'The request as JSON'
complete -c mmem -n "__mmem_in neighbors" -s t -l type -x -k -a '(__mmem_names entity-type)' -d 'Type of the entity'
complete -c mmem -n "__mmem_in neighbors" -l depth -x -d 'How many relations away, at most 10'
complete -c mmem -n "__mmem_in neighbors" -l relation -x -k -a '(__mmem_names relation-type)' -d 'Only along these'
complete -c mmem -n "__mmem_in neighbors" -l direction -x -a 'in out both' -d 'Which way they point'
complete -c mmem -n "__mmem_in neighbors" -s n -l limit -x -d 'At most so many entities'
complete -c mmem -n "__mmem_in neighbors" -l json -x -a '(__mmem_json)' -d 'The request as JSON'
complete -c mmem -n "__mmem_in path" -l from-type -x -k -a '(__mmem_names entity-type)' -d 'Type of the entity FROM'
complete -c mmem -n "__mmem_in path" -l to-type -x -k -a '(__mmem_names entity-type)' -d 'Type of the entity TO'
complete -c mmem -n "__mmem_in path" -l directed -d 'Follow relations only the way that they point'
complete -c mmem -n "__mmem_in path" -l relation -x -k -a '(__mmem_names relation-type)' -d 'Only along these'
complete -c mmem -n "__mmem_in path" -l max -x -d 'At most so many relations'
complete -c mmem -n "__mmem_in path" -l json -x -a '(__mmem_json)' -d 'The request as JSON'
complete -c mmem -n "__mmem_in rename" -s t -l type -x -k -a '(__mmem_names entity-type)' -d 'Type of the entity'
complete -c mmem -n "__mmem_in rename" -l json -x -a '(__mmem_json)' -d 'The request as JSON'
complete -c mmem -n "__mmem_in retype" -s t -l type -x -k -a '(__mmem_names entity-type)' -d 'Type that the entity has now'
complete -c mmem -n "__mmem_in retype" -l json -x -a '(__mmem_json)' -d 'The request as JSON'
complete -c mmem -n "__mmem_in merge" -s t -l type -x -k -a '(__mmem_names entity-type)' -d 'Type of the entity NAME'
complete -c mmem -n "__mmem_in merge" -l other-type -x -k -a '(__mmem_names entity-type)' -d 'Type of the entity OTHER'
complete -c mmem -n "__mmem_in merge" -s y -l yes -d 'Don\'t ask'
complete -c mmem -n "__mmem_in merge" -l json -x -a '(__mmem_json)' -d 'The request as JSON'
complete -c mmem -n "__mmem_in move" -l to -x -k -a '(__mmem_names category)' -d 'The category that they go to'
complete -c mmem -n "__mmem_in move" -s t -l type -x -k -a '(__mmem_names entity-type)' -d 'Type of the entities'
complete -c mmem -n "__mmem_in move" -l drop-relations -d 'Drop the relations to entities that stay'
complete -c mmem -n "__mmem_in move" -l json -x -a '(__mmem_json)' -d 'The request as JSON'
complete -c mmem -n "__mmem_in edit" -s t -l type -x -k -a '(__mmem_names entity-type)' -d 'Type of the entity'
complete -c mmem -n "__mmem_in batch" -l stop-on-error -d 'After a failure, skip the rest'
complete -c mmem -n "__mmem_in batch" -l atomic -d 'Store all of it, or nothing where one request fails'
complete -c mmem -n "__mmem_in batch" -l dry-run -d 'Answer, and store nothing'
complete -c mmem -n "__mmem_in batch" -l errors-only -d 'Print only the responses to requests that failed'
complete -c mmem -n "__mmem_in batch" -l summary -d 'Print a summary as the last line'
complete -c mmem -n "__mmem_in batch" -l durable -x -a 'full normal' -d 'Whether an answered request outlives a power cut (full), or only a crash (normal, faster)'
complete -c mmem -n "__mmem_in serve" -l dialect -x -a 'multi-memory server-memory' -d 'The eleven tools of multi-memory-mcp, or the nine of the reference server, with one category'
complete -c mmem -n "__mmem_in serve" -l read-only -d 'List no tool that changes something, and refuse it'
complete -c mmem -n "__mmem_in serve" -l tools -x -a 'eleven all' -d 'With all, what reads the graph in other ways comes along'
complete -c mmem -n "__mmem_in serve" -l pin -x -k -a '(__mmem_names category)' -d 'Serve this category alone'
complete -c mmem -n "__mmem_in serve" -l max-bytes -x -d 'Cut a result that is larger, where an entity ends'
complete -c mmem -n "__mmem_in config" -l name -x -d 'What to call the entry'
complete -c mmem -n "__mmem_in config" -l project -d 'Use the file of the project in this folder'
complete -c mmem -n "__mmem_in config" -l dialect -x -a 'multi-memory server-memory' -d 'Whose tools'
complete -c mmem -n "__mmem_in config" -l pin -x -k -a '(__mmem_names category)' -d 'Serve this category alone'
complete -c mmem -n "__mmem_in config" -l read-only -d 'Serve only the tools that read'
complete -c mmem -n "__mmem_in config" -l write -d 'Write the entry into the host\'s file, after asking'
complete -c mmem -n "__mmem_in config" -s y -l yes -d 'Don\'t ask'
complete -c mmem -n "__mmem_in completions" -l install -d 'Put the script where the shell looks for it'
complete -c mmem -n "__mmem_in seed" -l override -d 'Make properties and observations of the files\' entities what the files say'
complete -c mmem -n "__mmem_in seed" -l dry-run -d 'Show what would change, and write nothing'
complete -c mmem -n "__mmem_in seed" -l check -d 'Write nothing'
complete -c mmem -n "__mmem_in import" -l keep-going -d 'Import what is sound, and put the rest into PATH.rejects.jsonl'
complete -c mmem -n "__mmem_in import" -l strict -d 'Take what would be repaired for an error'
complete -c mmem -n "__mmem_in import" -l missing-end -x -a 'placeholder error' -d 'What a relation to an entity that isn\'t there is'
complete -c mmem -n "__mmem_in import" -l encoding -x -d 'The files\' encoding, such as cp1252'
complete -c mmem -n "__mmem_in import" -l dry-run -d 'Say what would be done, and store nothing'
complete -c mmem -n "__mmem_in export" -l to -x -a 'jsonl memory-jsonl json yaml toon markdown csv dot mermaid graphml html' -d 'The format'
complete -c mmem -n "__mmem_in export" -s o -l output -r -F -d 'Where to'
complete -c mmem -n "__mmem_in export" -s t -l type -x -k -a '(__mmem_names entity-type)' -d 'Only entities of this type'
complete -c mmem -n "__mmem_in export" -l around -x -k -a '(__mmem_names entity)' -d 'Only this entity and those near it'
complete -c mmem -n "__mmem_in export" -l depth -x -d 'Near is so many relations away'
complete -c mmem -n "__mmem_in export" -s a -l all-categories -d 'Export every category'
complete -c mmem -n "__mmem_in stats" -s n -l limit -x -d 'Rows of each list'
complete -c mmem -n "__mmem_in view" -s o -l output -r -F -d 'Write the page there'
complete -c mmem -n "__mmem_in view" -l open -d 'Open the page in your browser'
complete -c mmem -n "__mmem_in view" -l around -x -k -a '(__mmem_names entity)' -d 'Only what is around an entity'
complete -c mmem -n "__mmem_in view" -l depth -x -d 'With --around'
complete -c mmem -n "__mmem_in backup" -s a -l all-categories -l all -d 'Back up every category, a file each'
complete -c mmem -n "__mmem_in backup" -s o -l output -r -F -d 'Where to'
complete -c mmem -n "__mmem_in backup" -s y -l yes -d 'Replace FILE without asking'
complete -c mmem -n "__mmem_in restore" -s y -l yes -d 'Don\'t ask before a category is replaced'
complete -c mmem -n "__mmem_in reindex" -s a -l all -d 'Do it to every category'
complete -c mmem -n "__mmem_in purge" -s a -l all -d 'Do it to every category'
complete -c mmem -n "__mmem_in doctor" -l fix -d 'Mend what is safe to mend, and say what was done'
complete -c mmem -n "__mmem_in doctor" -l thorough -d 'Compare every index with its rows'

complete -c mmem -n "__mmem_at create-relations 0" -x -k -a '(__mmem_names entity)'
complete -c mmem -n "__mmem_at create-relations 1" -x -k -a '(__mmem_names relation-type)'
complete -c mmem -n "__mmem_at create-relations 2" -x -k -a '(__mmem_names entity)'
complete -c mmem -n "__mmem_at add-observations 0" -x -k -a '(__mmem_names entity)'
complete -c mmem -n "__mmem_after delete-entities 0" -x -k -a '(__mmem_names entity)'
complete -c mmem -n "__mmem_at delete-observations 0" -x -k -a '(__mmem_names entity)'
complete -c mmem -n "__mmem_at delete-relations 0" -x -k -a '(__mmem_names entity)'
complete -c mmem -n "__mmem_at delete-relations 1" -x -k -a '(__mmem_names relation-type)'
complete -c mmem -n "__mmem_at delete-relations 2" -x -k -a '(__mmem_names entity)'
complete -c mmem -n "__mmem_after open-nodes 0" -x -k -a '(__mmem_names entity)'
complete -c mmem -n "__mmem_at delete-category 0" -x -k -a '(__mmem_names category)'
complete -c mmem -n "__mmem_at neighbors 0" -x -k -a '(__mmem_names entity)'
complete -c mmem -n "__mmem_at path 0" -x -k -a '(__mmem_names entity)'
complete -c mmem -n "__mmem_at path 1" -x -k -a '(__mmem_names entity)'
complete -c mmem -n "__mmem_at rename 0" -x -k -a '(__mmem_names entity)'
complete -c mmem -n "__mmem_at retype 0" -x -k -a '(__mmem_names entity)'
complete -c mmem -n "__mmem_at retype 1" -x -k -a '(__mmem_names entity-type)'
complete -c mmem -n "__mmem_at merge 0" -x -k -a '(__mmem_names entity)'
complete -c mmem -n "__mmem_at merge 1" -x -k -a '(__mmem_names entity)'
complete -c mmem -n "__mmem_after move 0" -x -k -a '(__mmem_names entity)'
complete -c mmem -n "__mmem_at edit 0" -x -k -a '(__mmem_names entity)'
complete -c mmem -n "__mmem_at batch 0" -F
complete -c mmem -n "__mmem_at config 0" -a 'claude-desktop claude-code cursor vscode'
complete -c mmem -n "__mmem_at completions 0" -a 'bash zsh fish'
complete -c mmem -n "__mmem_after seed 0" -F -a 'demo household recall research'
complete -c mmem -n "__mmem_after import 0" -F
complete -c mmem -n "__mmem_after restore 0" -F
complete -c mmem -n "__mmem_after help 0" -a 'create-entities create-relations add-observations delete-entities delete-observations delete-relations read-graph search-nodes open-nodes list-categories delete-category neighbors path rename retype merge move edit batch serve config completions seed import export stats view backup restore reindex purge doctor help man'
complete -c mmem -n "__mmem_after man 0" -a 'create-entities create-relations add-observations delete-entities delete-observations delete-relations read-graph search-nodes open-nodes list-categories delete-category neighbors path rename retype merge move edit batch serve config completions seed import export stats view backup restore reindex purge doctor help man'
