#!/usr/bin/env bash
# usage: deploy/quickstart.sh [--clean]
#
# From a fresh Debian 12 to a first proof: installs the packages that are missing, builds, makes a circuit of about 2^16 constraints with its
# key, proves and verifies. Everything it makes is under build/. Safe to run again: what is done is not done twice. --clean makes circuit and
# key anew. Needs root for the packages only; as an ordinary user it says what is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
. deploy/lib.sh

bin=build/release/bin
demo=build/quickstart

timed() {
  local name=$1 started ended
  shift
  started=$(date +%s%N)
  "$@"
  ended=$(date +%s%N)
  printf '%-28s %6d.%03d s\n' "$name" $(((ended - started) / 1000000000)) $(((ended - started) / 1000000 % 1000))
}

# The programs, without the tests, whose library is not needed here; a build folder that has been configured before stays as it is.
configure_and_build() {
  [ -f build/release/CMakeCache.txt ] || export CMAKE_EXTRA=-DPROOFLINE_TESTS=OFF
  build_preset release proofline proofline-coordinator proofline-synth-worker proofline-gpu-worker proofline-bench
}

# A hash chain with range checks over BN254, and a key whose secret is known (made from a seed): for trying out, never for real statements.
make_circuit() {
  mkdir -p "$demo"
  "$bin/proofline" bench circuit --kind chain --log2 16 --curve bn128 --r1cs "$demo/new.r1cs" --witness "$demo/new.wtns"
  mv "$demo/new.r1cs" "$demo/chain.r1cs"
  mv "$demo/new.wtns" "$demo/chain.wtns"
}

make_key() {
  "$bin/proofline" bench setup --r1cs "$demo/chain.r1cs" --seed quickstart --out "$demo/new.zkey" --vkey "$demo/chain.vkey.json"
  mv "$demo/new.zkey" "$demo/chain.zkey"
}

prove() { "$bin/proofline" prove "$demo/chain.zkey" "$demo/chain.wtns" "$demo/proof.json" "$demo/public.json"; }
verify() { "$bin/proofline" verify "$demo/chain.vkey.json" "$demo/public.json" "$demo/proof.json"; }

case "${1:-}" in
  '') ;;
  --clean) rm -rf "$demo" ;;
  *) fail "usage: deploy/quickstart.sh [--clean]" ;;
esac

say "1 of 4: packages"
mapfile -t packages < <(packages_of run build)
install_packages "${packages[@]}"

say "2 of 4: build ($(build_jobs) jobs; some minutes the first time)"
timed "build" configure_and_build

say "3 of 4: a circuit of about 2^16 constraints and its test key"
if [ -f "$demo/chain.r1cs" ] && [ -f "$demo/chain.wtns" ]; then echo "the circuit is there already"; else timed "make the circuit" make_circuit; fi
if [ -f "$demo/chain.zkey" ]; then echo "the key is there already"; else timed "make the key" make_key; fi

say "4 of 4: a proof through a coordinator, a synthesis worker and a prover process"
timed "prove" prove
timed "verify" verify

cat <<EOF

It works. The proof is $demo/proof.json, its public signals $demo/public.json.

With the files of your own circuit (from circom and snarkjs):
  $bin/proofline prove circuit.zkey witness.wtns proof.json public.json
  $bin/proofline verify verification_key.json public.json proof.json
  $bin/proofline inspect circuit.zkey
A service that keeps running: see "A service" in README.md.
All tests: deploy/test.sh
EOF
