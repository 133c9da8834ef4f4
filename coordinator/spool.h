// Inputs of accepted and of opened jobs: STATE/spool/JOB/PARTITION, one file each, 0600 in directories 0700, written by the client
// through the descriptor it was given. Secret: overwritten with zeros before it is removed, on a thread of its own, since a large
// one would hold up the event loop.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "core/base/status.h"
#include "core/base/unique_fd.h"

namespace proofline::coordinator {

// All members but the thread's own are for the event loop's thread.
class Spool {
 public:
  // Makes the directory. kIo.
  static Result<std::unique_ptr<Spool>> Open(const std::string& dir);
  ~Spool();  // waits for what is being wiped; what is still queued is wiped at the next start

  // A new file, or the same again if the client asks twice. kNotFound: there is none. kIo, kResource.
  Result<UniqueFd> OpenForWriting(uint64_t job, uint32_t partition);
  Result<UniqueFd> OpenForReading(uint64_t job, uint32_t partition) const;
  // All `count` files are there; names are durable when it returns.
  Status Sync(uint64_t job, uint32_t count) const;
  // Wipes and removes, later.
  void Discard(uint64_t job);
  // Discards every job that `keep` does not want. For the start.
  void DiscardOrphans(const std::function<bool(uint64_t)>& keep);

 private:
  explicit Spool(std::string dir) : dir_(std::move(dir)) {}
  std::string JobDir(uint64_t job) const;
  void WipeQueued();

  std::string dir_;
  std::mutex mutex_;  // guards doomed_ and stop_
  std::condition_variable changed_;
  std::deque<std::string> doomed_;  // directories
  bool stop_ = false;
  std::thread wiper_;  // started with the first Discard
};

}  // namespace proofline::coordinator
