#!/bin/sh
# Somebody deletes too much. The backup of before brings it back, and what was written meanwhile isn't lost either.
set -eu
. "$SCENARIOS/lib/expect.sh"

for name in Asta Birk Clara; do
    mmem create-entities "$name" -t person -o "Was there from the beginning" -c family >/dev/null
done
mmem create-relations Asta mother_of Birk -c family >/dev/null
mmem backup -c family -o family.db >/dev/null
mmem read-graph -c family >before.json

mmem create-entities Dagny -t person -c family >/dev/null
refuses 2 --yes mmem delete-entities Asta Birk --type person -c family
mmem delete-entities Asta Birk --type person -c family --yes >/dev/null
expect 2 count -c family

# A restore replaces what is there only when it is told to, and keeps that.
refuses 2 --yes mmem restore family.db
mmem restore family.db --yes >/dev/null
mmem read-graph -c family | cmp - before.json
kept=$(ls .aim/replaced/family-*.db)

# Dagny came after the backup. She is in what was kept, and comes over from there.
mmem restore "$kept" -c meanwhile >/dev/null
mmem export -c meanwhile --type person -o meanwhile.jsonl >/dev/null 2>&1
grep '"name":"Dagny"' meanwhile.jsonl >dagny.jsonl
mmem import dagny.jsonl -c family >/dev/null 2>&1
expect 4 count -c family

# A whole category that was deleted comes back in the same way.
mmem delete-category family --yes >/dev/null
refuses 3 "no category 'family'" mmem backup -c family
mmem restore family.db >/dev/null
mmem read-graph -c family | cmp - before.json
