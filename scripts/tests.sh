#!/usr/bin/env bash
# Runs the tests: `tests.sh` those of the default filter in .config/nextest.toml, `tests.sh long` all others. The last line says
# how many were left out, and for lack of what.
set -euo pipefail
cd "$(dirname "$0")/.."

# Lints and tests take one build: Clippy is the compiler.
export RUSTC_WORKSPACE_WRAPPER=$PWD/scripts/clippy.sh
BAKEOFF_LEFT_OUT=$(mktemp)
export BAKEOFF_LEFT_OUT
trap 'rm -f "$BAKEOFF_LEFT_OUT"' EXIT

nextest=(cargo nextest run --workspace --all-targets --locked)
if [ "${1-}" = long ]; then
    "${nextest[@]}" --ignore-default-filter --filterset 'not default()'
else
    "${nextest[@]}"
    cargo test --workspace --doc --locked --quiet
fi

tests=$(cut -f2 "$BAKEOFF_LEFT_OUT" | sort -u | wc -l)
lacking=$(cut -f1 "$BAKEOFF_LEFT_OUT" | sort -u | paste -sd, | sed 's/,/, /g')
echo "skipped: $tests tests${lacking:+, for lack of $lacking}"
