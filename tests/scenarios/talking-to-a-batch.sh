#!/usr/bin/env bash
# A shell script that keeps one mmem running beside it and asks it, request by request, as it goes.
# needs: jq
set -eu
. "$SCENARIOS/lib/expect.sh"

coproc memory { mmem batch; }
talking=$memory_PID

ask() {
    printf '%s\n' "$1" >&"${memory[1]}"
    IFS= read -r -t 30 answer <&"${memory[0]}"
}

ask '{"id": "a", "tool": "create_entities", "arguments": {"entities": [{"name": "Kettle"}]}}'
expect '["a",true,"Kettle"]' jq -c '[.id, .ok, .result[0].name]' <<<"$answer"

# It is stored once it is answered: another process sees it.
expect 1 count

# What one answer gives is used in the next request.
id=$(jq -r '.result[0].id' <<<"$answer")
request=$(jq -cn --arg id "$id" '{tool: "add_observations", arguments: {observations: [{entityId: $id, contents: ["Boils"]}]}}')
ask "$request"
expect true jq .ok <<<"$answer"

# A wrong request is answered like any other, and the talk goes on.
ask 'this is no JSON'
expect '[false,"invalid_json",3]' jq -c '[.ok, .error.code, .line]' <<<"$answer"
ask '{"tool": "search_nodes", "arguments": {"query": "boils", "names": true}}'
expect '["Kettle"]' jq -c .result <<<"$answer"

# Closing its input ends it; one request failed, so its status is 1.
exec {memory[1]}>&-
status=0
wait "$talking" || status=$?
expect 1 echo "$status"
