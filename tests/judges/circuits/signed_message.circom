pragma circom 2.0.0;
include "circomlib/circuits/eddsaposeidon.circom";

// "Somebody with public key (ax, ay) signed this message": the signature stays private. Baby Jubjub lives over BN254's scalar field only.
template SignedMessage() {
    signal input ax;
    signal input ay;
    signal input message;
    signal input s;
    signal input r8x;
    signal input r8y;

    component eddsa = EdDSAPoseidonVerifier();
    eddsa.enabled <== 1;
    eddsa.Ax <== ax;
    eddsa.Ay <== ay;
    eddsa.M <== message;
    eddsa.S <== s;
    eddsa.R8x <== r8x;
    eddsa.R8y <== r8y;
}
