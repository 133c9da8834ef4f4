// The constraint system that keeps values: auxiliary ones in the compact form, inputs apart. Rows cost nothing.
#pragma once

#include "core/circuits/filecoin/compact_witness.h"
#include "core/circuits/filecoin/constraint_system.h"

namespace proofline::filecoin {

// Wordwise: SHA-256 by whole words. Otherwise bit by bit, the twin that tests compare with.
template <bool Wordwise>
class BasicWitnessSystem {
 public:
  using Var = NoVariable;
  using Scalar = Fr;
  using Sum = NoSum;
  static constexpr bool kHasShape = false, kHasValues = true, kWordwiseSha256 = Wordwise;
  static constexpr NoVariable kOne{};

  template <class F>
  static Fr Value(const F& f) {
    return f();
  }
  NoVariable AllocAux(const Fr& value) {
    aux_.Put(value);
    return {};
  }
  NoVariable AllocBit(bool value) {
    aux_.PutBits(value, 1);
    return {};
  }
  void PutBits(uint64_t bits, int count) { aux_.PutBits(bits, count); }
  NoVariable AllocInput(const Fr& value) {
    inputs_.push_back(CanonicalOf(value));
    return {};
  }
  template <class A, class B, class C>
  void Enforce(const A&, const B&, const C&) {}

  WitnessPart& aux() { return aux_; }
  std::vector<FrCanonical>& inputs() { return inputs_; }  // without the constant 1

 private:
  WitnessPart aux_;
  std::vector<FrCanonical> inputs_;
};

using WitnessSystem = BasicWitnessSystem<true>;
using BitwiseWitnessSystem = BasicWitnessSystem<false>;

}  // namespace proofline::filecoin
