#!/usr/bin/env bash
# Clippy in the compiler's place: it compiles, too. A warning is an error. Other shells drop CARGO_BIN_EXE_bakeoff-supervise.
exec clippy-driver "$@" -D warnings
