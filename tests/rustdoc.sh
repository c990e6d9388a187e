#!/usr/bin/env bash
# rustdoc for the stage "docs" of tests/run.sh: writes the documentation where cargo asks it to run the examples in it.
set -eu
for argument; do
  shift
  [ "$argument" = --test ] || set -- "$@" "$argument"
done
exec rustdoc "$@" --document-private-items --out-dir "${CARGO_TARGET_DIR:-target}/doc" -D warnings
