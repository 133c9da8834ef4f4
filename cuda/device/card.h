// One card as its owner holds it: all of its memory as one arena, streams, events, and pinned memory to stage through. Everything is made
// in Open and given back in the destructor; in between nothing is allocated, registered or created (call_ledger.h).
//
// One thread uses a card at a time. Pointers into the arena are device pointers; the caller decides what lies where.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/status.h"

struct CUstream_st;
struct CUevent_st;

namespace proofline::cuda {

using StreamHandle = CUstream_st*;  // cudaStream_t
using EventHandle = CUevent_st*;    // cudaEvent_t

struct CardOptions {
  int ordinal = 0;
  // Size of the arena; 0 means 98 % of what is free on the card once the context is there.
  size_t arena_bytes = 0;
};

class Card {
 public:
  // Makes the context, with all kernels loaded, and everything else. Enters Phase::kStart. kUnsupported: no such card or no driver;
  // kResource, with numbers, when its memory is not to be had.
  static Result<std::unique_ptr<Card>> Open(const CardOptions& options);
  // Waits for the streams and gives all back (Phase::kShutdown).
  ~Card();
  Card(const Card&) = delete;
  Card& operator=(const Card&) = delete;

  const std::string& name() const { return name_; }  // the product's
  uint8_t* arena() const { return arena_; }
  size_t arena_bytes() const { return arena_bytes_; }
  // Lane 0 is of the lowest priority, the last lane of the highest: where all have work, the last one's goes first.
  static constexpr int kLaneCount = 5;
  StreamHandle compute(int lane = 0) const { return compute_[lane]; }
  StreamHandle copy() const { return copy_; }

  // Makes `memory` page-locked, so that Upload copies from it without staging. Only before ready; undone in the destructor. The memory
  // outlives the card.
  Status Pin(MutableByteSpan memory);
  bool IsPinned(ByteSpan memory) const;

  // Queues a copy to the device on the copy stream. `from` stays as it is until Sync or an event after it: memory that is not pinned is read
  // through the staging ring before this returns.
  Status Upload(void* to, ByteSpan from);
  // Queues a copy on `stream` into pinned memory of the card's own, kDownloadBytes in all.
  Status Download(size_t at, const void* from, size_t bytes, StreamHandle stream);
  static constexpr size_t kDownloadBytes = size_t{16} << 20;
  ByteSpan downloaded(size_t at, size_t bytes) const { return {download_ + at, bytes}; }

  // Events, numbered. Wait blocks this thread; Order makes `stream` wait.
  static constexpr int kEventCount = 40;
  Status Record(int event, StreamHandle stream);
  Status Wait(int event);
  Result<bool> Reached(int event);  // without waiting
  Status Order(StreamHandle stream, int event);
  Result<int64_t> NanosecondsBetween(int first, int last) const;  // negative if the second came before

  // Within the arena, in the order of `stream`.
  Status Copy(void* to, const void* from, size_t bytes, StreamHandle stream);
  // Zeroes device memory, in the order of `stream`.
  Status Clear(void* at, size_t bytes, StreamHandle stream);
  // Until no stream has anything left to do.
  Status Sync();
  // Wipes the staging ring; no upload may be under way.
  void WipeStaging();

  // Over the bus since Open.
  uint64_t bytes_up() const { return bytes_up_; }
  uint64_t bytes_down() const { return bytes_down_; }
  // Of the card, as the driver counts it when the arena is there: the arena, the context, and whatever others have.
  uint64_t bytes_in_use() const { return bytes_in_use_; }

 private:
  Card() = default;
  Status Make(const CardOptions& options);
  Status MakeArena(const CardOptions& options);
  Status MakeStreams();
  Status MakeStaging();
  Status Stage(void* to, ByteSpan from);

  static constexpr size_t kChunkBytes = size_t{8} << 20;
  static constexpr int kChunkCount = 4;
  struct Chunk {
    uint8_t* memory = nullptr;
    EventHandle free = nullptr;
    size_t used = 0;  // most bytes written since the last wipe
  };

  std::string name_;
  uint8_t* arena_ = nullptr;
  size_t arena_bytes_ = 0;
  std::array<StreamHandle, kLaneCount> compute_{};
  StreamHandle copy_ = nullptr;
  std::array<EventHandle, kEventCount> events_{};
  std::array<Chunk, kChunkCount> ring_{};
  int next_chunk_ = 0;
  uint8_t* download_ = nullptr;
  std::vector<ByteSpan> pinned_;
  uint64_t bytes_up_ = 0, bytes_down_ = 0, bytes_in_use_ = 0;
};

}  // namespace proofline::cuda
