pragma circom 2.0.0;

// The smallest useful statement: "I know two factors of c".
template Multiplier() {
    signal input a;
    signal input b;
    signal output c;
    c <== a * b;
}
