#!/usr/bin/env bash
# Makes jvm.tsv and jruby.tsv anew: the settings that versions of HotSpot and JRuby list themselves, with their defaults. Needs two JDKs,
# named by JDK_17 and JDK_25 (their folders), and mvn, which fetches the JRubies. It takes a minute.
#
# A cell is a default, `-` where the version has no such setting, or `*` where the default depends on the machine: HotSpot's own
# value, or what it makes of it on one of two machines, is another.
set -euo pipefail
cd "$(dirname "$0")"
: "${JDK_17:=/usr/lib/jvm/java-17-openjdk-amd64}" "${JDK_25:=/usr/lib/jvm/temurin-25-jdk-amd64}"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
locked="-XX:+UnlockDiagnosticVMOptions -XX:+UnlockExperimentalVMOptions"

# Rows of name and default, of each column a file, become one table.
table() {
    awk -F'\t' -v OFS='\t' '
        FNR == 1 { column++ }
        { value[$1, column] = $2; if (!($1 in seen)) { seen[$1]; name[++names] = $1 } }
        END {
            for (n = 1; n <= names; n++) {
                row = name[n]
                for (c = 1; c <= column; c++) row = row OFS ((name[n], c) in value ? value[name[n], c] : "-")
                print row
            }
        }' "$@" | LC_ALL=C sort
}

{
    echo "# Flags of HotSpot and their defaults. Made by make.sh; sources: java $locked -XX:+PrintFlagsInitial -version,"
    echo "# and -XX:+PrintFlagsFinal with -XX:ActiveProcessorCount=1 -XX:MaxRAM=1g and with -XX:ActiveProcessorCount=8 -XX:MaxRAM=16g."
    for jdk in "$JDK_17" "$JDK_25"; do
        echo "# $("$jdk/bin/java" -version 2>&1 | sed -n 2p), Linux, $(uname -m)"
    done
    printf 'name\t17\t25\n'
    for version in 17 25; do
        jdk=JDK_$version
        # shellcheck disable=SC2086 # These are several words.
        {
            "${!jdk}/bin/java" $locked -XX:+PrintFlagsInitial -version 2> /dev/null
            "${!jdk}/bin/java" $locked -XX:ActiveProcessorCount=1 -XX:MaxRAM=1g -XX:+PrintFlagsFinal -version 2> /dev/null
            "${!jdk}/bin/java" $locked -XX:ActiveProcessorCount=8 -XX:MaxRAM=16g -XX:+PrintFlagsFinal -version 2> /dev/null
        } | sed -nE 's/^ *[a-z0-9_]+ +([A-Za-z0-9_]+) += *(.*[^ ])? +\{[^{]*\} \{[^{]*\}$/\1\t\2/p' |
            awk -F'\t' -v OFS='\t' '
                $1 ~ /^(ActiveProcessorCount|MaxRAM|PrintFlags(Final|Initial)|Unlock(Diagnostic|Experimental)VMOptions)$/ {
                    # These are given here.
                    if (!($1 in value)) { value[$1] = $2 }
                    next
                }
                !($1 in value) { value[$1] = $2; next }
                value[$1] != $2 { value[$1] = "*" }
                END { for (name in value) print name, value[name] }' > "$folder/$version"
    done
    table "$folder/17" "$folder/25"
} > jvm.tsv

versions="1.7.27 9.2.21.0 9.3.15.0 9.4.15.0 10.0.5.0 10.1.1.0"
{
    echo "# Options of JRuby and their defaults. Made by make.sh; source: java -jar jruby-complete-VERSION.jar --properties."
    # shellcheck disable=SC2086 # These are several words.
    printf 'name%s\n' "$(printf '\t%s' $versions)"
    files=()
    for version in $versions; do
        jdk=$JDK_17
        case $version in 1[0-9].*) jdk=$JDK_25 ;; esac
        mvn -q -B dependency:copy -Dartifact="org.jruby:jruby-complete:$version" -DoutputDirectory="$folder" > /dev/null
        "$jdk/bin/java" -jar "$folder/jruby-complete-$version.jar" --properties |
            awk -v OFS='\t' '
                /^# .*Default: / { default = $0; sub(/.*Default: /, "", default); sub(/\.$/, "", default) }
                /^#[A-Za-z0-9_.]+=/ { name = $0; sub(/^#/, "", name); sub(/=.*/, "", name); print name, default; default = "*" }
            ' > "$folder/$version"
        files+=("$folder/$version")
    done
    table "${files[@]}"
} > jruby.tsv
