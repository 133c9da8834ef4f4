// A sector of any size that was never sealed, with valid proofs of replication: a load for full-size tests and benches, made in a second.
//
// A verifier opens only challenged nodes and the columns of their parents, and interactive challenges depend on replica id and seed alone. So
// every node gets the same data and the same column, but for the challenged ones, whose labels are true to their parents. This is no weakness: a
// seed is not known when a sector's commitments are fixed. Here it is.
#pragma once

#include <memory>
#include <string>

#include "core/circuits/filecoin/check.h"

namespace proofline::filecoin {

struct SparseSectorOptions {
  std::string name = "proofline";  // data, labels, ticket and seed are hashes of it
  Bytes32 prover_id{}, porep_id{};
  uint64_t sector = 1;
  SealingApi api = SealingApi::kV1_1;
};

class SparseSector {
 public:
  SparseSector(const PoRepShape& shape, const SparseSectorOptions& options);
  ~SparseSector();

  const FrCanonical& replica_id() const;
  const FrCanonical& comm_d() const;
  FrCanonical comm_c() const;
  FrCanonical comm_r_last() const;
  const FrCanonical& comm_r() const;
  const SealingFacts& facts() const;
  // Precondition: number < the shape's partitions. From any thread.
  PoRepPartition Partition(uint32_t number) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace proofline::filecoin
