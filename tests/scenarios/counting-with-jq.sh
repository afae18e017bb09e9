#!/bin/sh
# Questions that jq answers of a graph, and answers that go back into it through a batch.
# needs: jq
set -eu
. "$SCENARIOS/lib/expect.sh"

mmem seed -q demo -c demo >/dev/null

# How many of each type, as a table for a report.
mmem read-graph -c demo | jq -r '.entities | group_by(.entityType)[] | "\(.[0].entityType)\t\(length)"' >types.tsv
expect "$(count -c demo)" awk '{ sum += $NF } END { print sum }' types.tsv

# Whoever has the most relations is marked, each in a request of its own.
mmem read-graph -c demo | jq -c '
    .entities as $all
    | [.relations[] | .fromId, .toId] | group_by(.) | map({id: .[0], degree: length})
    | sort_by(-.degree, .id) | .[:3][]
    | {tool: "add_observations", arguments: {category: "demo", observations: [
        {entityId: .id, contents: [{observationType: "degree", text: (.degree | tostring), source: "jq"}]}]}}
' >requests.jsonl
expect 3 grep -c . requests.jsonl
mmem batch <requests.jsonl >responses.jsonl
expect true jq -s 'all(.ok)' responses.jsonl
expect 3 sh -c 'mmem read-graph -c demo | jq "[.entities[].observations[] | select(.source == \"jq\")] | length"'

# The same requests again store nothing twice, and say so.
mmem batch <requests.jsonl | jq -s '[.[].notices[].code] | unique' | grep -q skipped

# Errors are data as well.
mmem open-nodes Nobody -c demo --errors json 2>error.json >/dev/null || [ $? -eq 3 ]
expect '"not_found"' jq .code error.json
