#!/usr/bin/env bash
# Runs each fuzz target for FUZZ_SECONDS (default 60), without cargo-fuzz and on stable Rust: these are the flags that
# `cargo fuzz run -s none` gives the compiler. What it finds is in fuzz/artifacts, the corpus in fuzz/corpus.
set -euo pipefail
cd "$(dirname "$0")"

host=$(rustc -vV | sed -n 's/^host: //p')
# Given the host as target, build scripts and macros are not instrumented.
export RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing -Ccodegen-units=1"
# All at once: each processor has a target to compile and link.
cargo build --locked --quiet --release --target "$host"
# Each has one thread. A failure of either fails all.
runs=()
for target in response template; do
    mkdir -p "corpus/$target" "artifacts/$target"
    cargo run --locked --quiet --release --target "$host" --bin "$target" -- \
        -max_total_time="${FUZZ_SECONDS:-60}" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="artifacts/$target/" "corpus/$target" &
    runs+=($!)
done
failed=0
for run in "${runs[@]}"; do
    wait "$run" || failed=1
done
exit $failed
