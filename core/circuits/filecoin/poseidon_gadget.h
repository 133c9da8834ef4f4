// Poseidon as a circuit: the arrangement of variables and rows that Filecoin's keys were made for. A linear layer makes no variables; it
// leaves linear combinations that are allocated only where an S-box needs them.
#pragma once

#include <vector>

#include "core/circuits/filecoin/number.h"
#include "core/circuits/filecoin/poseidon.h"

namespace proofline::filecoin {

namespace poseidon_detail {

// One element of the state: a linear combination and its value. Which of the two is real is the constraint system's matter.
template <class CS>
struct Element {
  [[no_unique_address]] typename CS::Sum sum{};
  [[no_unique_address]] typename CS::Scalar value{};

  void AddScaled(const Element& other, const Fr& factor) {
    sum.AddScaled(other.sum, factor);
    value = value + other.value * factor;
  }
};

template <class CS>
Element<CS> Of(const Num<CS>& x) {
  Element<CS> e;
  e.sum.Add(x.var);
  e.value = x.value;
  return e;
}

// (x + pre)^5 + post: x^2, x^4, and x * x^4 = x^5 - post.
template <class CS>
Element<CS> FifthPower(CS& cs, const Num<CS>& x, const Fr* pre, const Fr* post) {
  auto add_base = [&](auto& s) {
    s.Add(x.var);
    if (pre) s.Add(*pre, CS::kOne);
  };
  const auto base = CS::Value([&] { return pre ? x.value + *pre : x.value + Fr::Zero(); });
  const Num<CS> square = AllocNum(cs, base * base);
  cs.Enforce(add_base, add_base, [&](auto& s) { s.Add(square.var); });
  const Num<CS> fourth = Multiply(cs, square, square);
  const auto fifth = base * fourth.value;
  const Num<CS> out = AllocNum(cs, CS::Value([&] { return post ? fifth + *post : fifth + Fr::Zero(); }));
  cs.Enforce(add_base, [&](auto& s) { s.Add(fourth.var); },
             [&](auto& s) {
               s.Add(out.var);
               if (post) s.Add(-*post, CS::kOne);
             });
  return Of<CS>(out);
}

// A variable for a linear combination: sum * 1 = v.
template <class CS>
Num<CS> Settle(CS& cs, const Element<CS>& e) {
  const Num<CS> v = AllocNum(cs, e.value);
  cs.Enforce([&](auto& s) { s.AddSum(e.sum); }, [&](auto& s) { s.Add(CS::kOne); }, [&](auto& s) { s.Add(v.var); });
  return v;
}

template <class CS>
class State {
 public:
  State(CS& cs, const PoseidonConstants& constants) : cs_(cs), constants_(constants) {}

  // The first round's S-boxes. The tag's is a constant and allocates nothing.
  void Begin(std::span<const Num<CS>> inputs, const Fr& tag) {
    const Fr* pre = constants_.keys.data();
    next_key_ = pre + constants_.width();
    const Fr base = tag + pre[0], square = base * base;
    const Fr y = square * square * base + *next_key_++;
    Element<CS> first;
    first.sum.Add(y, CS::kOne);
    first.value = CS::Value([&] { return y; });
    elements_.push_back(first);
    for (size_t i = 0; i < inputs.size(); ++i) elements_.push_back(FifthPower(cs_, inputs[i], &pre[i + 1], next_key_++));
    Mix(constants_.mds);
  }
  void FullRound(const PoseidonMatrix& matrix, bool last) {
    for (Element<CS>& e : elements_) e = FifthPower(cs_, Settle(cs_, e), nullptr, last ? nullptr : next_key_++);
    Mix(matrix);
  }
  void PartialRound(const PoseidonSparse& sparse) {
    const Element<CS> first = FifthPower(cs_, Settle(cs_, elements_[0]), nullptr, next_key_++);
    Element<CS> mixed;
    mixed.AddScaled(first, sparse.column[0]);
    for (size_t i = 1; i < elements_.size(); ++i) {
      mixed.AddScaled(elements_[i], sparse.column[i]);
      elements_[i].AddScaled(first, sparse.row[i - 1]);
      elements_[i].sum.Normalise();
    }
    mixed.sum.Normalise();
    elements_[0] = std::move(mixed);
  }
  Num<CS> Digest() { return Settle(cs_, elements_[1]); }

 private:
  void Mix(const PoseidonMatrix& matrix) {
    std::vector<Element<CS>> mixed(elements_.size());
    for (size_t i = 0; i < elements_.size(); ++i)
      for (size_t j = 0; j < elements_.size(); ++j) mixed[j].AddScaled(elements_[i], matrix[i][j]);
    for (Element<CS>& e : mixed) e.sum.Normalise();
    elements_ = std::move(mixed);
  }

  CS& cs_;
  const PoseidonConstants& constants_;
  const Fr* next_key_ = nullptr;
  std::vector<Element<CS>> elements_;
};

}  // namespace poseidon_detail

// Precondition: an instance of this many inputs exists.
template <class CS>
Num<CS> Poseidon(CS& cs, std::span<const Num<CS>> inputs, const Fr& tag) {
  const PoseidonConstants& constants = GetPoseidonConstants(static_cast<int>(inputs.size()));
  poseidon_detail::State<CS> state(cs, constants);
  constexpr int kHalf = kPoseidonFullRounds / 2;
  state.Begin(inputs, tag);
  for (int i = 1; i < kHalf; ++i) state.FullRound(i + 1 < kHalf ? constants.mds : constants.pre_sparse, false);
  for (const PoseidonSparse& sparse : constants.sparse) state.PartialRound(sparse);
  for (int i = 0; i < kHalf; ++i) state.FullRound(constants.mds, i + 1 == kHalf);
  return state.Digest();
}

// With the tag of tree nodes, columns and comm_r.
template <class CS>
Num<CS> Poseidon(CS& cs, std::span<const Num<CS>> inputs) {
  return Poseidon<CS>(cs, inputs, PoseidonMerkleTag(static_cast<int>(inputs.size())));
}
template <class CS>
Num<CS> Poseidon2(CS& cs, const Num<CS>& left, const Num<CS>& right, const Fr& tag) {
  const std::array<Num<CS>, 2> inputs = {left, right};
  return Poseidon<CS>(cs, inputs, tag);
}

}  // namespace proofline::filecoin
