#!/bin/sh
# Names of every kind go through xargs unharmed: spaces, quotes, dashes, stars and line ends.
# needs: jq
set -eu
. "$SCENARIOS/lib/expect.sh"

printf '%s\n' 'Plain' 'Two words' "O'Brien" 'say "hi"' '-rf' '*' '$HOME' 'back\slash' '日本 語' 'name: colon' 'id:7' |
    jq -R '{name: ., entityType: "odd"}' | jq -s '{entities: .}' | mmem create-entities --json - >/dev/null
mmem create-entities --json '[{"name": "two\nlines", "entityType": "odd"}, {"name": "Other"}]' >/dev/null

# A request's JSON is safest: each name becomes a reference.
mmem read-graph | jq -j '.entities[] | select(.entityType == "odd") | {name, entityType} | tojson + "\u0000"' |
    xargs -0 -n 5 sh -c 'printf "%s\n" "$@" | jq -s "{entities: .}" | mmem open-nodes --json - -f jsonl' sh >opened.jsonl
expect 12 grep -c . opened.jsonl

# As words, with name: before each, so that none is taken for an id, and -- before them all.
mmem read-graph | jq -j '.entities[] | select(.entityType == "odd") | "name:" + .name + "\u0000"' |
    xargs -0 mmem delete-entities --type odd --yes -- >/dev/null
expect '["Other"]' sh -c 'mmem read-graph | jq -c "[.entities[].name]"'
