// Jobs between SubmitBegin and SubmitCommit: a ticket, inputs arriving, nothing in the journal yet. Bounded in number, in
// descriptors and in time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "coordinator/job_store.h"
#include "core/base/status.h"
#include "core/base/unique_fd.h"

namespace proofline::coordinator {

inline constexpr uint32_t kMaxPartitions = 1024;
inline constexpr size_t kMaxSubmissions = 256;
inline constexpr uint64_t kSubmissionLifeNs = uint64_t{15} * 60 * 1'000'000'000;

struct Submission {
  JobRecord record;  // without name and mac until the commit
  std::string client_id;
  uint64_t deadline_ms = 0;
  bool direct = false;
  std::vector<bool> has_input;
  std::vector<UniqueFd> inputs;  // direct ones
  // The request it came from: the same one again gets the same ticket.
  std::string peer;
  uint64_t request_id = 0;
  uint64_t touched_ns = 0;
};

class Submissions {
 public:
  // kResource when too many are open.
  Result<Submission*> Open(Submission submission);
  Submission* Find(uint64_t job);
  Submission* FindByRequest(const std::string& peer, uint64_t request_id);
  void Remove(uint64_t job) { open_.erase(job); }
  bool UsesCircuit(uint64_t circuit) const;
  // Those that nobody has touched for kSubmissionLifeNs; they are removed.
  std::vector<Submission> TakeExpired(uint64_t now_ns);
  size_t size() const { return open_.size(); }
  size_t direct_descriptors() const;

 private:
  std::map<uint64_t, Submission> open_;
};

}  // namespace proofline::coordinator
