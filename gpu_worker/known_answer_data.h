// The files of known_answer/ as bytes; the source is written by CMake.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "core/base/bytes.h"
#include "core/groth16/types.h"

namespace proofline::gpu_worker {

struct KnownAnswer {
  std::string_view curve;
  ByteSpan zkey, wtns, result;  // result: core/groth16/result.h
};
std::span<const KnownAnswer> KnownAnswers();

inline constexpr FrCanonical kKnownAnswerR{0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x10, 0x32, 0x54};
inline constexpr FrCanonical kKnownAnswerS{0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10, 0xf0, 0xe1, 0xd2, 0xc3};

}  // namespace proofline::gpu_worker
