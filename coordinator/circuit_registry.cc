#include "coordinator/circuit_registry.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/groth16/result.h"

namespace proofline::coordinator {

namespace {

constexpr size_t kMaxNameBytes = 128;
constexpr size_t kMaxPathBytes = 4096;
constexpr uint32_t kMaxLog2Domain = 28;

Status Bad(const wire::Circuit& c, const std::string& fact) {
  return Status(ErrorCode::kInvalidArgument, StrCat("circuit \"", c.name(), "\": ", fact));
}

Status CheckPath(const wire::Circuit& c, const std::string& path, std::string_view what) {
  if (path.size() > kMaxPathBytes) return Bad(c, StrCat("the path of its ", what, " has ", path.size(), " bytes, at most ", kMaxPathBytes, " are allowed"));
  if (path.empty() || path.front() != '/') return Bad(c, StrCat("the path of its ", what, " is not absolute"));
  if (path.find('\0') != std::string::npos) return Bad(c, StrCat("the path of its ", what, " holds a zero byte"));
  return OkStatus();
}

Status CheckFields(const wire::Circuit& c) {
  PL_RETURN_IF_ERROR(CheckName(c.name(), "circuit name"));
  PL_RETURN_IF_ERROR(CheckPath(c, c.key_path(), "key"));
  if (!c.r1cs_path().empty()) PL_RETURN_IF_ERROR(CheckPath(c, c.r1cs_path(), "constraint file"));
  if (c.curve() != 1 && c.curve() != 2) return Bad(c, StrCat("curve ", c.curve(), " is unknown"));
  if (c.log2_domain() > kMaxLog2Domain) return Bad(c, StrCat("its domain is 2^", c.log2_domain(), ", at most 2^", kMaxLog2Domain, " is possible"));
  if (c.n_public() >= c.n_vars()) return Bad(c, StrCat("it has ", c.n_public(), " public signals of ", c.n_vars(), " variables"));
  if (c.key_hash().size() > 128) return Bad(c, "its key hash is too long");
  return OkStatus();
}

bool SameFile(const wire::Circuit& a, const wire::Circuit& b) { return a.key_path() == b.key_path() && a.key_mtime_ns() == b.key_mtime_ns(); }
bool SameR1csFile(const wire::Circuit& a, const wire::Circuit& b) { return a.r1cs_bytes() == b.r1cs_bytes() && a.r1cs_mtime_ns() == b.r1cs_mtime_ns(); }

// A private stack has no hash; the file's identity stands for it.
bool SameKey(const wire::Circuit& a, const wire::Circuit& b) {
  const bool same_shape = a.curve() == b.curve() && a.n_vars() == b.n_vars() && a.n_public() == b.n_public() && a.log2_domain() == b.log2_domain();
  return same_shape && a.key_bytes() == b.key_bytes() && a.key_hash() == b.key_hash() && (!a.key_hash().empty() || SameFile(a, b));
}

// Nothing but the same key with the same constraints may go under a known name.
Status CheckSameContent(const wire::Circuit& known, const wire::Circuit& circuit) {
  const std::string remedy = "choose another name, or `proofline circuit remove` it first";
  if (!SameKey(known, circuit))
    return Status(ErrorCode::kConflict, StrCat("the circuit \"", circuit.name(), "\" is known with another key"),
                  StrCat("known: ", known.key_path(), ", ", known.key_bytes(), " bytes, SHA-256 ", known.key_hash()), remedy);
  if (known.r1cs_path() == circuit.r1cs_path()) return OkStatus();
  const auto shown = [](const wire::Circuit& c) { return c.r1cs_path().empty() ? std::string("none") : c.r1cs_path(); };
  return Status(ErrorCode::kConflict, StrCat("the circuit \"", circuit.name(), "\" is known with the same key, but with another .r1cs"),
                StrCat("known: ", shown(known), "; now: ", shown(circuit)), remedy);
}

}  // namespace

Status CheckName(std::string_view name, std::string_view what) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
  };
  if (!name.empty() && name.size() <= kMaxNameBytes && name.front() != '.' && name.front() != '-' && std::all_of(name.begin(), name.end(), allowed)) {
    return OkStatus();
  }
  return Status(ErrorCode::kInvalidArgument, StrCat("the ", what, " \"", name.substr(0, kMaxNameBytes), "\" is not allowed"), {},
                StrCat("use 1 to ", kMaxNameBytes, " letters, digits, '.', '_' and '-', not beginning with '.' or '-'"));
}

shm::SlotNeed NeedOfCircuit(const wire::Circuit& c) {
  return shm::NeedOf(c.n_vars(), uint64_t{1} << std::min(c.log2_domain(), kMaxLog2Domain), ResultBytes(c.n_public()));
}

void CircuitRegistry::Restore(wire::Circuit circuit) {
  next_id_ = std::max(next_id_, circuit.id() + 1);
  const uint64_t id = circuit.id();
  circuits_[id] = std::move(circuit);
}

Result<CircuitRegistry::Added> CircuitRegistry::Add(wire::Circuit circuit, const shm::SlotLayout& layout, int64_t now_unix_ms) {
  PL_RETURN_IF_ERROR(CheckFields(circuit));
  if (const wire::Circuit* known = FindByName(circuit.name())) {
    PL_RETURN_IF_ERROR(CheckSameContent(*known, circuit));
    if (SameFile(*known, circuit) && SameR1csFile(*known, circuit)) return Added{*known, wire::CIRCUIT_UNCHANGED};
    wire::Circuit& moved = circuits_.at(known->id());
    moved.set_key_path(circuit.key_path());
    moved.set_key_mtime_ns(circuit.key_mtime_ns());
    moved.set_r1cs_bytes(circuit.r1cs_bytes());
    moved.set_r1cs_mtime_ns(circuit.r1cs_mtime_ns());
    return Added{moved, wire::CIRCUIT_UPDATED};
  }
  const shm::SlotNeed need = NeedOfCircuit(circuit);
  if (need.result_area_bytes > layout.result_area_bytes || need.slot_bytes - need.result_area_bytes > layout.slot_bytes - layout.result_area_bytes) {
    const shm::SlotNeed both = shm::Max(need, {layout.slot_bytes, layout.result_area_bytes});
    return Status(ErrorCode::kResource,
                  StrCat("the circuit \"", circuit.name(), "\" needs slots of ", need.slot_bytes, " bytes (results ", need.result_area_bytes,
                         "), this stack's have ", layout.slot_bytes, " (results ", layout.result_area_bytes, ")"),
                  {}, StrCat("start the stack with `bytes = ", both.slot_bytes, "` and `result_bytes = ", both.result_area_bytes, "` in [slots] of its configuration"));
  }
  circuit.set_id(next_id_++);
  circuit.set_added_unix_ms(now_unix_ms);
  circuits_[circuit.id()] = circuit;
  return Added{std::move(circuit), wire::CIRCUIT_NEW};
}

void CircuitRegistry::Remove(uint64_t id) { circuits_.erase(id); }

const wire::Circuit* CircuitRegistry::Find(uint64_t id) const {
  const auto at = circuits_.find(id);
  return at == circuits_.end() ? nullptr : &at->second;
}

const wire::Circuit* CircuitRegistry::FindByName(std::string_view name) const {
  for (const auto& [id, circuit] : circuits_) {
    if (circuit.name() == name) return &circuit;
  }
  return nullptr;
}

void CircuitRegistry::SetWideFraction(uint64_t id, uint64_t ppm) {
  if (const auto at = circuits_.find(id); at != circuits_.end()) at->second.set_wide_fraction_ppm(std::min<uint64_t>(ppm, 1'000'000));
}

shm::SlotNeed CircuitRegistry::LargestNeed() const {
  shm::SlotNeed largest;
  for (const auto& [id, circuit] : circuits_) largest = shm::Max(largest, NeedOfCircuit(circuit));
  return largest;
}

}  // namespace proofline::coordinator
