#!/usr/bin/env bash
# usage: bench/compare.sh --rapidsnark PROVER --key K.zkey --witness W.wtns [--vkey V.json] [--runs N] [--label TEXT]
#        bench/compare.sh --rapidsnark PROVER --own [--runs N]
#
# Proofline and your rapidsnark (its program `prover`), in turn, on the same BN254 files: wall time of the whole process and peak memory.
# --own compares on the circuits of our own, whose files and keys are made below build/compare first (2^14 to 2^18; no download).
# One JSON line for each comparison is appended to bench/results/compare.jsonl. Build first: cmake --build --preset release.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=build/release/bin
results=${PROOFLINE_RESULTS:-bench/results/compare.jsonl}
files=build/compare

[ -x "$bin/proofline-bench" ] || { echo "there is no $bin/proofline-bench: run cmake --preset release && cmake --build --preset release" >&2; exit 3; }

own=0
arguments=()
for argument in "$@"; do
  if [ "$argument" = --own ]; then own=1; else arguments+=("$argument"); fi
done
mkdir -p "$(dirname "$results")"
if [ $own = 0 ]; then
  exec "$bin/proofline-bench" compare "${arguments[@]}" --results "$results"
fi

mkdir -p "$files"
for circuit in bits:14 identity:14 chain:16 bits:16 identity:16 bits:18; do
  kind=${circuit%:*} log2=${circuit#*:}
  base=$files/$kind-$log2
  if [ ! -f "$base.zkey" ]; then
    "$bin/proofline-bench" circuit --kind "$kind" --log2 "$log2" --curve bn128 --r1cs "$base.r1cs" --witness "$base.wtns"
    "$bin/proofline-bench" setup --r1cs "$base.r1cs" --seed compare --out "$base.zkey" --vkey "$base.vkey.json"
  fi
  "$bin/proofline-bench" compare "${arguments[@]}" --key "$base.zkey" --witness "$base.wtns" --vkey "$base.vkey.json" \
    --label "$kind 2^$log2" --results "$results"
  echo
done
