// What the machine looks like to this process: how many cores it may use, which NUMA nodes there are.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/status.h"

namespace proofline::shm {

struct NumaNode {
  uint32_t id = 0;
  std::vector<uint32_t> cpus;  // of those this process may use
};

// An interface, so that tests can show two nodes on a machine of one.
class Topology {
 public:
  virtual ~Topology() = default;
  // At least 1: cores in the affinity mask, no more than the control group's CPU quota allows (rounded up).
  virtual uint32_t usable_cores() const = 0;
  // At least one; a machine without NUMA has node 0.
  virtual const std::vector<NumaNode>& nodes() const = 0;
};

std::unique_ptr<Topology> SystemTopology();

// Lets the calling thread and those it starts later run on that node's cores only. kInvalidArgument for a node that is
// not in `topology`. No effect on a machine of one node.
Status BindThisThread(const Topology& topology, uint32_t node);

// MemAvailable of the host, no more than the memory control group has left.
uint64_t AvailableMemoryBytes();

}  // namespace proofline::shm
