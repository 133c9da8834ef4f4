pragma circom 2.0.0;
include "circomlib/circuits/sha256/sha256.circom";

// Knowledge of `count` bytes with a given SHA-256 digest. Both are given as bits, most significant first; the digest comes out as two
// 128-bit numbers, since its bits as they are would be 256 public signals.
template Preimage(count) {
    signal input bits[8 * count];
    signal output digest[2];

    component hash = Sha256(8 * count);
    for (var i = 0; i < 8 * count; i++) {
        bits[i] * (bits[i] - 1) === 0;
        hash.in[i] <== bits[i];
    }
    for (var half = 0; half < 2; half++) {
        var value = 0;
        for (var i = 0; i < 128; i++) {
            value = 2 * value + hash.out[128 * half + i];
        }
        digest[half] <== value;
    }
}
