// Poseidon (Grassi, Khovratovich, Rechberger, Roy, Schofnegger, USENIX Security 2021) over Fr, in the instances that Filecoin uses: width
// arity + 1, x^5, 8 full rounds, state (tag, inputs), digest = element 1.
//
// The constants come from the authors' generator (an 80-bit LFSR) and are brought into the optimised form in which a partial round has
// one constant and a sparse matrix: additions move through the linear layers, and the matrix is factored round by round.
#pragma once

#include <span>
#include <vector>

#include "core/circuits/filecoin/constraint_system.h"

namespace proofline::filecoin {

inline constexpr int kPoseidonFullRounds = 8;

// Row vectors times matrices: new[j] = sum over i of state[i] * rows[i][j].
using PoseidonMatrix = std::vector<std::vector<Fr>>;

// new[0] = sum over i of state[i] * column[i]; new[j] = state[j] + state[0] * row[j - 1].
struct PoseidonSparse {
  std::vector<Fr> column, row;
};

struct PoseidonConstants {
  int arity = 0, partial_rounds = 0;
  std::vector<Fr> round_keys;       // width * rounds, as generated
  PoseidonMatrix mds;
  // Optimised form: width keys before the first round, then what is added after the S-boxes: width in each of the first four rounds, one in
  // each partial round, width in the last but one, two and three.
  std::vector<Fr> keys;
  PoseidonMatrix pre_sparse;            // the linear layer of the fourth round
  std::vector<PoseidonSparse> sparse;   // one for each partial round
  int width() const { return arity + 1; }
};

// Made on first use and kept; from any thread. Arities 2, 4, 8, 11, 16, 24, 36; nothing else has an instance here, and any other number
// stops the program.
const PoseidonConstants& GetPoseidonConstants(int arity);

// The tag of a node with `arity` children, also of column hashes and of comm_r: 2^arity - 1.
Fr PoseidonMerkleTag(int arity);
// The tag of the sector update's randomness (arity 2): 2^40.
Fr PoseidonRandomnessTag();

// The digest of as many inputs as the instance's arity.
Fr PoseidonHash(std::span<const Fr> inputs, const Fr& tag);
inline Fr PoseidonHash(std::span<const Fr> inputs) { return PoseidonHash(inputs, PoseidonMerkleTag(static_cast<int>(inputs.size()))); }

}  // namespace proofline::filecoin
