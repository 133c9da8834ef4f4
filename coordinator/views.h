// What clients are shown. Each view fits a message.
#pragma once

#include "coordinator/core.h"

namespace proofline::coordinator {

wire::JobView ViewOf(const Core& core, const Job& job);
// Of a job that has ended.
wire::JobView ViewOf(const Core& core, const LoadedJob& loaded);
wire::StackStatus StatusOf(const Core& core);

}  // namespace proofline::coordinator
