#include "cuda/device/call_ledger.h"

#include <cassert>

#include "core/base/text.h"

namespace proofline::cuda {

namespace {

constexpr std::string_view kBanned[] = {
    // Memory, on the device and pinned.
    "cudaMalloc*", "cudaFree*", "cudaHostAlloc", "cudaHostRegister", "cudaHostUnregister", "cudaMemGetInfo", "cudaMemPool*",
    "cudaDeviceGetMemPool", "cudaDeviceSetMemPool", "cudaDeviceGetDefaultMemPool", "cuMemAlloc*", "cuMemFree*", "cuMemHostAlloc",
    "cuMemHostRegister", "cuMemHostUnregister", "cuMemGetInfo", "cuMemPool*", "cuMemCreate", "cuMemMap*", "cuMemUnmap", "cuMemRelease",
    "cuDeviceGetMemPool", "cuDeviceSetMemPool",
    // What waits for the whole device.
    "cudaDeviceSynchronize", "cudaDeviceReset", "cuCtxSynchronize", "cuCtxDestroy", "cuDevicePrimaryCtxReset",
    // Synchronous copies and sets: they go through stream 0.
    "cudaMemcpy", "cudaMemcpy2D", "cudaMemcpy3D", "cudaMemcpyToSymbol", "cudaMemcpyFromSymbol", "cudaMemcpyPeer", "cudaMemset",
    "cudaMemset2D", "cudaMemset3D", "cuMemcpy", "cuMemcpyHtoD", "cuMemcpyDtoH", "cuMemcpyDtoD", "cuMemsetD8", "cuMemsetD16", "cuMemsetD32",
    // Code and its stack.
    "cudaLibraryLoad*", "cudaLibraryUnload", "cudaDeviceSetLimit", "cuModuleLoad*", "cuModuleUnload", "cuLibraryLoad*", "cuLibraryUnload",
    "cuCtxSetLimit",
    // Streams and events are made at start.
    "cudaStreamCreate*", "cudaStreamDestroy", "cudaEventCreate*", "cudaEventDestroy", "cuStreamCreate*", "cuStreamDestroy", "cuEventCreate",
    "cuEventDestroy"};

// "cuMemAlloc_v2" -> "cuMemAlloc", "cudaMemcpy_ptds" -> "cudaMemcpy".
std::string_view WithoutSuffix(std::string_view name) {
  for (std::string_view suffix : {"_ptsz", "_ptds"})
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  const size_t at = name.rfind("_v");
  if (at != name.npos && at + 2 < name.size() && name.find_first_not_of("0123456789", at + 2) == name.npos) name = name.substr(0, at);
  return name;
}

std::string_view NameIn(std::string_view expression) {
  const size_t begin = expression.find_first_not_of(": ");
  if (begin == expression.npos) return {};
  return expression.substr(begin, expression.find_first_of("(<", begin) - begin);
}

}  // namespace

std::span<const std::string_view> BannedWhenReady() { return kBanned; }

bool IsBannedWhenReady(std::string_view name) {
  name = WithoutSuffix(name);
  for (std::string_view banned : kBanned) {
    if (name == banned) return true;
    if (banned.ends_with('*') && name.starts_with(banned.substr(0, banned.size() - 1))) return true;
  }
  return false;
}

CallLedger& CallLedger::Process() {
  static CallLedger ledger;
  return ledger;
}

void CallLedger::Enter(Phase phase) {
  std::lock_guard lock(mutex_);
  phase_ = phase;
}

Phase CallLedger::phase() const {
  std::lock_guard lock(mutex_);
  return phase_;
}

Status CallLedger::Count(const char* expression, const char* file, int line) {
  const std::string_view name = NameIn(expression);
  std::lock_guard lock(mutex_);
  if (phase_ == Phase::kReady && IsBannedWhenReady(name)) {
    ++refused_;
    assert(!"a call that is banned between ready and shutdown");
    return Status(ErrorCode::kInternal, StrCat(name, " was refused: it is banned while the owner works"),
                  StrCat(expression, " at ", file, ":", line));
  }
  Counts& counts = counts_[static_cast<size_t>(phase_)];
  auto it = counts.find(name);
  if (it == counts.end()) it = counts.emplace(std::string(name), 0).first;
  ++it->second;
  return OkStatus();
}

uint64_t CallLedger::Calls(Phase phase) const {
  std::lock_guard lock(mutex_);
  uint64_t total = 0;
  for (const auto& [name, count] : counts_[static_cast<size_t>(phase)]) total += count;
  return total;
}

uint64_t CallLedger::Calls(Phase phase, std::string_view name) const {
  std::lock_guard lock(mutex_);
  const Counts& counts = counts_[static_cast<size_t>(phase)];
  const auto it = counts.find(name);
  return it == counts.end() ? 0 : it->second;
}

uint64_t CallLedger::Refused() const {
  std::lock_guard lock(mutex_);
  return refused_;
}

std::map<std::string, uint64_t, std::less<>> CallLedger::CallsByName(Phase phase) const {
  std::lock_guard lock(mutex_);
  return counts_[static_cast<size_t>(phase)];
}

void CallLedger::Reset() {
  std::lock_guard lock(mutex_);
  phase_ = Phase::kStart;
  counts_ = {};
  refused_ = 0;
}

}  // namespace proofline::cuda
