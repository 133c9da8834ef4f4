#!/usr/bin/env bash
# usage: install.sh FOLDER DESTINATION
# Puts FOLDER's locked npm packages into DESTINATION/node_modules with whatever registry npm is configured for. No package script is run.
# Does nothing when that very lock file is installed there already. Exit 77 (skipped) only when PROOFLINE_NO_NPM=1.
set -euo pipefail
source_dir=$(cd "$1" && pwd)
destination=$2
if [ "${PROOFLINE_NO_NPM:-}" = 1 ]; then
  echo "skipped: PROOFLINE_NO_NPM=1"
  exit 77
fi
major=$(node --version 2>/dev/null | sed -n 's/^v\([0-9]*\)\..*/\1/p' || true)
if [ -z "$major" ] || [ "$major" -lt 18 ] || ! command -v npm >/dev/null; then
  echo "The judges need Node.js 18 or newer with npm (found: ${major:-none})." >&2
  echo "Install it (apt-get install nodejs npm), or set PROOFLINE_NO_NPM=1 to go without these tests." >&2
  exit 1
fi
mkdir -p "$destination"
exec 9>"$destination/.lock"
flock 9
if cmp -s "$source_dir/package-lock.json" "$destination/installed.lock"; then
  echo "already installed in $destination"
  exit 0
fi
cp "$source_dir/package.json" "$source_dir/package-lock.json" "$destination/"
cd "$destination"
if ! npm ci --ignore-scripts --no-audit --no-fund --loglevel=error; then
  echo "npm could not install the judges' packages. Is its registry reachable (npm config get registry)?" >&2
  echo "Without one, set PROOFLINE_NO_NPM=1: the judges are then skipped, and nothing independent has judged the proofs." >&2
  exit 1
fi
cp package-lock.json installed.lock
