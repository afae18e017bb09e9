#!/bin/sh
# Two scripts write to one category at the same time, a third reads all along. Nothing is lost or seen by halves.
set -eu
. "$SCENARIOS/lib/expect.sh"

writer() {
    number=1
    while [ "$number" -le 200 ]; do
        echo "{\"tool\": \"create_entities\", \"arguments\": {\"entities\": [{\"name\": \"$1 $number\"}, {\"name\": \"$1 $number twin\"}]}}"
        number=$((number + 1))
    done | mmem batch --errors-only
}

writer left &
left=$!
writer right &
right=$!
looks=0
while kill -0 "$left" 2>/dev/null || kill -0 "$right" 2>/dev/null; do
    seen=$(count)
    [ $((seen % 2)) -eq 0 ] # an entity and its twin come together
    looks=$((looks + 1))
done
wait "$left"
wait "$right"
[ "$looks" -gt 0 ]
expect 800 count

# Single commands in turns do as well, and so does the search index.
for number in 1 2 3; do
    mmem create-entities "left again $number" >/dev/null &
    mmem create-entities "right again $number" >/dev/null &
    wait
done
expect 806 count
expect 6 sh -c 'mmem search-nodes again --names -f jsonl | grep -c .'
mmem doctor -c default --thorough >/dev/null
