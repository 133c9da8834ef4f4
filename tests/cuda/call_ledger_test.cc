#include "cuda/device/call_ledger.h"

#include <gtest/gtest.h>

namespace proofline::cuda {
namespace {

Status Call(CallLedger& ledger, const char* expression) { return ledger.Count(expression, "file.cc", 12); }

TEST(CallLedger, CountsByPhaseAndName) {
  CallLedger ledger;
  ASSERT_TRUE(Call(ledger, "cudaMalloc(&p, 12)").ok());
  ASSERT_TRUE(Call(ledger, "cub::DeviceRadixSort::SortPairs(a, b)").ok());
  ledger.Enter(Phase::kReady);
  ASSERT_TRUE(Call(ledger, "cudaMemcpyAsync(to, from, 3)").ok());
  ASSERT_TRUE(Call(ledger, "cudaMemcpyAsync(other)").ok());
  ledger.Enter(Phase::kShutdown);
  ASSERT_TRUE(Call(ledger, "cudaFree(p)").ok());
  EXPECT_EQ(ledger.Calls(Phase::kStart), 2u);
  EXPECT_EQ(ledger.Calls(Phase::kStart, "cub::DeviceRadixSort::SortPairs"), 1u);
  EXPECT_EQ(ledger.Calls(Phase::kReady, "cudaMemcpyAsync"), 2u);
  EXPECT_EQ(ledger.Calls(Phase::kReady, "cudaMalloc"), 0u);
  EXPECT_EQ(ledger.CallsByName(Phase::kShutdown).at("cudaFree"), 1u);
}

#ifdef NDEBUG  // a debug build aborts
TEST(CallLedger, RefusesBannedCallsWhileReady) {
  CallLedger ledger;
  ledger.Enter(Phase::kReady);
  Status status = Call(ledger, "cudaMalloc(&p, 12)");
  EXPECT_EQ(status.code(), ErrorCode::kInternal);
  EXPECT_NE(status.ToString().find("cudaMalloc"), std::string::npos);
  EXPECT_NE(status.ToString().find("file.cc:12"), std::string::npos);
  EXPECT_EQ(ledger.Refused(), 1u);
  EXPECT_EQ(ledger.Calls(Phase::kReady), 0u);
  ledger.Enter(Phase::kShutdown);
  EXPECT_TRUE(Call(ledger, "cudaFree(p)").ok());
}
#endif

TEST(CallLedger, TheListNamesWhatItShould) {
  for (const char* name :
       {"cudaMalloc", "cudaMallocAsync", "cudaMallocHost", "cudaMallocManaged", "cudaFree", "cudaFreeAsync", "cudaFreeHost", "cudaHostAlloc",
        "cudaHostRegister", "cudaHostUnregister", "cudaDeviceSynchronize", "cudaMemGetInfo", "cudaMemPoolTrimTo", "cudaMemcpy", "cudaMemset",
        "cudaStreamCreate", "cudaStreamCreateWithFlags", "cudaStreamDestroy", "cudaEventCreate", "cudaEventCreateWithFlags",
        "cudaEventDestroy", "cudaDeviceSetLimit", "cudaLibraryLoadData", "cuMemAlloc_v2", "cuMemAllocAsync", "cuMemFree_v2", "cuModuleLoadData",
        "cuLibraryLoadData", "cuCtxSynchronize", "cuMemGetInfo_v2", "cuMemcpyHtoD_v2", "cuStreamCreate", "cuEventCreate", "cudaMemcpy_ptds",
        "cudaStreamDestroy_v5050", "cuCtxSetLimit"})
    EXPECT_TRUE(IsBannedWhenReady(name)) << name;
  for (const char* name : {"cudaMemcpyAsync", "cudaMemsetAsync", "cudaLaunchKernel", "cudaEventRecord", "cudaEventSynchronize",
                           "cudaStreamSynchronize", "cudaStreamWaitEvent", "cudaEventElapsedTime", "cudaGetLastError", "cudaFuncSetAttribute",
                           "cuMemcpyHtoDAsync_v2", "cuLaunchKernel", "cuEventElapsedTime_v2", "cudaMemcpyAsync_ptsz", ""})
    EXPECT_FALSE(IsBannedWhenReady(name)) << name;
}

TEST(CallLedger, TheListHoldsEachNameOnce) {
  const auto list = BannedWhenReady();
  for (size_t i = 0; i < list.size(); ++i)
    for (size_t j = 0; j < i; ++j) EXPECT_NE(list[i], list[j]);
}

}  // namespace
}  // namespace proofline::cuda
