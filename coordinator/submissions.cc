#include "coordinator/submissions.h"

#include <algorithm>

#include "core/base/text.h"

namespace proofline::coordinator {

Result<Submission*> Submissions::Open(Submission submission) {
  if (open_.size() >= kMaxSubmissions) {
    return Status(ErrorCode::kResource, StrCat(open_.size(), " submissions are open, at most ", kMaxSubmissions, " can be"), {}, "submit again in a moment");
  }
  const uint64_t job = submission.record.id;
  return &(open_[job] = std::move(submission));
}

Submission* Submissions::Find(uint64_t job) {
  const auto at = open_.find(job);
  return at == open_.end() ? nullptr : &at->second;
}

Submission* Submissions::FindByRequest(const std::string& peer, uint64_t request_id) {
  for (auto& [job, submission] : open_) {
    if (submission.request_id == request_id && submission.peer == peer) return &submission;
  }
  return nullptr;
}

bool Submissions::UsesCircuit(uint64_t circuit) const {
  return std::any_of(open_.begin(), open_.end(), [&](const auto& entry) { return entry.second.record.circuit == circuit; });
}

std::vector<Submission> Submissions::TakeExpired(uint64_t now_ns) {
  std::vector<Submission> expired;
  for (auto at = open_.begin(); at != open_.end();) {
    if (now_ns < at->second.touched_ns + kSubmissionLifeNs) {
      ++at;
      continue;
    }
    expired.push_back(std::move(at->second));
    at = open_.erase(at);
  }
  return expired;
}

size_t Submissions::direct_descriptors() const {
  size_t count = 0;
  for (const auto& [job, submission] : open_) {
    count += static_cast<size_t>(std::count_if(submission.inputs.begin(), submission.inputs.end(), [](const UniqueFd& fd) { return fd.valid(); }));
  }
  return count;
}

}  // namespace proofline::coordinator
