#include "cuda/device/card.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "core/base/secret.h"
#include "core/base/text.h"
#include "cuda/device/check.h"

namespace proofline::cuda {

namespace {

// In pieces, by the threads of the caller's arena: one thread copies slower than the bus takes.
void CopyParallel(uint8_t* to, ByteSpan from) {
  constexpr size_t kPiece = size_t{1} << 20;
  tbb::parallel_for(size_t{0}, (from.size() + kPiece - 1) / kPiece, [&](size_t i) {
    std::memcpy(to + i * kPiece, from.data() + i * kPiece, std::min(kPiece, from.size() - i * kPiece));
  });
}

// At the end nothing can be done about a failure; the call is still counted.
template <class Call>
void AtEnd(const char* name, const Call& call) {
  if (CallLedger::Process().Count(name, __FILE__, __LINE__).ok()) (void)call();
}

}  // namespace

Result<std::unique_ptr<Card>> Card::Open(const CardOptions& options) {
  CallLedger::Process().Enter(Phase::kStart);
  // Kernels that are loaded when they are first launched would allocate memory then. Read at the first call of the runtime.
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  std::unique_ptr<Card> card(new Card());
  if (Status status = card->Make(options); !status.ok()) return std::move(status).WithContext(StrCat("device cuda:", options.ordinal));
  return card;
}

Status Card::Make(const CardOptions& options) {
  int count = 0;
  PL_CUDA_RETURN_IF_ERROR(cudaGetDeviceCount(&count));
  if (options.ordinal >= count)
    return Status(ErrorCode::kUnsupported, StrCat("there ", count == 1 ? "is " : "are ", count, " on this machine"), "", "cuda:0 is the first");
  // The job thread waits for minutes in all; it must not spin.
  PL_CUDA_RETURN_IF_ERROR(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
  PL_CUDA_RETURN_IF_ERROR(cudaSetDevice(options.ordinal));
  cudaDeviceProp properties;
  PL_CUDA_RETURN_IF_ERROR(cudaGetDeviceProperties(&properties, options.ordinal));
  name_ = properties.name;
  PL_RETURN_IF_ERROR(MakeStreams());
  PL_RETURN_IF_ERROR(MakeStaging());
  return MakeArena(options);
}

Status Card::MakeStreams() {
  int lowest = 0, highest = 0;  // the highest priority is the smallest number
  PL_CUDA_RETURN_IF_ERROR(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
  for (int lane = 0; lane < kLaneCount; ++lane)
    PL_CUDA_RETURN_IF_ERROR(cudaStreamCreateWithPriority(&compute_[lane], cudaStreamNonBlocking, std::max(highest, lowest - lane)));
  PL_CUDA_RETURN_IF_ERROR(cudaStreamCreateWithFlags(&copy_, cudaStreamNonBlocking));
  for (EventHandle& event : events_) PL_CUDA_RETURN_IF_ERROR(cudaEventCreateWithFlags(&event, cudaEventBlockingSync));
  return OkStatus();
}

Status Card::MakeStaging() {
  for (Chunk& chunk : ring_) {
    PL_CUDA_RETURN_IF_ERROR(cudaHostAlloc(reinterpret_cast<void**>(&chunk.memory), kChunkBytes, cudaHostAllocDefault));
    PL_CUDA_RETURN_IF_ERROR(cudaEventCreateWithFlags(&chunk.free, cudaEventBlockingSync | cudaEventDisableTiming));
  }
  PL_CUDA_RETURN_IF_ERROR(cudaHostAlloc(reinterpret_cast<void**>(&download_), kDownloadBytes, cudaHostAllocDefault));
  return OkStatus();
}

Status Card::MakeArena(const CardOptions& options) {
  size_t free_bytes = 0, total_bytes = 0;
  PL_CUDA_RETURN_IF_ERROR(cudaMemGetInfo(&free_bytes, &total_bytes));
  arena_bytes_ = options.arena_bytes ? options.arena_bytes : free_bytes / 100 * 98;
  if (arena_bytes_ > free_bytes)
    return Status(ErrorCode::kResource,
                  StrCat(arena_bytes_, " bytes were asked for, ", free_bytes, " of ", total_bytes, " are free"), "",
                  "end what else uses the card");
  PL_CUDA_RETURN_IF_ERROR(cudaMalloc(reinterpret_cast<void**>(&arena_), arena_bytes_));
  PL_CUDA_RETURN_IF_ERROR(cudaMemGetInfo(&free_bytes, &total_bytes));
  bytes_in_use_ = total_bytes - free_bytes;
  return OkStatus();
}

Card::~Card() {
  CallLedger::Process().Enter(Phase::kShutdown);
  (void)Sync();
  WipeStaging();
  for (ByteSpan memory : pinned_)
    AtEnd("cudaHostUnregister", [&] { return cudaHostUnregister(const_cast<uint8_t*>(memory.data())); });
  for (Chunk& chunk : ring_) {
    if (chunk.memory) AtEnd("cudaFreeHost", [&] { return cudaFreeHost(chunk.memory); });
    if (chunk.free) AtEnd("cudaEventDestroy", [&] { return cudaEventDestroy(chunk.free); });
  }
  if (download_) AtEnd("cudaFreeHost", [&] { return cudaFreeHost(download_); });
  for (EventHandle event : events_)
    if (event) AtEnd("cudaEventDestroy", [&] { return cudaEventDestroy(event); });
  for (StreamHandle stream : compute_)
    if (stream) AtEnd("cudaStreamDestroy", [&] { return cudaStreamDestroy(stream); });
  if (copy_) AtEnd("cudaStreamDestroy", [&] { return cudaStreamDestroy(copy_); });
  if (arena_) AtEnd("cudaFree", [&] { return cudaFree(arena_); });
}

Status Card::Pin(MutableByteSpan memory) {
  PL_CUDA_RETURN_IF_ERROR(cudaHostRegister(memory.data(), memory.size(), cudaHostRegisterDefault));
  pinned_.push_back(memory);
  return OkStatus();
}

bool Card::IsPinned(ByteSpan memory) const {
  return std::any_of(pinned_.begin(), pinned_.end(), [&](ByteSpan whole) {
    return memory.data() >= whole.data() && memory.data() + memory.size() <= whole.data() + whole.size();
  });
}

Status Card::Upload(void* to, ByteSpan from) {
  if (from.empty()) return OkStatus();
  bytes_up_ += from.size();
  if (!IsPinned(from)) return Stage(to, from);
  PL_CUDA_RETURN_IF_ERROR(cudaMemcpyAsync(to, from.data(), from.size(), cudaMemcpyHostToDevice, copy_));
  return OkStatus();
}

Status Card::Stage(void* to, ByteSpan from) {
  for (size_t at = 0; at < from.size(); at += kChunkBytes) {
    const ByteSpan piece = from.subspan(at, std::min(kChunkBytes, from.size() - at));
    Chunk& chunk = ring_[next_chunk_];
    next_chunk_ = (next_chunk_ + 1) % kChunkCount;
    PL_CUDA_RETURN_IF_ERROR(cudaEventSynchronize(chunk.free));
    CopyParallel(chunk.memory, piece);
    chunk.used = std::max(chunk.used, piece.size());
    PL_CUDA_RETURN_IF_ERROR(
        cudaMemcpyAsync(static_cast<uint8_t*>(to) + at, chunk.memory, piece.size(), cudaMemcpyHostToDevice, copy_));
    PL_CUDA_RETURN_IF_ERROR(cudaEventRecord(chunk.free, copy_));
  }
  return OkStatus();
}

Status Card::Download(size_t at, const void* from, size_t bytes, StreamHandle stream) {
  if (bytes > kDownloadBytes || at > kDownloadBytes - bytes)
    return Status(ErrorCode::kInternal, StrCat("download of ", bytes, " bytes to ", at, " of ", kDownloadBytes));
  bytes_down_ += bytes;
  PL_CUDA_RETURN_IF_ERROR(cudaMemcpyAsync(download_ + at, from, bytes, cudaMemcpyDeviceToHost, stream));
  return OkStatus();
}

Status Card::Record(int event, StreamHandle stream) {
  PL_CUDA_RETURN_IF_ERROR(cudaEventRecord(events_[event], stream));
  return OkStatus();
}

Status Card::Wait(int event) {
  PL_CUDA_RETURN_IF_ERROR(cudaEventSynchronize(events_[event]));
  return OkStatus();
}

Result<bool> Card::Reached(int event) {
  PL_RETURN_IF_ERROR(CallLedger::Process().Count("cudaEventQuery", __FILE__, __LINE__));
  const cudaError_t found = cudaEventQuery(events_[event]);
  if (found == cudaErrorNotReady) return false;
  PL_RETURN_IF_ERROR(CudaStatus(found, "cudaEventQuery", __FILE__, __LINE__));
  return true;
}

Status Card::Order(StreamHandle stream, int event) {
  PL_CUDA_RETURN_IF_ERROR(cudaStreamWaitEvent(stream, events_[event], 0));
  return OkStatus();
}

Result<int64_t> Card::NanosecondsBetween(int first, int last) const {
  float ms = 0;
  PL_CUDA_RETURN_IF_ERROR(cudaEventElapsedTime(&ms, events_[first], events_[last]));
  return static_cast<int64_t>(static_cast<double>(ms) * 1e6);
}

Status Card::Copy(void* to, const void* from, size_t bytes, StreamHandle stream) {
  if (bytes == 0) return OkStatus();
  PL_CUDA_RETURN_IF_ERROR(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream));
  return OkStatus();
}

Status Card::Clear(void* at, size_t bytes, StreamHandle stream) {
  if (bytes == 0) return OkStatus();
  PL_CUDA_RETURN_IF_ERROR(cudaMemsetAsync(at, 0, bytes, stream));
  return OkStatus();
}

Status Card::Sync() {
  if (copy_) PL_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(copy_));
  for (StreamHandle stream : compute_)
    if (stream) PL_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(stream));
  return OkStatus();
}

void Card::WipeStaging() {
  for (Chunk& chunk : ring_) {
    Wipe(chunk.memory, chunk.used);
    chunk.used = 0;
  }
}

}  // namespace proofline::cuda
