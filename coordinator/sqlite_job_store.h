// The journal of one host in SQLite: WAL, synchronous=FULL, locked exclusively for the life of the store.
#pragma once

#include <memory>
#include <string>

#include "coordinator/job_store.h"

namespace proofline::coordinator {

// Opens the journal at `path`, or makes it: under another name first, renamed when complete, so that an empty or half-made file at
// `path` can only be damage. Takes a new term (durable).
//   kInvalidFile  damaged, or not ours, or its -wal without it; nothing is changed
//   kUnsupported  written by a newer version
//   kConflict     another process has it open
//   kIo/kResource cannot be read or written
Result<std::unique_ptr<JobStore>> OpenSqliteJobStore(const std::string& path);

// The same in memory, for a private stack: nothing survives the process.
Result<std::unique_ptr<JobStore>> OpenMemoryJobStore();

}  // namespace proofline::coordinator
