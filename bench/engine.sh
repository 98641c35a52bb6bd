#!/bin/sh
# The client's own cost against wrk's: requests per second of client CPU, in interleaved pairs against one nginx.
# Writes RESULTS.md. Takes about three minutes; PAIRS and SECONDS_EACH make it longer or shorter.
# Best on a machine that does nothing else; what else it did is in the results.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/.."
for tool in nginx wrk taskset python3; do
  command -v "$tool" >/dev/null || { echo "bench/engine.sh needs $tool (Debian: nginx-light wrk util-linux python3)" >&2; exit 1; }
done
cargo build --release --locked -p load --example closed_loop
export CLIENT="${CARGO_TARGET_DIR:-target}/release/examples/closed_loop"
exec python3 "$here/engine.py"
