#!/bin/sh
# A git hook that has the project's memory know what was changed, by whom and where.
# needs: git
set -eu
. "$SCENARIOS/lib/expect.sh"

export GIT_AUTHOR_NAME="Åse Lund" GIT_AUTHOR_EMAIL=ase@example.org
export GIT_COMMITTER_NAME=$GIT_AUTHOR_NAME GIT_COMMITTER_EMAIL=$GIT_AUTHOR_EMAIL
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
export MEMORY_BASE_DIR="$PWD/memory" DEFAULT_CATEGORY=commits

git init -q shop
cat >shop/.git/hooks/post-commit <<'HOOK'
#!/bin/sh
# One entity a commit, with its message, and a relation to who wrote it. A commit never fails because of it.
set -eu
commit=$(git rev-parse --short HEAD)
author=$(git log -1 --format=%an)
{
    mmem create-entities "$author" -t person
    mmem create-entities "$commit" -t commit -p branch="$(git branch --show-current)"
    git log -1 --format=%B | mmem add-observations "$commit" --source git -
    mmem create-relations "$author" wrote "$commit"
} >/dev/null 2>>.git/memory.log || true
HOOK
chmod +x shop/.git/hooks/post-commit

cd shop
git checkout -q -b main
echo 1 >price && git add price && git commit -q -m 'Raise the price of "Kaffe & Té"' -m '$(rm -rf /) is only text'
echo 2 >price && git commit -q -a -m "Take the raise back"
first=$(git rev-parse --short HEAD~1)

expect "[\"$first\"]" sh -c 'mmem search-nodes kaffe --type commit --names | jq -c .'
expect 3 count
expect 2 sh -c 'mmem open-nodes "Åse Lund" --related -f jsonl | grep -c "\"relationType\":\"wrote\""'
mmem open-nodes "$first" | grep -qF '$(rm -rf /) is only text'

# With a memory that can't be used, the commit is made all the same, and the log says why there is no note.
echo 3 >price && MEMORY_BASE_DIR=/dev/null git commit -q -a -m "Try again"
expect "Try again" git log -1 --format=%s
grep -q '^mmem: /dev/null' .git/memory.log
