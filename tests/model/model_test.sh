#!/usr/bin/env bash
# usage: model_test.sh rules | mutations
#
# rules       no order of steps and deaths within the bounds breaks an invariant, and the final assertions are reached
# mutations   leaving out any one rule is found out
set -euo pipefail
model=$(cd "$(dirname "$0")" && pwd)/slots.pml
command -v spin >/dev/null || { echo "skipped: spin is not there (package spin)"; exit 77; }
command -v cc >/dev/null || { echo "skipped: no C compiler for what spin writes"; exit 77; }
work=$(mktemp -d /tmp/pl-model-XXXXXX)
trap 'rm -rf "$work"' EXIT
cd "$work"
limit_s=240

# Searches the whole of it, or to the first violation; its report is in `report`.
search() {
  spin "$@" -a "$model" >spin.log 2>&1 || { cat spin.log; exit 1; }
  cc -O1 -w -DSAFETY -DCOLLAPSE -DNOFAIR -DMEMLIM=2000 -o pan pan.c
  timeout "$limit_s" ./pan -m200000 -E >report 2>&1 || { echo "FAILED: $*: not within $limit_s s"; exit 1; }
}

rules() {
  search "$@"
  if ! grep -q 'errors: 0' report || grep -qE 'not completed|max search depth' report; then
    echo "FAILED: $*"
    cat report
    spin "$@" -t -p -g "$model" 2>/dev/null | tail -n 60 || true
    exit 1
  fi
  grep -A 3 'unreached in proctype AtRest' report | grep -q '(0 of' || { echo "FAILED: $*: nothing ever comes to rest"; exit 1; }
  echo "holds: $* ($(awk '/states, stored/ {print $1}' report) states)"
}

mutation() {
  local name=$1
  shift
  search "-DMUTATION=$(sed -n "s/^#define $name \([0-9]*\).*/\1/p" "$model")" "$@"
  grep -q 'assertion violated' report || { echo "FAILED: nobody notices $name ($*)"; exit 1; }
  echo "found out: $name: $(sed -n 's/^pan:1: //p' report)"
}

case "${1:-}" in
  rules)
    rules -DPARTS=1 -DFAULTS=2
    rules -DPARTS=2 -DFAULTS=1
    rules -DPARTS=1 -DFAULTS=1 -DCANCELS=1
    rules -DPARTS=2 -DSLOTS=2 -DSYNTHS=1 -DFAULTS=1
    ;;
  mutations)
    mutation M_NO_FENCE -DPARTS=1 -DFAULTS=2
    mutation M_NO_WIPE -DPARTS=1
    mutation M_NO_ENDED_CHECK -DPARTS=1
    mutation M_NO_WIPER_DEATH -DPARTS=1
    mutation M_QUARANTINE_LOST -DPARTS=1 -DFAULTS=2
    mutation M_HALF_SEALED -DPARTS=1
    mutation M_NO_JOURNAL -DPARTS=1 -DSLOTS=2 -DSYNTHS=1 -DFAULTS=2
    mutation M_LEASE_LOST -DPARTS=1
    mutation M_COMMIT_LATE -DPARTS=1
    mutation M_NO_EPOCH -DPARTS=1 -DFAULTS=2
    ;;
  *)
    echo "usage: model_test.sh rules | mutations" >&2
    exit 2
    ;;
esac
