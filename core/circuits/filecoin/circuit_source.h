// Filecoin's circuits by name, as key generation takes them: rows that are synthesized anew for each pass, so that no circuit is too large.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/status.h"
#include "core/circuits/filecoin/constraint_system.h"
#include "core/groth16/constraint_source.h"

namespace proofline::filecoin {

class SynthesisSource : public ConstraintSource {
 public:
  // Must do the same each time.
  using Synthesise = std::function<void(ShapeSystem&)>;

  // Synthesizes once, to count.
  explicit SynthesisSource(Synthesise synthesise);
  const Shape& shape() const override { return shape_; }
  void ForEachRow(const RowFn& fn) const override;

 private:
  Synthesise synthesise_;
  Shape shape_;
};

// "porep-2KiB", "winning-32GiB", "window-512MiB", "update-8MiB": kind and sector size, one partition of it. Two small ones for tests:
// "silly-mul" (a * b = c, c public) and "poseidon8-preimage" (eight values, their digest public). kInvalidArgument for any other name,
// kUnsupported for a size that has no such circuit.
Result<std::unique_ptr<ConstraintSource>> MakeCircuitSource(std::string_view name);

}  // namespace proofline::filecoin
