#!/bin/sh
# What cron runs every night: each category backed up, the newest three of each kept, and a test that they are good.
set -eu
. "$SCENARIOS/lib/expect.sh"

mmem create-entities "Night shift" -c home -o "Begins at ten" >/dev/null
mmem create-entities Invoice -c work -o "Due in March" >/dev/null

cat >nightly <<'SCRIPT'
#!/bin/sh
set -eu
mmem backup --all-categories --quiet -o backups >/dev/null
for category in $(mmem list-categories -f json | tr -d '[]",'); do
    # Their names sort by time.
    ls backups/"$category"-[0-9]*.db | sort -r | tail -n +4 | while IFS= read -r old; do rm -- "$old"; done
done
SCRIPT
chmod +x nightly

# Five nights, of which the first four are made older by their names.
for day in 1 2 3 4; do
    ./nightly
    for file in backups/*Z.db; do
        case $file in *-2001-*) continue ;; esac
        mv "$file" "${file%-20??-*}-2001-01-0${day}T03-00-00Z.db"
    done
done
mmem add-observations Invoice "Paid" -c work >/dev/null
./nightly
expect 3 sh -c 'ls backups/work-*.db | wc -l | tr -d " "'
expect 3 sh -c 'ls backups/home-*.db | wc -l | tr -d " "'
[ ! -e backups/work-2001-01-02T03-00-00Z.db ]

# A backup that nobody has brought back is only a hope: the newest of each, into another place.
mmem restore backups --base-dir rehearsal >/dev/null
for category in home work; do
    mmem read-graph -c "$category" >"$category.json"
    mmem read-graph -c "$category" --base-dir rehearsal | cmp - "$category.json"
done

# A torn backup is told from a good one.
newest=$(ls backups/work-*.db | sort | tail -n 1)
head -c 20000 "$newest" >torn.db
refuses 5 damaged mmem restore torn.db -c work --yes
