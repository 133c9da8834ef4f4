#include "shm/topology.h"

#include <errno.h>
#include <numa.h>
#include <sched.h>
#include <string.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace proofline::shm {

namespace {

cpu_set_t Affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) CPU_SET(0, &set);
  return set;
}

// The cgroup v2 folder of this process; empty if there is none.
std::string CgroupFolder() {
  std::ifstream in("/proc/self/cgroup");
  std::string line;
  while (std::getline(in, line))
    if (line.rfind("0::", 0) == 0) return "/sys/fs/cgroup" + line.substr(3);
  return {};
}

// Calls f(folder) for the process's control group and every one above it.
template <class F>
void ForEachCgroup(F f) {
  std::string folder = CgroupFolder();
  while (folder.size() >= std::string("/sys/fs/cgroup").size()) {
    f(folder);
    folder = folder.substr(0, folder.rfind('/'));
  }
}

uint32_t QuotaCores(uint32_t cores) {
  ForEachCgroup([&](const std::string& folder) {
    std::ifstream in(folder + "/cpu.max");
    std::string quota;
    uint64_t period = 0;
    if (!(in >> quota >> period) || quota == "max" || period == 0) return;
    uint64_t limit = (strtoull(quota.c_str(), nullptr, 10) + period - 1) / period;
    cores = static_cast<uint32_t>(std::min<uint64_t>(cores, std::max<uint64_t>(limit, 1)));
  });
  return cores;
}

class LinuxTopology : public Topology {
 public:
  LinuxTopology() {
    cpu_set_t set = Affinity();
    cores_ = QuotaCores(std::max(1, CPU_COUNT(&set)));
    if (numa_available() >= 0)
      for (int node = 0; node <= numa_max_node(); ++node) AddNode(node, set);
    if (nodes_.empty()) {
      NumaNode only;
      for (uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &set)) only.cpus.push_back(cpu);
      nodes_.push_back(std::move(only));
    }
  }
  uint32_t usable_cores() const override { return cores_; }
  const std::vector<NumaNode>& nodes() const override { return nodes_; }

 private:
  void AddNode(int id, const cpu_set_t& set) {
    if (numa_node_size64(id, nullptr) <= 0) return;
    bitmask* mask = numa_allocate_cpumask();
    NumaNode node;
    node.id = static_cast<uint32_t>(id);
    if (numa_node_to_cpus(id, mask) == 0)
      for (uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (numa_bitmask_isbitset(mask, cpu) && CPU_ISSET(cpu, &set)) node.cpus.push_back(cpu);
    numa_free_cpumask(mask);
    nodes_.push_back(std::move(node));
  }

  uint32_t cores_ = 1;
  std::vector<NumaNode> nodes_;
};

uint64_t ReadNumber(const std::string& path) {
  std::ifstream in(path);
  uint64_t value = 0;
  return in >> value ? value : UINT64_MAX;
}

// Page cache counts as used in memory.current, but the kernel gives it back before it refuses anybody.
uint64_t CgroupCacheBytes(const std::string& folder) {
  std::ifstream in(folder + "/memory.stat");
  std::string name;
  uint64_t value = 0, cache = 0;
  while (in >> name >> value)
    if (name == "inactive_file" || name == "active_file") cache += value;
  return cache;
}

}  // namespace

std::unique_ptr<Topology> SystemTopology() { return std::make_unique<LinuxTopology>(); }

Status BindThisThread(const Topology& topology, uint32_t id) {
  const auto& nodes = topology.nodes();
  auto node = std::find_if(nodes.begin(), nodes.end(), [&](const NumaNode& n) { return n.id == id; });
  if (node == nodes.end())
    return Status(ErrorCode::kInvalidArgument, "NUMA node " + std::to_string(id) +
                                                   " does not exist; this machine has " + std::to_string(nodes.size()));
  if (nodes.size() == 1 || node->cpus.empty()) return OkStatus();
  cpu_set_t set;
  CPU_ZERO(&set);
  for (uint32_t cpu : node->cpus) CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof(set), &set) != 0)
    return Status(ErrorCode::kIo, "binding to NUMA node " + std::to_string(id) + " failed: " + strerror(errno));
  return OkStatus();
}

uint64_t AvailableMemoryBytes() {
  uint64_t available = UINT64_MAX;
  std::ifstream in("/proc/meminfo");
  std::string name, unit;
  uint64_t kib = 0;
  while (in >> name >> kib) {
    std::getline(in, unit);
    if (name == "MemAvailable:") available = kib * 1024;
  }
  ForEachCgroup([&](const std::string& folder) {
    uint64_t limit = ReadNumber(folder + "/memory.max"), used = ReadNumber(folder + "/memory.current");
    if (limit == UINT64_MAX || used == UINT64_MAX) return;
    used -= std::min(used, CgroupCacheBytes(folder));
    available = std::min(available, limit > used ? limit - used : 0);
  });
  return available;
}

}  // namespace proofline::shm
