// `circuit show NAME --plan`: sizes as typed, what is planned for, what the output holds.
#include "cli/circuit_plan.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace proofline::cli {
namespace {

using nlohmann::json;
constexpr uint64_t kGiB = uint64_t{1} << 30;

TEST(PlanTarget, CardsByNameOrBySize) {
  const auto sized = ResolvePlanTarget("", "24GiB");
  ASSERT_TRUE(sized.ok());
  EXPECT_EQ(sized->vram_bytes, 24 * kGiB);
  EXPECT_EQ(ResolvePlanTarget("", "24").status().code(), ErrorCode::kUsage);
  const Status cpu = ResolvePlanTarget("cpu", "").status();
  EXPECT_EQ(cpu.code(), ErrorCode::kUnsupported);
  EXPECT_NE(cpu.error().fact.find("CPU"), std::string::npos);
  EXPECT_NE(cpu.error().remedy.find("--vram"), std::string::npos);
  for (const char* name : {"gpu", "cuda", "cuda:", "cuda:x", "cuda:-1", "cuda:1 ", "cuda:99999999999"}) EXPECT_EQ(ResolvePlanTarget(name, "").status().code(), ErrorCode::kUsage) << name;
  const auto missing = ResolvePlanTarget("cuda:4000000000", "");
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.status().error().fact.find("--device cuda:4000000000"), std::string::npos) << missing.status().ToString();
}

wire::Circuit Large() {
  wire::Circuit circuit;
  circuit.set_name("large \xff");
  circuit.set_curve(static_cast<uint32_t>(CurveId::kBls12381));
  circuit.set_log2_domain(27);
  circuit.set_n_vars(130'000'000);
  circuit.set_n_public(328);
  return circuit;
}

TEST(CircuitPlan, JsonHoldsTheWholePlan) {
  const PlanTarget target{"", 141 * kGiB};
  const auto plan = PlanCircuit(Large(), target);
  ASSERT_TRUE(plan.ok()) << plan.status().ToString();
  const json out = json::parse(PlanJson(Large(), target, *plan));
  EXPECT_TRUE(out["device"].is_null());
  EXPECT_EQ(out["vram_bytes"], 141 * kGiB);
  ASSERT_EQ(out["buffers"].size(), plan->buffers.size());
  EXPECT_EQ(out["buffers"][0]["name"], "key.h");
  EXPECT_EQ(out["buffers"][0]["bytes"], 12 * kGiB);
  EXPECT_EQ(out["buffers"][0]["first"], "E");
  EXPECT_EQ(out["buffers"][0]["last"], "W");
  EXPECT_EQ(out["buffers"][0]["resident"], true);
  EXPECT_EQ(out["msms"].size(), 5u);
  EXPECT_EQ(out["prestage"]["planned"], true);
  EXPECT_EQ(out["witness"]["mode"], "listed");
  EXPECT_GE(out["witness"]["list_room"], 65'000'000);
  EXPECT_EQ(out["streaming"]["sections"].size(), 0u);
  EXPECT_EQ(out["input_bytes"], 130'000'000ull * 32 + 8 * kGiB);
  EXPECT_NE(PlanText(Large(), target, *plan).find("a card of 141.00 GiB"), std::string::npos);
}

TEST(CircuitPlan, WhatDoesNotFitIsFinal) {
  const auto plan = PlanCircuit(Large(), {"", 8 * kGiB});
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(ExitCodeFor(plan.status().code()), 1);
  EXPECT_NE(plan.status().error().fact.find("has 7.22 GiB"), std::string::npos) << plan.status().ToString();
  EXPECT_NE(plan.status().error().detail.find("largest: "), std::string::npos);
}

}  // namespace
}  // namespace proofline::cli
