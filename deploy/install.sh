#!/usr/bin/env bash
# usage: deploy/install.sh [BUILD_DIR]      (default build/release; root)
#
# Installs a build as a systemd service: programs and units under /usr, the user proofline, /etc/proofline/proofline.toml if there is none, one
# unit instance for each device and NUMA node. Over an older installation it restarts what runs (no job is lost). Starts nothing that did
# not run. deploy/uninstall.sh takes it away.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

build=$(realpath "${1:-$top/build/release}")
[ "$(id -u)" -eq 0 ] || fail "installing needs root: sudo $0 $*"
for program in proofline proofline-coordinator proofline-synth-worker proofline-gpu-worker proofline-bench; do
  [ -x "$build/bin/$program" ] || fail "$build/bin/$program is not there: build it first (cmake --preset release && cmake --build --preset release)"
done
say "files"
cmake -DCMAKE_INSTALL_PREFIX=/usr -P "$build/deploy/cmake_install.cmake" | grep -v 'Up-to-date' || true
say "units"
/usr/lib/proofline/setup configure
cat <<MESSAGE

Installed. The configuration is /etc/proofline/proofline.toml; after changing its [workers]: /usr/lib/proofline/setup configure
  systemctl start proofline.target
  proofline status --state /var/lib/proofline        as root, proofline, or a member of the group proofline
MESSAGE
