// public.json as snarkjs writes it: an array of decimal strings, the public signals in order; an empty array without any.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/groth16/types.h"

namespace proofline {

inline constexpr size_t kMaxPublicJsonBytes = size_t{32} << 20;

// The same bytes as snarkjs's file. No new line at the end.
std::string PublicToJson(std::span<const FrCanonical> publics);

// Every value below the curve's r, else kInvalidFile with its index. How many there are is for the caller to compare.
Result<std::vector<FrCanonical>> PublicFromJson(std::string_view text, std::string_view name, CurveId curve);


// The public inputs of several partitions: an array of such arrays, or one such array for one partition. At least one partition.
Result<std::vector<std::vector<FrCanonical>>> PartitionPublicsFromJson(std::string_view text, std::string_view name, CurveId curve);

}  // namespace proofline
