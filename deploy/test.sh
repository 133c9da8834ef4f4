#!/usr/bin/env bash
# usage: deploy/test.sh [STEP...]      steps: release systemd judges fuzz long asan tsan (without an argument: the first five)
#
# From a fresh Debian 12: installs the packages that are missing, builds, runs all tests. Safe to run again. Ends with one line
# "N passed, N failed[, N skipped]" and exit 0 only when nothing failed. A step that fails does not keep the next from running.
#
#   PROOFLINE_NO_NPM=1      goes without the judges (snarkjs and the circom compiler, from an npm registry); they count as skipped
#   PROOFLINE_TEST_SEED=S   repeats a run's random choices; each run prints its own
#   PROOFLINE_LONG=all      runs every long test, the huge ones too; otherwise a seeded sample of PROOFLINE_LONG_MINUTES (2)
set -euo pipefail
cd "$(dirname "$0")/.."
. deploy/lib.sh

passed=0 failed=0 skipped=0
summary=()
ctest_prefix=()
export PROOFLINE_TEST_SEED=${PROOFLINE_TEST_SEED:-$(date +%s)}

# What a fresh Debian needs; a Node.js that is new enough in PATH is used instead of Debian's.
needed_packages() {
  local major
  major=$(node --version 2>/dev/null | sed -n 's/^v\([0-9]*\)\..*/\1/p' || true)
  if [ "${PROOFLINE_NO_NPM:-}" = 1 ] || { [ -n "$major" ] && [ "$major" -ge 18 ] && command -v npm >/dev/null; }; then
    packages_of run build test | grep -vxE 'nodejs|npm'
  else
    packages_of run build test
  fi
}

# Runs ctest with the given arguments and adds its figures to the sums. No test found counts as a failure.
count_ctest() {
  local log line total bad skip
  log=$(mktemp)
  "${ctest_prefix[@]}" ctest "$@" --no-tests=error 2>&1 | tee "$log" || true
  line=$(grep -oE '[0-9]+ tests? failed out of [0-9]+' "$log" | tail -n 1 || true)
  skip=$(grep -cE '\*\*\*Skipped' "$log" || true)
  rm -f "$log"
  if [ -z "$line" ]; then
    failed=$((failed + 1))
    return
  fi
  bad=${line%% *}
  total=${line##* }
  failed=$((failed + bad))
  skipped=$((skipped + skip))
  passed=$((passed + total - bad - skip))
}

# A build that fails is one failed test.
build_or_count() {
  if ! (build_preset "$@"); then
    failed=$((failed + 1))
    return 1
  fi
}

step_release() {
  export CMAKE_EXTRA=-DPROOFLINE_TESTS=ON
  build_or_count release || return 0
  unset CMAKE_EXTRA
  count_ctest --preset release --parallel "$(nproc)"
}

# The service in a container with a systemd of its own.
step_systemd() {
  [ -x build/release/bin/proofline ] || step_release
  count_ctest --test-dir build/release -L systemd --output-on-failure
}

step_judges() {
  [ -x build/release/bin/proofline ] || step_release
  count_ctest --preset judges
}

# In a seeded order until the time is up, the one that is running then included.
step_long() {
  local names name deadline
  [ -x build/release/bin/proofline ] || step_release
  mapfile -t names < <(ctest --test-dir build/release -N -L long -LE 'gpu|huge' | sed -n 's/^ *Test *#[0-9]*: //p' | sort)
  if [ "${#names[@]}" -eq 0 ]; then
    echo "no test has the label long"
    return 0
  fi
  if [ "${PROOFLINE_LONG:-}" = all ]; then
    count_ctest --test-dir build/release -L long -LE gpu --output-on-failure
    return 0
  fi
  deadline=$(($(date +%s) + 60 * ${PROOFLINE_LONG_MINUTES:-2}))
  mapfile -t names < <(printf '%s\n' "${names[@]}" | shuf --random-source=<(yes "$PROOFLINE_TEST_SEED"))
  for name in "${names[@]}"; do
    [ "$(date +%s)" -lt "$deadline" ] || break
    count_ctest --test-dir build/release -R "^$name\$" --output-on-failure
  done
}

# Every decoder under libFuzzer and the sanitizers, some seconds each.
step_fuzz() {
  build_or_count asan fuzzers || return 0
  count_ctest --preset asan --parallel "$(nproc)" -L fuzz
}

# All of it under the sanitizers, the fuzzers too.
step_asan() {
  build_or_count asan || return 0
  count_ctest --preset asan --parallel "$(nproc)"
}

# Only what runs threads or processes of ours; the folders are named in tests/CMakeLists.txt (label threads).
step_tsan() {
  build_or_count tsan thread_tests || return 0
  # The sanitizer's shadow memory does not fit every random address layout.
  if setarch -R true 2>/dev/null; then ctest_prefix=(setarch -R); fi
  count_ctest --preset tsan --parallel "$(nproc)"
  ctest_prefix=()
}

run_step() {
  local started=$SECONDS before="$passed/$failed/$skipped"
  say "$1"
  "step_$1"
  summary+=("$(printf '%-8s %5d s   %s -> %s (passed/failed/skipped so far)' "$1" $((SECONDS - started)) "$before" "$passed/$failed/$skipped")")
}

steps=("$@")
[ ${#steps[@]} -gt 0 ] || steps=(release systemd judges fuzz long)
for step in "${steps[@]}"; do
  [ "$(type -t "step_$step")" = function ] || fail "there is no step $step; the steps are: release systemd judges fuzz long asan tsan"
done

say "packages"
mapfile -t packages < <(needed_packages)
install_packages "${packages[@]}"
echo "seed: $PROOFLINE_TEST_SEED (repeat with PROOFLINE_TEST_SEED=$PROOFLINE_TEST_SEED); $(build_jobs) build jobs"

for step in "${steps[@]}"; do run_step "$step"; done

say "summary"
printf '%s\n' "${summary[@]}"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
