// Builds a circuit and its witness together: every wire gets its value when it is made, so the two cannot drift apart.
//
//   CircuitBuilder<Bn254FrModulus> b;
//   Wire out = b.AddOutput();
//   Wire x = b.AddPrivateInput(value);
//   Wire square = b.Multiply(x, x);
//   b.AssertEqual(out, square);          // and sets the value of `out`
//   Circuit circuit = std::move(b).Finish();
//
// Wires must be made in the order outputs, public inputs, private inputs, all others; a call out of turn is a mistake of the caller
// and stops the program.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <utility>
#include <vector>

#include "core/circuits/circuit.h"
#include "core/field/fp.h"

namespace proofline {

// Index into the witness.
struct Wire {
  uint32_t index = 0;
};
inline constexpr Wire kOneWire{0};

// A sum of coefficient * wire, with its value under the witness in hand.
template <class FrModulus>
class WireSum {
 public:
  using Fr = Fp<FrModulus>;
  struct Term {
    uint32_t wire;
    Fr coefficient;
  };

  WireSum() = default;
  const std::vector<Term>& terms() const { return terms_; }
  const Fr& value() const { return value_; }

  // A wire stands in a sum once: snarkjs reads a sum as a map and would keep only the last of two terms.
  WireSum& Add(const Fr& coefficient, Wire wire, const Fr& wire_value) {
    value_ += coefficient * wire_value;
    auto term = std::find_if(terms_.begin(), terms_.end(), [&](const Term& t) { return t.wire == wire.index; });
    if (term == terms_.end()) {
      if (!coefficient.IsZero()) terms_.push_back({wire.index, coefficient});
      return *this;
    }
    term->coefficient += coefficient;
    if (term->coefficient.IsZero()) terms_.erase(term);
    return *this;
  }

 private:
  std::vector<Term> terms_;
  Fr value_ = Fr::Zero();
};

template <class FrModulus>
class CircuitBuilder {
 public:
  using Fr = Fp<FrModulus>;
  using Lc = WireSum<FrModulus>;
  using Part = std::pair<Fr, Wire>;

  explicit CircuitBuilder(CurveId curve) : curve_(curve) {
    values_.push_back(Fr::One());
    offsets_.push_back(0);
  }

  // The value of an output is set by AssertOutput.
  Wire AddOutput() {
    Require(stage_ == 0);
    ++n_pub_out_;
    return NewWire(Fr::Zero());
  }
  Wire AddPublicInput(const Fr& value) {
    Require(stage_ <= 1);
    stage_ = 1;
    ++n_pub_in_;
    return NewWire(value);
  }
  Wire AddPrivateInput(const Fr& value) {
    Require(stage_ <= 2);
    stage_ = 2;
    ++n_prv_in_;
    return NewWire(value);
  }
  Wire AddIntermediate(const Fr& value) {
    stage_ = 3;
    return NewWire(value);
  }
  const Fr& value(Wire w) const { return values_[w.index]; }
  uint32_t n_constraints() const { return static_cast<uint32_t>(offsets_.size() - 1); }

  Lc Linear(std::initializer_list<Part> parts) const {
    Lc sum;
    for (const auto& [coefficient, wire] : parts) Accumulate(sum, coefficient, wire);
    return sum;
  }
  Lc Linear(Wire wire) const { return Linear({{Fr::One(), wire}}); }
  void Accumulate(Lc& sum, const Fr& coefficient, Wire wire) const { sum.Add(coefficient, wire, value(wire)); }

  // a * b = c. Says nothing about whether the witness satisfies it: a test may want one that does not.
  void Constrain(const Lc& a, const Lc& b, const Lc& c) {
    for (const Lc* lc : {&a, &b, &c}) Append(*lc);
    offsets_.push_back(bytes_.size());
  }
  // A new wire holding a * b.
  Wire Multiply(const Lc& a, const Lc& b) {
    Wire product = AddIntermediate(a.value() * b.value());
    Constrain(a, b, Linear(product));
    return product;
  }
  // A purely linear constraint 0 * 0 = sum, as circom writes them.
  void AssertZero(const Lc& sum) { Constrain(Lc(), Lc(), sum); }
  // bit * (bit - 1) = 0.
  void AssertBit(Wire bit) { Constrain(Linear(bit), Linear({{Fr::One(), bit}, {-Fr::One(), kOneWire}}), Lc()); }
  // Gives `output` the value of `sum` and constrains them to be equal.
  void AssertOutput(Wire output, Lc sum) {
    Require(output.index >= 1 && output.index <= n_pub_out_);
    values_[output.index] = sum.value();
    Accumulate(sum, -Fr::One(), output);
    AssertZero(sum);
  }
  // Bits of `value`, least significant first, with the constraint sum 2^i * bit_i = sum. `value` is what sum holds, as an integer
  // below 2^count; the constraint is sound while 2^count < r.
  std::vector<Wire> Decompose(Lc sum, uint64_t value, int count) {
    std::vector<Wire> bits(count);
    Fr weight = -Fr::One();
    for (int i = 0; i < count; ++i) {
      bits[i] = AddIntermediate((value >> i) & 1 ? Fr::One() : Fr::Zero());
      AssertBit(bits[i]);
      Accumulate(sum, weight, bits[i]);
      weight = weight.Double();
    }
    AssertZero(sum);
    return bits;
  }

  Circuit Finish() && {
    Circuit circuit;
    circuit.curve = curve_;
    circuit.n_pub_out = n_pub_out_;
    circuit.n_pub_in = n_pub_in_;
    circuit.n_prv_in = n_prv_in_;
    circuit.constraints = std::move(bytes_);
    circuit.offsets = std::move(offsets_);
    circuit.values.resize(values_.size());
    for (size_t i = 0; i < values_.size(); ++i) values_[i].StoreCanon(circuit.values[i].data());
    return circuit;
  }

 private:
  static void Require(bool in_turn) {
    if (!in_turn) std::abort();
  }
  Wire NewWire(const Fr& value) {
    values_.push_back(value);
    return Wire{static_cast<uint32_t>(values_.size() - 1)};
  }
  void Append(const Lc& lc) {
    size_t at = bytes_.size();
    bytes_.resize(at + 4 + lc.terms().size() * LinearCombination::kTermBytes);
    StoreLe<uint32_t>(&bytes_[at], static_cast<uint32_t>(lc.terms().size()));
    at += 4;
    for (const auto& term : lc.terms()) {
      StoreLe<uint32_t>(&bytes_[at], term.wire);
      term.coefficient.StoreCanon(&bytes_[at + 4]);
      at += LinearCombination::kTermBytes;
    }
  }

  CurveId curve_;
  int stage_ = 0;
  uint32_t n_pub_out_ = 0, n_pub_in_ = 0, n_prv_in_ = 0;
  std::vector<Fr> values_;
  std::vector<uint8_t> bytes_;
  std::vector<uint64_t> offsets_;
};

}  // namespace proofline
