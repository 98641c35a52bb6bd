#!/usr/bin/env bash
# Installs what is missing from Debian's packages: `setup.sh demo`, `test`, `known`, `probes`, `studies`, `bench`, `bench-audit` or `fuzz`.
# On other systems it says what to install. Changes nothing when all is there, and with --check never: it fails and says what is missing.
set -euo pipefail

purpose=${1:?usage: setup.sh demo|test|known|probes|studies|bench|bench-audit|fuzz [--check]}
missing=()   # Debian packages
wanted=()    # the same in words

need() { # WORDS PACKAGE COMMAND...: the package is missing unless the command succeeds
    local words=$1 package=$2
    shift 2
    "$@" >/dev/null 2>&1 || { missing+=("$package"); wanted+=("$words"); }
}

# What Cargo.toml asks for. Debian's own may be older, and Rust's way of installing it is a person's choice.
require_rust() {
    local wanted found
    wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$(dirname "$0")/../Cargo.toml")
    found=$(rustc --version 2>/dev/null | cut -d' ' -f2) || true
    printf '%s\n' "$wanted" "${found:-0}" | sort -CV && return 0
    echo "bakeoff takes Rust $wanted or newer, and here is ${found:-none}: https://rustup.rs installs it" >&2
    exit 1
}

jdk_present() { # MAJOR...: whether a JDK (with javac) of one of these majors is where bakeoff looks for it
    local major release
    for major in "$@"; do
        for release in /usr/lib/jvm/*/release "${JAVA_HOME:-/nonexistent}/release" ~/.sdkman/candidates/java/*/release; do
            [ -x "${release%/release}/bin/javac" ] && grep -q "^JAVA_VERSION=\"$major[.\"]" "$release" && return 0
        done
    done
    return 1
}

is_packaged() { # PACKAGE: whether Debian has it here, installed or not
    local policy
    # Kept whole: a `grep -q` that stops reading early would fail the pipe.
    policy=$(LC_ALL=C apt-cache policy "$1" 2>/dev/null) || return 1
    [[ $policy == *"Candidate: "[0-9]* ]]
}

# JRuby 9.4 runs on 17 and 21; Debian 12 has the one, Debian 13 the other.
jdk_package() {
    local major
    for major in 17 21; do
        is_packaged "openjdk-$major-jdk-headless" && { echo "openjdk-$major-jdk-headless"; return; }
    done
    echo openjdk-17-jdk-headless
}

# What the studies run needs none.
[ "$purpose" = studies ] || require_rust
need "a C compiler" gcc command -v cc
need_java() {
    need "Maven" maven command -v mvn
    jdk_present 17 21 || { missing+=(JDK); wanted+=("a JDK, version 17 or 21"); }
}
# Settings are tested on 17 and 25: each of them that Debian has.
need_tested_jdks() {
    local major
    for major in 17 25; do
        jdk_present "$major" || ! is_packaged "openjdk-$major-jdk-headless" ||
            { missing+=("openjdk-$major-jdk-headless"); wanted+=("JDK $major"); }
    done
}
# Debian has it where only root looks.
need_nginx() { PATH=$PATH:/usr/sbin need "nginx" nginx-light command -v nginx; }
# What studies/cloud-controller runs. JRuby runs the pure-Ruby ones of the same libraries.
need_cloud_controller() {
    need_java
    need "PostgreSQL's server" postgresql postgres_present
    need "Ruby" ruby command -v ruby
    local library
    for library in thin:thin puma:puma webrick:ruby-webrick sinatra/base:ruby-sinatra sequel:ruby-sequel pg:ruby-pg \
        stackprof:ruby-stackprof; do
        need "Ruby's ${library%:*}" "${library#*:}" ruby -e "require '${library%:*}'"
    done
}
# What studies/kill-bill needs beside those.
need_kill_bill() {
    need "unzip" unzip command -v unzip
    need "ps" procps command -v ps
}
# Debian keeps it off the PATH.
postgres_present() { command -v postgres || ls /usr/lib/postgresql/*/bin/postgres; }
need_cxx() { need "a C++ compiler" g++ command -v c++; }   # for libFuzzer
case $purpose in
    known) ;;
    demo) need_java ;;
    probes) need_java; need "Python 3" python3 command -v python3 ;;
    studies) need_cloud_controller; need_kill_bill ;;
    test) need_cloud_controller; need_tested_jdks; need_nginx; need_cxx; need "ip" iproute2 command -v ip ;;
    fuzz) need_cxx ;;
    bench)
        need_nginx
        need "Python 3" python3 command -v python3
        need "wrk" wrk command -v wrk
        need "ab" apache2-utils command -v ab
        need "h2load" nghttp2-client command -v h2load
        ;;
    bench-audit) need_java; need "Python 3" python3 command -v python3 ;;
    *) echo "setup.sh: unknown purpose '$purpose'; it takes demo, test, known, probes, studies, bench, bench-audit or fuzz" >&2; exit 2 ;;
esac

# PostgreSQL's package makes a cluster of the system's and starts it, unless this says otherwise while it is installed. Uses as_root.
no_system_cluster() {
    [[ " ${missing[*]} " == *" postgresql "* ]] || return 0
    local folder=/etc/postgresql-common/createcluster.d
    "${as_root[@]}" mkdir -p "$folder"
    echo "create_main_cluster = false" | "${as_root[@]}" tee "$folder/bakeoff.conf" >/dev/null
    trap '"${as_root[@]}" rm -f '"$folder/bakeoff.conf" EXIT
}

install_from_debian() {
    if ! command -v apt-get >/dev/null; then
        echo "Please install first:" >&2
        printf '  - %s\n' "${wanted[@]}" >&2
        exit 1
    fi

    local i
    as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || { echo "Please install as root: ${missing[*]} (${wanted[*]})" >&2; exit 1; }
        as_root=(sudo)
    fi

    echo "Installing from Debian's packages: ${wanted[*]}" >&2
    "${as_root[@]}" apt-get update -qq
    # What Debian has is known only now on a machine that has not looked yet.
    [ "$purpose" != test ] || need_tested_jdks
    for i in "${!missing[@]}"; do
        [ "${missing[$i]}" = JDK ] && missing[i]=$(jdk_package)
    done
    no_system_cluster
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
}

if [ "${2-}" = --check ]; then
    [ ${#missing[@]} -ne 0 ] || exit 0
    printf -v list ', %s' "${wanted[@]}"
    echo "missing: ${list:2}; to install: make setup-studies" >&2
    exit 1
fi
[ ${#missing[@]} -eq 0 ] || install_from_debian
[ "$purpose" != test ] || jdk_present 25 || echo "No JDK 25 here, nor a package of it: its tests are skipped, and those of JRuby 10.1 unless there is a JDK 21" >&2
# Without what updates itself, and unoptimised: it is there in two minutes, and waits most of its time.
need_nextest() {
    cargo nextest show-config version >/dev/null 2>&1 && return
    local version
    version=$(sed -n 's/^nextest-version = "\(.*\)"/\1/p' .config/nextest.toml)
    cargo install --locked --debug --no-default-features --features default-no-update cargo-nextest --version "$version"
}
[ "$purpose" != test ] || (cd "$(dirname "$0")/.." && need_nextest)
[ "$purpose" != bench ] || "$(dirname "$0")"/../bench/peers.sh oha k6
[ "$purpose" != bench-audit ] || "$(dirname "$0")"/../bench/peers.sh jmeter
