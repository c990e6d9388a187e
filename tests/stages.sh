# Runs the stages of a script, functions of their own, with their output in files below $logs. Sourced by tests/run.sh and
# tests/release.sh. Stages joined by "+" run side by side. Each ends with one line: its result, the seconds that it took, the
# CPU seconds of all its processes, and the number of its tests.
passed=0
failed=0
# A file with the stages that need not run again; those that pass are added. None by default.
finished=/dev/null

get_packages() {
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "Missing: $*. Install this with the package manager of your system and run this again."
    return 1
  fi
  # Another stage may be installing something.
  apt-get update -qq -o DPkg::Lock::Timeout=300
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o DPkg::Lock::Timeout=300 "$@"
}

# Runs a stage with its output, exit status, seconds and CPU times in files. Never to be called as a condition: within one, the
# shell goes on after a failed command, and so would the stage.
run() {
  local log="$logs/$1.log" start=$SECONDS status=0
  set +e
  (trap 'times >"$log.cpu"' EXIT; set -e; "$1") >"$log" 2>&1 </dev/null
  status=$?
  set -e
  echo "$status $((SECONDS - start))" >"$log.status"
}

# Seconds of CPU in files written by `times`.
cpu_in() {
  awk '{ for (i = 1; i <= NF; i++) { split($i, part, /[ms]/); sum += part[1] * 60 + part[2] } } END { printf "%.0f", sum }' "$@"
}

# Says in one line how a stage went.
report() {
  local log="$logs/$1.log" status seconds note
  read -r status seconds <"$log.status"
  note=$(awk '/^test result:/ { n += $4 } END { if (n) print ", " n " tests" }' "$log")
  note="$seconds s, CPU $(cpu_in "$log.cpu") s$note"
  if [ "$status" = 0 ]; then
    passed=$((passed + 1))
    echo "ok ($note)"
    echo "$1" >>"$finished"
    # The results of a test may follow the dots of others.
    { grep -oE '(left out|did): .*' "$log" || true; } | sed 's/^/    /'
    return
  fi
  failed=$((failed + 1))
  echo "FAILED ($note)"
  tail -n 300 "$log" | sed 's/^/    /'
  echo "    To repeat this alone: bash tests/$(basename "$0") ${repeat:-$1} (all of its output: $log)"
}

is_finished() {
  local name
  for name in ${1//+/ }; do grep -qx "$name" "$finished" || return 1; done
}

# Runs the named stages, which must be of the known ones. Ends after a failure of one that all others need.
run_stages() {
  local known=" $1 " name group
  shift
  for name in ${*//+/ }; do
    case " ${known//+/ } " in *" $name "*) continue ;; esac
    echo "There is no stage \"$name\", only:${known//+/ }" >&2
    return 2
  done
  mkdir -p "$logs"
  rm -f "$logs"/*.cpu "$logs"/*.status
  for group in $*; do
    if is_finished "$group"; then continue; fi
    for name in ${group//+/ }; do run "$name" & done
    [ "$group" = "${group#*+}" ] || echo "${group//+/, }:"
    [ "$group" != "${group#*+}" ] || printf '%-10s ' "$group"
    wait
    for name in ${group//+/ }; do
      [ "$group" = "${group#*+}" ] || printf '%-10s ' "$name"
      report "$name"
      case " $stages_needed " in *" $name "*) [ "$failed" = 0 ] || break 2 ;; esac
    done
  done
  echo "$passed passed, $failed failed ($SECONDS s, CPU $(cpu_in "$logs"/*.cpu) s)"
  [ "$failed" = 0 ]
}
