// Small circuits, each with something unusual that is nevertheless valid.
#pragma once

#include <string>
#include <vector>

#include "core/circuits/builder.h"

namespace proofline {

struct NamedCircuit {
  std::string name;
  Circuit circuit;
};

template <class FrModulus>
std::vector<NamedCircuit> OddCircuits(CurveId curve) {
  using Fr = Fp<FrModulus>;
  using Builder = CircuitBuilder<FrModulus>;
  const Fr one = Fr::One(), minus_one = -Fr::One();
  std::vector<NamedCircuit> all;
  auto add = [&](std::string name, auto&& build) {
    Builder b(curve);
    build(b);
    all.push_back({std::move(name), std::move(b).Finish()});
  };
  auto product = [&](Builder& b, const Fr& x, const Fr& y) {
    Wire out = b.AddOutput();
    Wire px = b.AddPrivateInput(x), py = b.AddPrivateInput(y);
    b.AssertOutput(out, b.Linear(b.Multiply(b.Linear(px), b.Linear(py))));
  };

  add("no public signal, domain of 2", [&](Builder& b) {
    Wire x = b.AddPrivateInput(Fr::FromU64(7));
    b.Multiply(b.Linear(x), b.Linear(x));
  });
  add("one public signal, domain of 2, no constraint", [&](Builder& b) { b.AddPublicInput(Fr::FromU64(5)); });
  add("no constraint, no public signal, one wire", [&](Builder&) {});
  add("no constraint, three public signals", [&](Builder& b) {
    for (uint64_t i = 1; i <= 3; ++i) b.AddPublicInput(Fr::FromU64(i));
    b.AddPrivateInput(minus_one);
  });
  add("a product", [&](Builder& b) { product(b, Fr::FromU64(3), Fr::FromU64(11)); });
  add("all zero", [&](Builder& b) { product(b, Fr::Zero(), Fr::Zero()); });
  add("all r - 1", [&](Builder& b) {
    for (int i = 0; i < 4; ++i) b.AddPublicInput(minus_one);
    Wire x = b.AddPrivateInput(minus_one);
    for (int i = 0; i < 9; ++i) b.Constrain(b.Linear({{minus_one, x}}), b.Linear(Wire{1}), b.Linear(x));
  });
  add("only linear constraints", [&](Builder& b) {
    Wire out = b.AddOutput();
    Wire x = b.AddPrivateInput(Fr::FromU64(20)), y = b.AddPrivateInput(Fr::FromU64(22));
    Wire sum = b.AddIntermediate(Fr::FromU64(42));
    b.AssertZero(b.Linear({{one, x}, {one, y}, {minus_one, sum}}));
    b.AssertOutput(out, b.Linear({{one, x}, {one, y}}));
  });
  add("empty rows before, between and after", [&](Builder& b) {
    Wire out = b.AddOutput();
    Wire x = b.AddPrivateInput(Fr::FromU64(6));
    b.Constrain({}, {}, {});
    Wire square = b.Multiply(b.Linear(x), b.Linear(x));
    b.Constrain({}, b.Linear(x), {});
    b.Constrain(b.Linear(x), {}, {});
    b.AssertOutput(out, b.Linear(square));
    b.Constrain({}, {}, {});
  });
  add("domain of 8 filled exactly", [&](Builder& b) {  // 6 constraints, 1 public signal, the constant
    Wire x = b.AddPublicInput(Fr::FromU64(2));
    for (int i = 0; i < 6; ++i) x = b.Multiply(b.Linear(x), b.Linear({{Fr::FromU64(3), x}, {one, kOneWire}}));
  });
  add("one row over a power of two", [&](Builder& b) {
    Wire x = b.AddPublicInput(Fr::FromU64(2));
    for (int i = 0; i < 7; ++i) x = b.Multiply(b.Linear(x), b.Linear(x));
  });
  add("wires that no constraint uses", [&](Builder& b) {
    for (int i = 0; i < 3; ++i) b.AddPrivateInput(Fr::FromU64(1000 + i));
    Wire x = b.AddPrivateInput(Fr::FromU64(9));
    b.Multiply(b.Linear(x), b.Linear(x));
    for (int i = 0; i < 3; ++i) b.AddIntermediate(i == 1 ? Fr::Zero() : minus_one);
  });
  add("one wire in many terms of a row, coefficients that cancel", [&](Builder& b) {
    Wire x = b.AddPrivateInput(Fr::FromU64(5));
    auto many = b.Linear({{one, x}, {one, x}, {minus_one, x}, {Fr::FromU64(4), x}, {minus_one, kOneWire}, {one, kOneWire}});
    b.Multiply(many, b.Linear({{one, x}, {minus_one, x}}));
    b.Multiply(many, many);
  });
  add("forty public signals", [&](Builder& b) {
    std::vector<Wire> in;
    for (uint64_t i = 0; i < 40; ++i) in.push_back(b.AddPublicInput(i % 3 == 0 ? Fr::Zero() : Fr::FromU64(i) * minus_one));
    for (size_t i = 1; i < in.size(); ++i) b.Multiply(b.Linear(in[i]), b.Linear(in[i - 1]));
  });
  return all;
}

}  // namespace proofline
