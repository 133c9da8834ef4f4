#!/usr/bin/env bash
# Shared by quickstart.sh and test.sh (sourced, bash with `set -euo pipefail`).

deploy_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(dirname "$deploy_dir")

say() { printf '\n== %s\n' "$*"; }

fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# The packages of the sets named, one a line.
packages_of() {
  local set
  for set in "$@"; do
    sed -n "/^\[$set\]/,/^\[/p" "$deploy_dir/packages.txt" | sed -e '/^\[/d' -e 's/#.*//' -e 's/[[:space:]]*$//' -e '/^$/d'
  done
}

# Those of the given packages that dpkg does not report as installed.
missing_of() {
  local name
  for name in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || echo "$name"
  done
}

# Installs what is missing of the given packages; says first what that is. Needs root; an ordinary user is told the command.
install_packages() {
  command -v apt-get >/dev/null || fail "apt-get not found: this script is for Debian 12. deploy/packages.txt lists what is needed."
  local missing
  mapfile -t missing < <(missing_of "$@")
  if [ ${#missing[@]} -eq 0 ]; then
    echo "Every package that is needed is installed ($# of them)."
    return
  fi
  echo "These Debian packages are needed and will be installed: ${missing[*]}"
  if [ "$(id -u)" -ne 0 ]; then
    fail "installing packages needs root. As root, run:
  apt-get update && apt-get install --no-install-recommends ${missing[*]}
then start this script again as $(id -un)."
  fi
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null
}

# Compiler jobs that fit: one a core, and 1.5 GiB of available memory (of the control group's limit, where there is one) for each.
build_jobs() {
  local cores kib limit by_memory
  cores=$(nproc)
  kib=$(awk '/^MemAvailable/ {print $2}' /proc/meminfo)
  limit=$(cat /sys/fs/cgroup/memory.max 2>/dev/null || echo max)
  if [ "$limit" != max ] && [ $((limit / 1024)) -lt "$kib" ]; then kib=$((limit / 1024)); fi
  by_memory=$((kib / (1536 * 1024)))
  [ "$by_memory" -ge 1 ] || by_memory=1
  echo $((cores < by_memory ? cores : by_memory))
}

# Configures a preset and builds the given targets (none: everything). Only the compiler's complaints and the progress's last line are shown.
build_preset() {
  local preset=$1 log
  shift
  log=$top/build/$preset.log
  mkdir -p "$top/build"
  if ! (cd "$top" && cmake --preset "$preset" "${CMAKE_EXTRA:--Wno-dev}") >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    fail "configuring the preset $preset failed (all of it: $log)"
  fi
  grep -E '^-- No CUDA' "$log" || true
  if ! cmake --build "$top/build/$preset" --parallel "$(build_jobs)" ${1:+--target "$@"} >>"$log" 2>&1; then
    grep -E -A 20 'error|FAILED' "$log" | tail -n 60 >&2
    fail "building the preset $preset failed (all of it: $log)"
  fi
}
