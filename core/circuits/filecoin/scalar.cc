#include "core/circuits/filecoin/scalar.h"

namespace proofline::filecoin {

const Fr& PowerOfTwo(int k) {
  static const std::array<Fr, 256> kPowers = [] {
    std::array<Fr, 256> powers;
    powers[0] = Fr::One();
    for (size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1].Double();
    return powers;
  }();
  return kPowers[k];
}

}  // namespace proofline::filecoin
