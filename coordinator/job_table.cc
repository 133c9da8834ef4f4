#include "coordinator/job_table.h"

namespace proofline::coordinator {

Job* JobTable::Find(uint64_t id) {
  const auto at = jobs_.find(id);
  return at == jobs_.end() ? nullptr : at->second.get();
}

Job* JobTable::FindByName(std::string_view name) {
  const auto at = by_name_.find(std::string(name));
  return at == by_name_.end() ? nullptr : Find(at->second);
}

Job& JobTable::Add(std::unique_ptr<Job> job) {
  by_name_[job->record.name] = job->record.id;
  ++circuit_uses_[job->record.circuit];
  return *(jobs_[job->record.id] = std::move(job));
}

void JobTable::Remove(uint64_t id) {
  const auto at = jobs_.find(id);
  if (at == jobs_.end()) return;
  const JobRecord& record = at->second->record;
  by_name_.erase(record.name);
  if (const auto uses = circuit_uses_.find(record.circuit); --uses->second == 0) circuit_uses_.erase(uses);
  jobs_.erase(at);
}

bool JobTable::UsesCircuit(uint64_t circuit) const { return circuit_uses_.contains(circuit); }

}  // namespace proofline::coordinator
