# What the scenarios assert with. A failed assertion says what was wanted and what came.

# expect WANTED COMMAND...: what the command prints is just that.
expect() {
    wanted=$1
    shift
    if ! came=$("$@"); then
        echo "failed: $*" >&2
        exit 1
    fi
    if [ "$came" != "$wanted" ]; then
        printf '%s\nwanted: %s\ncame:   %s\n' "$*" "$wanted" "$came" >&2
        exit 1
    fi
}

# refuses STATUS TEXT COMMAND...: the command exits with that status and says that text on standard error.
refuses() {
    wanted=$1 text=$2
    shift 2
    status=0
    said=$("$@" 2>&1 >/dev/null) || status=$?
    case "$status $said" in
    "$wanted "*"$text"*) ;;
    *)
        printf '%s\nwanted: %s, %s\ncame:   %s, %s\n' "$*" "$wanted" "$text" "$status" "$said" >&2
        exit 1
        ;;
    esac
}

# count [OPTION...]: how many entities a category has.
count() {
    mmem read-graph -f jsonl "$@" | grep -c '^{"type":"entity"' || true
}
