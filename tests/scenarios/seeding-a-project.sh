#!/bin/sh
# A new project begins with what everybody in it should know, written down once in YAML and grown later.
set -eu
. "$SCENARIOS/lib/expect.sh"

cat >team.yaml <<'YAML'
category: project
entities:
  Storefront:
    type: service
    observations:
      - Takes orders by web and phone
      - version: "3.2"
  Postgres:
    type: database
    observations:
      - Holds orders and customers
  Ingrid:
    type: person
    observations:
      - Knows the order schema by heart
relations:
  - Storefront reads_from Postgres
  - Ingrid maintains Postgres
YAML

refuses 1 "" mmem seed --check team.yaml # it isn't in yet
[ ! -e .aim ]
mmem seed -q team.yaml >/dev/null
mmem seed --check team.yaml >/dev/null
expect 3 count -c project

# Who is to be asked about orders?
expect '["Postgres","Storefront","Ingrid"]' sh -c 'mmem search-nodes orders -c project --names 2>/dev/null |
    jq -c "sort_by({Postgres: 1, Storefront: 2, Ingrid: 3}[.])"'
expect '["Ingrid"]' sh -c 'mmem search-nodes orders schema -c project --type person --names | jq -c .'

# A second time it adds nothing; a grown file adds what is lacking.
mmem read-graph -c project >before.json
mmem seed -q team.yaml >/dev/null
mmem read-graph -c project | cmp - before.json
sed 's/^relations:/  Redis: {type: cache}\nrelations:\n  - Storefront caches_in Redis/' team.yaml >grown.yaml
mmem seed -q grown.yaml >/dev/null
expect 4 count -c project

# A relation to what isn't there stores nothing of the file.
printf 'category: project\nentities: {New: {}}\nrelations: [New uses Redsi]\n' >wrong.yaml
refuses 3 Redsi mmem seed wrong.yaml
expect 4 count -c project
