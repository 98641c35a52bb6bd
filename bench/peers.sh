#!/bin/sh
# Builds the clients that Debian does not have, oha and k6, into bench/.work/bin. What cannot be built is left out: the
# bench says so. The first time takes some minutes.
set -u
work=$(cd "$(dirname "$0")" && pwd)/.work
mkdir -p "$work/bin"

have() { [ -x "$work/bin/$1" ] || command -v "$1" >/dev/null; }

if ! have oha; then
  echo "Building oha" >&2
  # It does not build without TLS.
  nice cargo install --quiet --locked -j2 --root "$work" oha@1.16.0 ||
    echo "oha could not be built: the bench goes on without it" >&2
fi
if ! have k6; then
  if command -v go >/dev/null; then
    echo "Building k6" >&2
    GOBIN=$work/bin nice go install go.k6.io/k6@v1.8.1 || echo "k6 could not be built: the bench goes on without it" >&2
  else
    echo "k6 needs Go, which is not here: the bench goes on without it" >&2
  fi
fi
