#!/bin/sh
# The memory's text is kept in git: one record a line, so that a diff shows what was learnt, and it comes back whole.
# needs: git
set -eu
. "$SCENARIOS/lib/expect.sh"

export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@example.org
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null

git init -q notes
printf '.aim/\n' >notes/.gitignore
cd notes
mmem seed -q household >/dev/null

save() {
    mmem export -c household -o household.jsonl >/dev/null
    git add .gitignore household.jsonl
    git commit -q -m "$1"
}

save "What we know"
mmem create-entities Bicycle -t thing -o "Green" -c household >/dev/null
save "A bicycle"
expect "1	0	household.jsonl" git diff --numstat HEAD~1

# Nothing new, nothing to commit: the text is the same byte for byte.
mmem export -c household -o household.jsonl >/dev/null
expect "" git status --porcelain

mmem delete-entities Bicycle --type thing -c household --yes >/dev/null
save "It was stolen"
git diff HEAD~1 | grep -q '^-.*Bicycle'

# The text of any day makes a memory again.
git show HEAD~1:household.jsonl >then.jsonl
mmem import then.jsonl -c then >/dev/null
expect '["Bicycle"]' sh -c 'mmem search-nodes green bicycle -c then --type thing --names | jq -c .'
git clone -q . ../copy
cd ../copy
mmem import household.jsonl -c household >/dev/null
mmem export -c household -o again.jsonl >/dev/null
expect "$(grep -c . household.jsonl)" grep -c . again.jsonl
