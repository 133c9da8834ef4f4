#include "core/base/status.h"

namespace proofline {

namespace {
struct CodeInfo {
  std::string_view name;
  int exit_code;
  bool retryable;
};

constexpr CodeInfo Info(ErrorCode code) {
  switch (code) {
    case ErrorCode::kOk: return {"ok", 0, false};
    case ErrorCode::kInvalidFile: return {"invalid-file", 1, false};
    case ErrorCode::kMismatch: return {"mismatch", 1, false};
    case ErrorCode::kUnsatisfied: return {"unsatisfied", 1, false};
    case ErrorCode::kInvalidProof: return {"invalid-proof", 1, false};
    case ErrorCode::kUnsafeKey: return {"unsafe-key", 1, false};
    case ErrorCode::kUsage: return {"usage", 2, false};
    case ErrorCode::kNotFound: return {"not-found", 1, false};
    case ErrorCode::kConflict: return {"conflict", 1, false};
    case ErrorCode::kCancelled: return {"cancelled", 1, false};
    case ErrorCode::kTimeout: return {"timeout", 3, true};
    case ErrorCode::kResource: return {"resource", 3, true};
    case ErrorCode::kIo: return {"io", 3, true};
    case ErrorCode::kUnavailable: return {"unavailable", 3, true};
    case ErrorCode::kCrashed: return {"crashed", 3, true};
    case ErrorCode::kDeviceFault: return {"device-fault", 3, true};
    case ErrorCode::kInternal: return {"internal", 3, false};
    case ErrorCode::kUnsupported: return {"unsupported", 1, false};
    case ErrorCode::kInvalidArgument: return {"invalid-argument", 1, false};
  }
  return {"unknown", 3, false};
}
}  // namespace

int ExitCodeFor(ErrorCode code) { return Info(code).exit_code; }
bool IsRetryable(ErrorCode code) { return Info(code).retryable; }
std::string_view ErrorCodeName(ErrorCode code) { return Info(code).name; }

std::string Status::ToString() const {
  if (ok()) return "ok";
  std::string text = error_->fact;
  if (!error_->detail.empty()) text += ". " + error_->detail;
  if (!error_->remedy.empty()) text += ". " + error_->remedy;
  return text;
}

Status Status::WithContext(std::string_view context) && {
  if (error_) error_->fact = std::string(context) + ": " + error_->fact;
  return std::move(*this);
}

}  // namespace proofline
