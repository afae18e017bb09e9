#!/bin/sh
# Somebody has used the reference server for a year. Its file has a torn line, and goes over without a loss.
set -eu
. "$SCENARIOS/lib/expect.sh"

cat >memory.jsonl <<'JSONL'
{"type":"entity","name":"Maren","entityType":"person","observations":["Lives in Bergen","Plays the oboe"]}
{"type":"entity","name":"Bergen","entityType":"city","observations":["Rains a lot"]}
{"type":"entity","name":"Orchestra","entityType":"group","observa
{"type":"relation","from":"Maren","to":"Bergen","relationType":"lives_in"}
{"type":"relation","from":"Maren","to":"Orchestra","relationType":"plays_in"}
JSONL
cp memory.jsonl before.jsonl

# Whole or not at all: the line is named, and nothing is stored.
refuses 2 "memory.jsonl:3:" mmem import memory.jsonl -c home
expect 0 count -c home

# What is sound goes in, what isn't stands beside the file, byte for byte.
refuses 1 "kept aside" mmem import memory.jsonl -c home --keep-going
expect "$(sed -n 3p before.jsonl)" cat memory.jsonl.rejects.jsonl
cmp memory.jsonl before.jsonl # it is only read
expect '["Maren"]' sh -c 'mmem search-nodes oboe -c home --names | jq -c .'
expect '["lives_in","plays_in"]' sh -c 'mmem read-graph -c home | jq -c "[.relations[].relationType] | sort"'

# The orchestra is known by a relation alone; its line is mended and comes in later, and a second time adds nothing.
echo '{"type":"entity","name":"Orchestra","entityType":"","observations":["Rehearses on Mondays"]}' >mended.jsonl
mmem import mended.jsonl -c home >/dev/null 2>&1
expect '["Orchestra"]' sh -c 'mmem search-nodes rehearses mondays -c home --names | jq -c .'
mmem read-graph -c home >once.json
mmem import mended.jsonl -c home >/dev/null 2>&1
mmem read-graph -c home | cmp - once.json

# And back, for a colleague who stays with the other server.
mmem export -c home --to memory-jsonl -o back.jsonl >/dev/null 2>&1
expect 5 grep -c . back.jsonl
grep -q '"name":"Maren","entityType":"person","observations":\["Lives in Bergen","Plays the oboe"\]' back.jsonl
