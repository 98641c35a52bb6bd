#!/usr/bin/env bash
# A study's PostgreSQL, from a folder with postgresql.conf, pg_hba.conf, schema.sql, data.sql and, in `name`, what its database and its
# role are called. `postgresql.sh FOLDER template` makes a cluster with the data set, once; `postgresql.sh FOLDER serve PORT [OPTION...]`
# copies it and runs the copy on 127.0.0.1:PORT until it is ended, then deletes it; `postgresql.sh FOLDER ask PORT FILE` prints what that
# one answers to the queries in FILE of the folder. No cluster of the system's is touched.
set -euo pipefail

fail() { echo "postgresql.sh: $*" >&2; exit 1; }

usage="usage: postgresql.sh FOLDER template | serve PORT [OPTION...] | ask PORT FILE"
[ $# -ge 2 ] || fail "$usage"
self=$(cd "$(dirname "$0")" && pwd)/$(basename "$0")
folder=$(cd "$1" && pwd)
name=$(cat "$folder/name")
shift
# Not in a home folder: PostgreSQL refuses to run as root, and root's home is closed to others.
place=/var/tmp/bakeoff-postgresql-$(id -u)

# Debian keeps the server's programs off the PATH.
postgres=$(command -v postgres || ls -d /usr/lib/postgresql/*/bin/postgres 2>/dev/null | sort -V | tail -n 1) || true
[ -n "$postgres" ] || fail "PostgreSQL's server is not installed. Install it with: make setup-studies (or apt-get install postgresql)"
bin=$(dirname "$(readlink -f "$postgres")")

as_owner=()
if [ "$(id -u)" -eq 0 ]; then
    id postgres >/dev/null 2>&1 || fail "root needs a user named postgres to run PostgreSQL as; or run the study as another user"
    as_owner=(setpriv --reuid=postgres --regid=postgres --init-groups --)
fi

mkdir -p -m 711 "$place"
[ -O "$place" ] && [ ! -L "$place" ] || fail "$place is not ours; remove it"
cd "$place" # a folder that the owner may enter

# What it is made of names the template: a change makes another one.
template=$place/$name-$({ cat "$self" "$folder"/*; "$postgres" --version; } | sha256sum | cut -c 1-12)

new_folder() { # PREFIX: a new folder of the owner's
    local new
    new=$(mktemp -d "$place/$1-XXXXXX")
    [ ${#as_owner[@]} -eq 0 ] || chown postgres: "$new"
    echo "$new"
}

# Nobody copies a template while it is made. Taken by subshells alone, which give it back as they end.
lock() { exec 9>"$place/lock" && flock 9; }

make_template() {
    if [ -d "$template" ]; then touch "$template"; return; fi
    local data
    data=$(new_folder unfinished)
    trap "rm -rf '$data'" EXIT
    "${as_owner[@]}" "$bin/initdb" -D "$data" --username=postgres --auth=reject --encoding=UTF8 --locale=C --no-sync
    for file in postgresql.conf pg_hba.conf; do "${as_owner[@]}" tee "$data/$file" <"$folder/$file" >/dev/null; done
    # Single-user mode: nobody else can connect meanwhile, by no port and no socket.
    single() { "${as_owner[@]}" "$postgres" --single -j -D "$data" -c exit_on_error=on "$1" >&2; }
    single postgres <<<"create database $name;"
    cat "$folder/schema.sql" "$folder/data.sql" | single "$name"
    mv "$data" "$template"
    # Those of other versions of this folder, and what a killed run left, unless it was used within a day.
    find "$place" -mindepth 1 -maxdepth 1 -name '*-*' -mmin +1440 -exec rm -rf {} +
}

serve() { # PORT [OPTION...]
    local port=$1 status=0
    shift
    data=$(new_folder trial)
    trap 'rm -rf "$data"' EXIT
    (lock; make_template; cp -a --reflink=auto "$template/." "$data")
    "${as_owner[@]}" "$postgres" -D "$data" -p "$port" "$@" &
    server=$!
    # A fast shutdown, whoever is still connected.
    trap 'kill -INT $server 2>/dev/null || true' TERM INT
    while kill -0 "$server" 2>/dev/null; do wait "$server" && status=0 || status=$?; done
    exit "$status"
}

ask() { # PORT FILE
    exec "$bin/psql" -X -q -A -t -v ON_ERROR_STOP=1 -h 127.0.0.1 -p "$1" -U "$name" -d "$name" -f "$folder/$2"
}

case ${1-} in
    template) (lock; make_template) ;;
    serve) shift; serve "$@" ;;
    ask) shift; ask "$@" ;;
    *) fail "$usage" ;;
esac
