// What every long-lived process of ours does to itself at the start of main.
#pragma once

#include "core/base/status.h"
#include "core/base/unique_fd.h"

namespace proofline {

// No core dumps and no same-user ptrace (not in builds with a sanitizer, whose leak check needs it), umask 077, and an
// allocator that gives large blocks back at once and keeps few arenas; SIGPIPE and SIGXFSZ are ignored. Before other threads exist.
void HardenProcess();

// Opens as many files as the hard limit allows from now on. kResource if that is fewer than 64, which every program with sockets needs
// (the messaging library ends a process that runs out).
Status RaiseFileLimit();

// Blocks SIGTERM and SIGINT in this thread and those it starts; the descriptor becomes readable when one comes.
Result<UniqueFd> TakeStopSignals();

}  // namespace proofline
