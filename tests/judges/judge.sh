#!/usr/bin/env bash
# judge.mjs, skipped (exit 77) when PROOFLINE_NO_NPM=1. usage: as judge.mjs
set -euo pipefail
if [ "${PROOFLINE_NO_NPM:-}" = 1 ]; then
  echo "skipped: PROOFLINE_NO_NPM=1"
  exit 77
fi
exec node "$(dirname "$0")/judge.mjs" "$@"
