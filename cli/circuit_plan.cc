#include "cli/circuit_plan.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "core/base/byte_size.h"
#include "core/base/text.h"
#include "cuda/plan/card_memory.h"

namespace proofline::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kAnyCard = "--vram 16GiB, for instance, plans for a card that is not here";

Result<PlanTarget> CardOf(const std::string& device) {
  constexpr std::string_view kPrefix = "cuda:";
  uint32_t ordinal = 0;
  const char* end = device.data() + device.size();
  const bool named = device.starts_with(kPrefix);
  const auto parsed = std::from_chars(device.data() + (named ? kPrefix.size() : 0), end, ordinal);
  if (!named || parsed.ec != std::errc() || parsed.ptr != end)
    return Status(ErrorCode::kUsage, StrCat("--device: \"", device, "\" is no CUDA device"), "", StrCat("cuda:0, cuda:1, ...; ", kAnyCard));
  auto bytes = cuda::CardMemoryBytes(ordinal);
  if (!bytes.ok()) return Status(bytes.status().code(), StrCat("--device ", device, ": ", bytes.status().error().fact), bytes.status().error().detail, std::string(kAnyCard));
  return PlanTarget{device, *bytes};
}

Json BufferJson(const cuda::PlannedBuffer& b) {
  return {{"name", b.name}, {"bytes", b.bytes}, {"offset", b.offset}, {"first", std::string(1, cuda::PhaseLetter(b.first))}, {"last", std::string(1, cuda::PhaseLetter(b.last))}, {"resident", b.resident}};
}

}  // namespace

Result<PlanTarget> ResolvePlanTarget(const std::string& device, const std::string& vram) {
  if (!vram.empty()) {
    PL_ASSIGN_OR_RETURN(const uint64_t bytes, ParseByteSize(vram, "--vram"));
    return PlanTarget{"", bytes};
  }
  if (device == "cpu") return Status(ErrorCode::kUnsupported, "the CPU device has no memory of its own to plan", "", std::string(kAnyCard));
  return CardOf(device.empty() ? "cuda:0" : device);
}

cuda::CircuitShape ShapeOf(const wire::Circuit& circuit) {
  return {.curve = static_cast<CurveId>(circuit.curve()),
          .log2_domain = circuit.log2_domain(),
          .n_vars = circuit.n_vars(),
          .n_public = circuit.n_public(),
          .wide_ppm = circuit.wide_fraction_ppm() ? static_cast<uint32_t>(std::min<uint64_t>(circuit.wide_fraction_ppm(), 1'000'000)) : 1'000'000};
}

Result<cuda::VramPlan> PlanCircuit(const wire::Circuit& circuit, const PlanTarget& target) {
  auto plan = cuda::PlanVram(ShapeOf(circuit), cuda::OwnerBudget(target.vram_bytes));
  if (plan.ok() || plan.status().code() != ErrorCode::kResource) return plan;
  const Error& error = plan.status().error();
  return Status(ErrorCode::kUnsupported, StrCat(circuit.name(), ": ", error.fact), error.detail, error.remedy);
}

std::string PlanText(const wire::Circuit& circuit, const PlanTarget& target, const cuda::VramPlan& plan) {
  return StrCat("plan for ", circuit.name(), " on ", target.device.empty() ? std::string("a card") : target.device, " of ", cuda::FormatBytes(target.vram_bytes),
                ", phases E(valuate) N(TT) H W(itness)\n", cuda::FormatPlan(plan));
}

std::string PlanJson(const wire::Circuit& circuit, const PlanTarget& target, const cuda::VramPlan& plan) {
  Json buffers = Json::array(), msms = Json::array();
  for (const auto& b : plan.buffers) buffers.push_back(BufferJson(b));
  for (const auto& m : plan.msms)
    msms.push_back({{"points", m.points}, {"point_count", m.point_count}, {"pieces", m.piece_count}, {"piece_points", m.piece_points}, {"streamed", m.streamed}});
  const Json out = {{"circuit", circuit.name()},
                    {"device", target.device.empty() ? Json(nullptr) : Json(target.device)},
                    {"vram_bytes", target.vram_bytes},
                    {"capacity_bytes", plan.capacity_bytes},
                    {"peak_bytes", plan.peak_bytes},
                    {"resident_bytes", plan.resident_bytes},
                    {"input_bytes", plan.input_bytes},
                    {"spill_c", plan.spill_c},
                    {"witness", {{"mode", plan.witness_mode == cuda::WitnessMode::kLanes ? "lanes" : plan.witness_mode == cuda::WitnessMode::kListed ? "listed" : "whole"}, {"list_room", plan.list_room}, {"trees", plan.method == cuda::MsmMethod::kAuto}}},
                    {"buffers", std::move(buffers)},
                    {"msms", std::move(msms)},
                    {"prestage", {{"planned", plan.prestage.planned}, {"needs_bytes", plan.prestage.needs_bytes}, {"has_bytes", plan.prestage.has_bytes}, {"text", plan.prestage.text}}},
                    {"streaming",
                     {{"sections", plan.streaming.sections},
                      {"pinned_bytes", plan.streaming.pinned_bytes},
                      {"host_bytes", plan.streaming.host_bytes},
                      {"bytes_per_proof", plan.streaming.bytes_per_proof},
                      {"link_ms", plan.streaming.link_ms},
                      {"exposed_ms", plan.streaming.exposed_ms},
                      {"text", plan.streaming.text}}}};
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace proofline::cli
