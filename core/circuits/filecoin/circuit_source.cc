#include "core/circuits/filecoin/circuit_source.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/circuits/filecoin/porep_circuit.h"
#include "core/circuits/filecoin/post_circuit.h"
#include "core/circuits/filecoin/update_circuit.h"

namespace proofline::filecoin {
namespace {

struct CountingSink : RowSink {
  void Row(std::span<const Term>, std::span<const Term>, std::span<const Term>) override {}
};

// Terms as variables of a witness: inputs, then auxiliary ones.
class RenumberingSink : public RowSink {
 public:
  RenumberingSink(uint32_t num_inputs, const ConstraintSource::RowFn& fn) : num_inputs_(num_inputs), fn_(fn) {}
  void Row(std::span<const Term> a, std::span<const Term> b, std::span<const Term> c) override {
    fn_({Renumber(a, 0), Renumber(b, 1), Renumber(c, 2)});
  }

 private:
  std::span<const ConstraintTerm> Renumber(std::span<const Term> terms, int side) {
    std::vector<ConstraintTerm>& out = sides_[side];
    out.resize(terms.size());
    for (size_t i = 0; i < terms.size(); ++i) {
      const Variable v = terms[i].variable;
      out[i].variable = v.is_aux() ? num_inputs_ + v.index() : v.index();
      std::copy_n(terms[i].coefficient.limbs, 4, out[i].coefficient.begin());
    }
    return out;
  }

  const uint32_t num_inputs_;
  const ConstraintSource::RowFn& fn_;
  std::vector<ConstraintTerm> sides_[3];
};

void SillyMul(ShapeSystem& cs) {
  const Variable a = cs.AllocAux({}), b = cs.AllocAux({}), c = cs.AllocInput({});
  cs.Enforce([&](auto& s) { s.Add(a); }, [&](auto& s) { s.Add(b); }, [&](auto& s) { s.Add(c); });
}

void Poseidon8Preimage(ShapeSystem& cs) {
  std::vector<Num<ShapeSystem>> values;
  for (int i = 0; i < 8; ++i) values.push_back(AllocNum(cs, NoScalar()));
  Inputize(cs, Poseidon<ShapeSystem>(cs, values));
}

void SynthesisePoRep(ShapeSystem& cs, const PoRepShape& shape) {
  PoRepCircuit<ShapeSystem> circuit(cs, shape);
  circuit.SynthesizeFixed(nullptr);
  for (uint32_t i = 0; i < shape.challenges; ++i) circuit.SynthesizeChallenge(nullptr);
}

void SynthesisePoSt(ShapeSystem& cs, const PoStShape& shape) {
  PoStCircuit<ShapeSystem> circuit(cs, shape);
  for (uint32_t i = 0; i < shape.sectors; ++i) circuit.SynthesizeSlot(nullptr, 0);
}

void SynthesiseUpdate(ShapeSystem& cs, const UpdateShape& shape) {
  UpdateCircuit<ShapeSystem> circuit(cs, shape);
  circuit.SynthesizeFixed(nullptr);
  for (uint32_t i = 0; i < shape.challenges; ++i) circuit.SynthesizeChallenge(i, nullptr);
}

Result<SynthesisSource::Synthesise> SynthesisOf(std::string_view name) {
  if (name == "silly-mul") return SynthesisSource::Synthesise(SillyMul);
  if (name == "poseidon8-preimage") return SynthesisSource::Synthesise(Poseidon8Preimage);
  const size_t dash = name.find('-');
  const std::string_view kind = name.substr(0, dash);
  if (dash == name.npos || (kind != "porep" && kind != "winning" && kind != "window" && kind != "update"))
    return Status(ErrorCode::kInvalidArgument, StrCat("'", name.substr(0, 40), "' is no circuit"), "",
                  "give porep-, winning-, window- or update- and a sector size (porep-2KiB), silly-mul or poseidon8-preimage");
  PL_ASSIGN_OR_RETURN(const uint64_t bytes, ParseSectorSize(name.substr(dash + 1)));
  PL_ASSIGN_OR_RETURN(const SectorShape sector, SectorShapeOf(bytes));
  if (kind == "porep") return SynthesisSource::Synthesise([shape = sector.porep](ShapeSystem& cs) { SynthesisePoRep(cs, shape); });
  if (kind == "winning") return SynthesisSource::Synthesise([shape = sector.winning](ShapeSystem& cs) { SynthesisePoSt(cs, shape); });
  if (kind == "window") return SynthesisSource::Synthesise([shape = sector.window](ShapeSystem& cs) { SynthesisePoSt(cs, shape); });
  if (!sector.update) return Status(ErrorCode::kUnsupported, StrCat("sectors of ", SectorSizeName(bytes), " have no update circuit"));
  return SynthesisSource::Synthesise([shape = *sector.update](ShapeSystem& cs) { SynthesiseUpdate(cs, shape); });
}

}  // namespace

SynthesisSource::SynthesisSource(Synthesise synthesise) : synthesise_(std::move(synthesise)) {
  CountingSink sink;
  ShapeSystem cs(sink);
  synthesise_(cs);
  shape_ = {CurveId::kBls12381, cs.num_inputs() + cs.num_aux(), cs.num_inputs() - 1, cs.num_rows()};
}

void SynthesisSource::ForEachRow(const RowFn& fn) const {
  RenumberingSink sink(shape_.n_public + 1, fn);
  ShapeSystem cs(sink);
  synthesise_(cs);
}

Result<std::unique_ptr<ConstraintSource>> MakeCircuitSource(std::string_view name) {
  PL_ASSIGN_OR_RETURN(SynthesisSource::Synthesise synthesise, SynthesisOf(name));
  return std::unique_ptr<ConstraintSource>(new SynthesisSource(std::move(synthesise)));
}

}  // namespace proofline::filecoin
