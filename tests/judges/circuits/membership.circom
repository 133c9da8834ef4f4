pragma circom 2.0.0;
include "circomlib/circuits/poseidon.circom";

// Membership of `leaf` in a binary Poseidon tree of `depth` levels; the root is public. side[i] = 1: the node is a right child.
template Membership(depth) {
    signal input leaf;
    signal input sibling[depth];
    signal input side[depth];
    signal output root;

    component hash[depth];
    signal node[depth + 1];
    signal swap[depth];
    node[0] <== leaf;
    for (var i = 0; i < depth; i++) {
        side[i] * (side[i] - 1) === 0;
        swap[i] <== side[i] * (sibling[i] - node[i]);
        hash[i] = Poseidon(2);
        hash[i].inputs[0] <== node[i] + swap[i];
        hash[i].inputs[1] <== sibling[i] - swap[i];
        node[i + 1] <== hash[i].out;
    }
    root <== node[depth];
}
