#!/bin/bash
# A script keeps track of which module of a backend depends on which, in words and in JSON.
set -euo pipefail
export DEFAULT_CATEGORY=backend-service

mmem create-entities --json - > created.json <<'JSON'
{"entities": [
  {"name": "AuthModule", "entityType": "module", "observations": [{"text": "Exports login, logout", "source": "code-analysis"}]},
  {"name": "UserModule", "entityType": "module", "observations": [{"text": "User CRUD operations", "source": "documentation"}]},
  {"name": "Database", "entityType": "library", "observations": [{"text": "PostgreSQL client"}]}
]}
JSON
test "$(jq length created.json)" = 3

mmem create-relations --json '[
  {"from": {"name": "AuthModule", "type": "module"}, "to": {"name": "UserModule", "type": "module"}, "relationType": "imports"},
  {"from": {"name": "AuthModule", "type": "module"}, "to": {"name": "Database", "type": "library"}, "relationType": "uses"}
]' > /dev/null

# What does AuthModule depend on?
mmem search-nodes AuthModule > found.json
test "$(jq -r '.entities[0].name' found.json)" = AuthModule
test "$(jq -r '.relations[] | select(.from == "AuthModule") | "\(.relationType) \(.to)"' found.json | sort | paste -sd, -)" = "imports UserModule,uses Database"

# Who uses the database?
users=$(mmem open-nodes Database --json '{"entities": ["Database"], "related": true}' 2> refused.txt) && exit 1
test "$(cat refused.txt)" != ""
users=$(mmem open-nodes Database --related | jq -r '.relations[] | select(.to == "Database").from')
test "$users" = AuthModule

# A new version of a note, the old one replaced; then the module is removed from the code.
id=$(jq -r '.[] | select(.name == "UserModule").id' created.json)
mmem add-observations "id:$id" "User CRUD operations, soft deletes" --source documentation --override > /dev/null 2> notices.txt
grep -q replaced notices.txt
test "$(mmem open-nodes "id:$id" | jq -r '.entities[0].observations | length')" = 1
mmem delete-entities UserModule -t module --yes > /dev/null
test "$(mmem search-nodes CRUD | jq '.entities | length')" = 0
test "$(mmem read-graph | jq '.relations | length')" = 1
if mmem open-nodes UserModule -t module > /dev/null 2>&1; then exit 1; else test $? = 3; fi
test "$(mmem list-categories -f jsonl)" = '"backend-service"'
