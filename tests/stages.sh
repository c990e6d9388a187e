# Runs the stages of a script, functions of their own, with their output in files below $logs. Sourced by tests/run.sh and
# tests/release.sh.
passed=0
failed=0

get_packages() {
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "Missing: $*. Install this with the package manager of your system and run this again."
    return 1
  fi
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@"
}

# Runs one stage with its output in a log, and says in one line how it went. Never to be called as a condition: within
# one, the shell goes on after a failed command, and so would the stage.
run() {
  local name=$1 log="$logs/$1.log" start=$SECONDS status=0 note
  printf '%-10s ' "$name"
  set +e
  (set -e; "$name") >"$log" 2>&1 </dev/null
  status=$?
  set -e
  note=$(awk '/^test result:/ { n += $4 } END { if (n) print ", " n " tests" }' "$log")
  if [ "$status" = 0 ]; then
    passed=$((passed + 1))
    echo "ok ($((SECONDS - start)) s$note)"
    sed -n 's/^left out: /    left out: /p' "$log"
    return
  fi
  failed=$((failed + 1))
  echo "FAILED ($((SECONDS - start)) s$note)"
  tail -n 300 "$log" | sed 's/^/    /'
  echo "    To repeat this alone: bash tests/$(basename "$0") $name (all of its output: $log)"
}

# Runs the named stages, which must be of the known ones. Ends after a failure of one that all others need.
run_stages() {
  local known=" $1 " name
  shift
  for name in $*; do
    if [ "${known#* $name }" = "$known" ]; then
      echo "There is no stage \"$name\", only:$known" >&2
      return 2
    fi
  done
  mkdir -p "$logs"
  for name in $*; do
    run "$name"
    case " $stages_needed " in *" $name "*) [ "$failed" = 0 ] || break ;; esac
  done
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ]
}
