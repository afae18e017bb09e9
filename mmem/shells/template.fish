# Completion of mmem for fish. Generated from the commands: python -m mmem.shells.generate

# Print how many words an option takes.
function __mmem_takes # COMMAND OPTION
    switch "$argv[1]:$argv[2]"
@TAKES@
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
@COMMANDS@

@SHARED@

@OPTIONS@

@ARGUMENTS@
