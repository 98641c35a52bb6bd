#!/bin/sh
# The client's figures, beside other clients: `bench/run.sh [--long] [FIGURE…]`. Writes RESULTS.md of what is asked for now
# and of what is kept in results/ from before. About 12 minutes; PAIRS (rounds) and SECONDS_EACH make it longer or shorter.
# Best on a machine that does nothing else; what else it did is in the results.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
for tool in python3 $([ "$*" = audit ] || echo nginx); do
  PATH=$PATH:/usr/sbin command -v "$tool" >/dev/null && continue
  echo "bench/run.sh needs $tool: run scripts/setup.sh bench" >&2
  exit 1
done
(cd "$here/.." && cargo build --release --locked --bin bakeoff --bin knownserver --bin floor)
exec python3 "$here/main.py" "$@"
