// The circuits that jobs may name. The client has read and checked the key; the coordinator believes the numbers only as far as it
// needs them (does a partition fit a slot) and never opens a file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/wire/proofline.pb.h"
#include "shm/sections.h"
#include "shm/slot.h"

namespace proofline::coordinator {

// 1 to 128 characters of [A-Za-z0-9._-], not beginning with '.' or '-'. `what` names the thing in the message.
Status CheckName(std::string_view name, std::string_view what);

// What a partition of the circuit needs of a slot.
shm::SlotNeed NeedOfCircuit(const wire::Circuit& circuit);

class CircuitRegistry {
 public:
  void Restore(wire::Circuit circuit);

  struct Added {
    wire::Circuit circuit;
    wire::CircuitChange change = wire::CIRCUIT_UNCHANGED;
  };
  // Gives it a number; a known name with the same content (key hash and path of the .r1cs) keeps its own, and the files are from
  // now on the ones given here. kInvalidArgument for a field out of range, kResource with both numbers when a partition does not fit a
  // slot, kConflict when the name has other content.
  Result<Added> Add(wire::Circuit circuit, const shm::SlotLayout& layout, int64_t now_unix_ms);
  void Remove(uint64_t id);

  const wire::Circuit* Find(uint64_t id) const;
  const wire::Circuit* FindByName(std::string_view name) const;
  void SetWideFraction(uint64_t id, uint64_t ppm);
  const std::map<uint64_t, wire::Circuit>& all() const { return circuits_; }
  // The need of the largest; zero if there is none.
  shm::SlotNeed LargestNeed() const;

 private:
  std::map<uint64_t, wire::Circuit> circuits_;
  uint64_t next_id_ = 1;
};

}  // namespace proofline::coordinator
