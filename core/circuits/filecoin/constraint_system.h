// What a circuit is written against. Every gadget and circuit in this folder is a template over a constraint system CS, so that one
// description gives the matrix (ShapeSystem, here), the witness (WitnessSystem, witness_system.h) and plain values (ValueSystem, here).
//
// A constraint system has
//   Var, Scalar, Sum         a variable, its value, a linear combination; empty types where they are not wanted
//   kHasShape, kHasValues    which of them are real
//   Value(f)                 f() where values are wanted; f is not called otherwise
//   AllocAux(v), AllocBit(b), AllocInput(v)    a new variable; auxiliary variables and inputs are numbered apart, from 0 and 1
//   Enforce(a, b, c)         one row a * b = c; each argument is a function that fills a Sum and is called only for a shape
//   kOne                     input 0, the constant 1
//
// The order of allocations and rows is part of the circuit: keys were made for it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/circuits/filecoin/scalar.h"

namespace proofline::filecoin {

// Inputs sort before auxiliary variables, each by index: the order of terms in a row.
struct Variable {
  static constexpr uint32_t kAuxBit = uint32_t{1} << 31;
  uint32_t code = 0;
  static constexpr Variable Input(uint32_t index) { return {index}; }
  static constexpr Variable Aux(uint32_t index) { return {index | kAuxBit}; }
  constexpr bool is_aux() const { return (code & kAuxBit) != 0; }
  constexpr uint32_t index() const { return code & ~kAuxBit; }
  friend bool operator==(Variable, Variable) = default;
};

struct Term {
  Variable variable;
  Fr coefficient;
};

// A linear combination. Terms may be added in any order; Normalise sorts them, merges terms of one variable and drops zeros.
class LinearSum {
 public:
  void Clear() {
    terms_.clear();
    sorted_ = true;
  }
  void Add(const Fr& coefficient, Variable variable) {
    sorted_ = sorted_ && (terms_.empty() || terms_.back().variable.code < variable.code);
    terms_.push_back({variable, coefficient});
  }
  void Add(Variable variable) { Add(Fr::One(), variable); }
  void Subtract(Variable variable) { Add(-Fr::One(), variable); }
  void AddSum(const LinearSum& other) {
    for (const Term& t : other.terms_) Add(t.coefficient, t.variable);
  }
  void AddScaled(const LinearSum& other, const Fr& factor) {
    for (const Term& t : other.terms_) Add(t.coefficient * factor, t.variable);
  }
  void Normalise();
  std::span<const Term> terms() const { return terms_; }

 private:
  std::vector<Term> terms_;
  bool sorted_ = true;
};

struct NoSum {
  template <class... Args>
  void Add(const Args&...) {}
  template <class... Args>
  void Subtract(const Args&...) {}
  template <class... Args>
  void AddSum(const Args&...) {}
  template <class... Args>
  void AddScaled(const Args&...) {}
  void Clear() {}
  void Normalise() {}
};

// Takes rows as they come, normalised. The spans are valid during the call.
class RowSink {
 public:
  virtual ~RowSink() = default;
  virtual void Row(std::span<const Term> a, std::span<const Term> b, std::span<const Term> c) = 0;
};

// Shape without values: numbers the variables and hands every row to a sink. Not for more than one thread.
class ShapeSystem {
 public:
  using Var = Variable;
  using Scalar = NoScalar;
  using Sum = LinearSum;
  static constexpr bool kHasShape = true, kHasValues = false, kWordwiseSha256 = false;
  static constexpr Variable kOne = Variable::Input(0);

  explicit ShapeSystem(RowSink& sink) : sink_(sink) {}
  template <class F>
  static NoScalar Value(const F&) {
    return {};
  }
  Variable AllocAux(NoScalar) { return Variable::Aux(num_aux_++); }
  Variable AllocBit(bool) { return Variable::Aux(num_aux_++); }
  Variable AllocInput(NoScalar) { return Variable::Input(num_inputs_++); }
  template <class A, class B, class C>
  void Enforce(const A& a, const B& b, const C& c) {
    Fill(sums_[0], a);
    Fill(sums_[1], b);
    Fill(sums_[2], c);
    sink_.Row(sums_[0].terms(), sums_[1].terms(), sums_[2].terms());
    ++num_rows_;
  }

  uint32_t num_inputs() const { return num_inputs_; }  // the constant 1 counts
  uint32_t num_aux() const { return num_aux_; }
  uint64_t num_rows() const { return num_rows_; }

 private:
  template <class F>
  static void Fill(LinearSum& sum, const F& f) {
    sum.Clear();
    f(sum);
    sum.Normalise();
  }

  RowSink& sink_;
  LinearSum sums_[3];
  uint32_t num_inputs_ = 1, num_aux_ = 0;
  uint64_t num_rows_ = 0;
};

struct NoVariable {};

// Values only, nothing kept: what a gadget computes.
class ValueSystem {
 public:
  using Var = NoVariable;
  using Scalar = Fr;
  using Sum = NoSum;
  static constexpr bool kHasShape = false, kHasValues = true, kWordwiseSha256 = false;
  static constexpr NoVariable kOne{};
  template <class F>
  static Fr Value(const F& f) {
    return f();
  }
  NoVariable AllocAux(const Fr&) { return {}; }
  NoVariable AllocBit(bool) { return {}; }
  NoVariable AllocInput(const Fr&) { return {}; }
  template <class A, class B, class C>
  void Enforce(const A&, const B&, const C&) {}
};

// The empty side of a row.
inline constexpr auto kNothing = [](auto&) {};

}  // namespace proofline::filecoin
