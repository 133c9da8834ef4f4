// Whole circuits without values, for tests that compare shapes.
#pragma once

#include "core/circuits/filecoin/porep_circuit.h"
#include "core/circuits/filecoin/post_circuit.h"
#include "core/circuits/filecoin/update_circuit.h"

namespace proofline::filecoin {

template <class CS>
void SynthesisePoRep(CS& cs, const PoRepShape& shape) {
  PoRepCircuit<CS> circuit(cs, shape);
  circuit.SynthesizeFixed(nullptr);
  for (uint32_t i = 0; i < shape.challenges; ++i) circuit.SynthesizeChallenge(nullptr);
}

template <class CS>
void SynthesisePoSt(CS& cs, const PoStShape& shape) {
  PoStCircuit<CS> circuit(cs, shape);
  for (uint32_t i = 0; i < shape.sectors; ++i) circuit.SynthesizeSlot(nullptr, 0);
}

template <class CS>
void SynthesiseUpdate(CS& cs, const UpdateShape& shape) {
  UpdateCircuit<CS> circuit(cs, shape);
  circuit.SynthesizeFixed(nullptr);
  for (uint32_t i = 0; i < shape.challenges; ++i) circuit.SynthesizeChallenge(i, nullptr);
}

}  // namespace proofline::filecoin
