#!/bin/bash
# Contexts are kept apart: what is noted at work is never found at home.
set -euo pipefail

mmem -c work create-entities "Dana Reed" -t person -o "Leads the Atlas project" > /dev/null
mmem create-entities Atlas -t project -O status "In review" -c work > /dev/null
mmem create-relations "Dana Reed" leads Atlas --category work > /dev/null
mmem create-entities "Dana Reed" -t neighbour -o "Has a spare key" -c personal > /dev/null
for topic in "Spaced repetition" "Modal verbs"; do
    mmem create-entities "$topic" -t topic -c learning > /dev/null
done

test "$(mmem list-categories | jq -c .)" = '["learning","personal","work"]'
test "$(mmem search-nodes dana -c work | jq -r '.entities[].entityType')" = person
test "$(mmem search-nodes dana -c personal | jq -r '.entities[].entityType')" = neighbour
test "$(mmem search-nodes atlas -c personal | jq '.entities | length')" = 0
test "$(mmem read-graph -c learning | jq '.entities | length')" = 2

# The same entity by name in two categories; a request's own category decides.
test "$(mmem open-nodes --json '{"category": "work", "entities": [{"name": "Dana Reed"}]}' | jq -r '.relations | length')" = 0
test "$(DEFAULT_CATEGORY=personal mmem open-nodes "Dana Reed" | jq -r '.entities[0].observations[0].text')" = "Has a spare key"

# A mistyped category isn't created by reading it.
test "$(mmem read-graph -c wrok 2> notice.txt | jq -c .)" = '{"entities":[],"relations":[]}'
grep -q "did you mean 'work'" notice.txt
test ! -e .aim/wrok.db

# One context goes; the others stay.
if mmem delete-category personal < /dev/null > /dev/null 2> refused.txt; then exit 1; else test $? = 2; fi
mmem delete-category personal --yes > /dev/null
test "$(mmem list-categories | jq -c .)" = '["learning","work"]'
test "$(mmem search-nodes leads -c work | jq -r '.relations[].to')" = Atlas
