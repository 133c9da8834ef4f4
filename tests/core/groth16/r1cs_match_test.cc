// FirstRowUnlike: a key and its circuit, and all kinds of near misses.
#include "core/groth16/r1cs_match.h"

#include <gtest/gtest.h>

#include "core/formats/r1cs.h"
#include "core/formats/zkey.h"
#include "tests/core/formats/forge.h"

namespace proofline {
namespace {

using namespace testing;

constexpr size_t kTerm = LinearCombination::kTermBytes;

// One sample circuit: its constraints as owned bytes that a test may change, and its key.
struct Pair {
  Bytes r1cs_file, key_file;
  R1cs r1cs;
  Zkey key;
  std::optional<uint64_t> First(const R1csView& view) const {
    auto first = FirstRowUnlike(view, key.view);
    EXPECT_TRUE(first.ok()) << first.status().ToString();
    return first.ok() ? *first : std::nullopt;
  }
};

Pair Load(CurveId curve, const std::string& circuit, const std::string& key) {
  Bytes r1cs_file = Sample(curve, circuit + ".r1cs"), key_file = Sample(curve, key + ".zkey");
  R1cs r1cs = *ReadR1cs(r1cs_file, "C.r1cs");
  Zkey zkey = *ReadZkey(key_file, "K.zkey");
  return {std::move(r1cs_file), std::move(key_file), std::move(r1cs), std::move(zkey)};
}

TEST(R1csMatch, EverySampleMatchesItsKey) {
  for (CurveId curve : kCurves) {
    for (const char* name : {"multiplier", "nopublic", "manypublic"}) {
      const Pair pair = Load(curve, name, name);
      EXPECT_EQ(pair.First(pair.r1cs.view), std::nullopt) << name;
    }
  }
}

// Each byte of every term of A and B, each wire and each coefficient: the changed constraint is named. C is not in the key.
TEST(R1csMatch, AChangeOfAnyTermOfAOrBIsFound) {
  for (CurveId curve : kCurves) {
    const Pair pair = Load(curve, "manypublic", "manypublic");
    R1csView view = pair.r1cs.view;
    size_t changed = 0;
    for (uint32_t i = 0; i < view.n_constraints; ++i) {
      const R1csConstraint c = pair.r1cs.view.constraint(i);
      for (const LinearCombination* lc : {&c.a, &c.b, &c.c}) {
        for (uint32_t j = 0; j < lc->count; ++j) {
          const size_t at = static_cast<size_t>(lc->terms + j * kTerm - view.constraints.data());
          for (size_t byte : {size_t{0}, size_t{4}}) {  // another wire; another coefficient
            Bytes bytes(view.constraints.begin(), view.constraints.end());
            bytes[at + byte] ^= 1;
            R1csView other = view;
            other.constraints = bytes;
            if (LoadLe<uint32_t>(bytes.data() + at) >= view.n_wires) continue;
            const auto expected = lc == &c.c ? std::nullopt : std::optional<uint64_t>(i);
            EXPECT_EQ(pair.First(other), expected) << "constraint " << i << " term " << j << " byte " << byte;
            changed += lc != &c.c;
          }
        }
      }
    }
    EXPECT_GT(changed, 20u);
  }
}

TEST(R1csMatch, MissingAndAddedConstraintsAreFound) {
  for (CurveId curve : kCurves) {
    const Pair pair = Load(curve, "manypublic", "manypublic");
    R1csView fewer = pair.r1cs.view;
    fewer.n_constraints -= 1;
    EXPECT_EQ(pair.First(fewer), std::optional<uint64_t>(fewer.n_constraints));

    // An added empty constraint moves the rows of the public signals.
    Bytes bytes(pair.r1cs.view.constraints.begin(), pair.r1cs.view.constraints.end());
    bytes.insert(bytes.end(), 12, 0);
    std::vector<uint64_t> offsets(pair.r1cs.view.offsets.begin(), pair.r1cs.view.offsets.end());
    offsets.push_back(bytes.size());
    R1csView more = pair.r1cs.view;
    more.constraints = bytes;
    more.offsets = offsets;
    more.n_constraints += 1;
    EXPECT_EQ(pair.First(more), std::optional<uint64_t>(pair.r1cs.view.n_constraints));
  }
}

TEST(R1csMatch, MoreConstraintsThanTheDomainHoldsIsAnError) {
  const Pair pair = Load(CurveId::kBn254, "multiplier", "multiplier");
  R1csView view = pair.r1cs.view;
  view.n_constraints = static_cast<uint32_t>(pair.key.view.domain());
  EXPECT_EQ(FirstRowUnlike(view, pair.key.view).status().code(), ErrorCode::kMismatch);
}

}  // namespace
}  // namespace proofline
