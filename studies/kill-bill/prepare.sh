#!/usr/bin/env bash
# Makes what this folder's studies run, once, in .work: Kill Bill's war, unpacked; the payment plugin, compiled against it; the folder of
# its database for ../postgresql.sh, with the tables as the war's own archives describe them.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
work=$here/.work
war=org.kill-bill.billing:killbill-profiles-killbill:0.22.26

fail() { echo "prepare.sh: $*" >&2; exit 1; }

javac_path() { # that of the oldest JDK from 11 on: the plugin runs on all later ones
    local release major
    for release in /usr/lib/jvm/*/release "${JAVA_HOME:-/nonexistent}/release" ~/.sdkman/candidates/java/*/release; do
        major=$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$release" 2>/dev/null) || continue
        [ -x "${release%/release}/bin/javac" ] && [ "${major:-0}" -ge 11 ] && echo "$major ${release%/release}/bin/javac"
    done | sort -n | head -n 1 | cut -d' ' -f2
}

# Versions of the plugin from 3 on want the descriptors of all that the war was made from.
unpack_war() {
    mvn -B -q -C org.apache.maven.plugins:maven-dependency-plugin:2.10:copy -Dartifact="$war:war" -DoutputDirectory="$made" >&2
    mkdir "$made/war"
    unzip -q "$made"/*.war -d "$made/war"
    rm "$made"/*.war
}

build_plugin() {
    local javac classes=$made/classes plugin=$made/bundles/plugins/java/gateway/1.0
    javac=$(javac_path)
    [ -n "$javac" ] || fail "no JDK from 11 on here. Install one with: make setup-studies"
    mkdir -p "$classes" "$plugin"
    "$javac" --release 11 -d "$classes" -cp "$made/war/WEB-INF/lib/*" "$here/gateway/Gateway.java"
    "$(dirname "$javac")/jar" --create --file "$plugin/gateway-1.0.jar" --manifest "$here/gateway/MANIFEST.MF" -C "$classes" .
    rm -r "$classes"
}

# Kill Bill's tables are written for MySQL; its own file for PostgreSQL gives their types a meaning there. That one ends with a trigger
# that widens serial columns to 64 bits, which PostgreSQL has no use for while it is made in single-user mode: they are made wide.
describe_tables() {
    local lib=$made/war/WEB-INF/lib part archive
    unzip -p "$lib"/killbill-util-*.jar org/killbill/billing/util/ddl-postgresql.sql | sed "/^\/\* Alter 'serial' columns/,\$d"
    for archive in "$lib"/killbill-*.jar; do
        part=$(unzip -Z1 "$archive" 'org/killbill/*/ddl.sql' 2>/dev/null) || continue
        echo # the statements before end here, for PostgreSQL's single-user mode
        unzip -p "$archive" "$part" | sed 's/record_id serial unique/record_id bigserial unique/'
    done
}

describe_database() {
    cp -r "$here/database" "$made/database"
    describe_tables >"$made/database/schema.sql"
}

# What all is made of names the folder: a change makes it anew.
sum=$({ cat "$0" "$here"/gateway/* "$here"/database/*; } | sha256sum | cut -c 1-12)
[ "$(readlink "$work/made" || true)" != "$sum" ] || exit 0
mkdir -p "$work"
made=$(mktemp -d "$work/unfinished-XXXXXX")
trap 'rm -rf "$made"' EXIT
unpack_war
build_plugin
describe_database
chmod 755 "$made"
rm -rf "${work:?}/$sum"
mv "$made" "$work/$sum"
ln -sfn "$sum" "$work/made"
# What others were named by their sums.
find "$work" -mindepth 1 -maxdepth 1 -type d -regex '.*/[0-9a-f]*' ! -name "$sum" -exec rm -rf {} +
