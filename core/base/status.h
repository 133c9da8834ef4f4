// Status and Result<T>: how an expected failure travels.
//
// Bad input, a missing file, lack of memory, a dead peer, a time-out are values, not exceptions. Every failure says three
// things (fact with numbers, detail, remedy) and carries a stable code, from which follow the exit code of a program and
// whether a retry can help. Assertions are for our own mistakes and are never reachable from file or network bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace proofline {

// Stable: the numbers travel in messages and in the journal. Append only.
enum class ErrorCode : uint8_t {
  kOk = 0,
  kInvalidFile = 1,      // a file is not what it says it is: truncated, wrong kind, a field out of range
  kMismatch = 2,         // two inputs are each fine but do not belong together (key and witness, curves, counts)
  kUnsatisfied = 3,      // the witness does not satisfy the circuit
  kInvalidProof = 4,     // verification said no
  kUnsafeKey = 5,        // the key is not safe to trust (no second-phase contribution, known secret)
  kUsage = 6,            // the command line is wrong
  kNotFound = 7,         // no such job, circuit, file
  kConflict = 8,         // the name or id is taken by something else
  kCancelled = 9,        //
  kTimeout = 10,         // the time given was over; the work may still go on
  kResource = 11,        // memory, disk, slots, descriptors
  kIo = 12,              // the operating system refused a read, write, bind, connect
  kUnavailable = 13,     // a peer is not there (yet, or any more)
  kCrashed = 14,         // a worker died over the work
  kDeviceFault = 15,     // the device gave a wrong answer or an error
  kInternal = 16,        // a mistake of ours
  kUnsupported = 17,     // understood, but not something this program does
  kInvalidArgument = 18, // a request's field is out of range
};

// 0 done, 1 the input or the job is at fault, 2 usage, 3 the system is at fault and a retry can help.
int ExitCodeFor(ErrorCode code);
// True where the same request may succeed later without being changed.
bool IsRetryable(ErrorCode code);
// "invalid-file", ...: stable, used in events and JSON.
std::string_view ErrorCodeName(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string fact;    // one line: what is wrong, with the thing's name and the numbers found and expected
  std::string detail;  // optional: the failing call, the offset
  std::string remedy;  // optional: what to change
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  explicit Status(Error error) : error_(std::make_unique<Error>(std::move(error))) {}
  Status(ErrorCode code, std::string fact, std::string detail = {}, std::string remedy = {})
      : Status(Error{code, std::move(fact), std::move(detail), std::move(remedy)}) {}
  Status(const Status& other) : error_(other.error_ ? std::make_unique<Error>(*other.error_) : nullptr) {}
  Status& operator=(const Status& other) {
    if (this != &other) error_ = other.error_ ? std::make_unique<Error>(*other.error_) : nullptr;
    return *this;
  }
  Status(Status&&) noexcept = default;
  Status& operator=(Status&&) noexcept = default;

  bool ok() const { return error_ == nullptr; }
  explicit operator bool() const { return ok(); }
  ErrorCode code() const { return error_ ? error_->code : ErrorCode::kOk; }
  const Error& error() const { return *error_; }
  bool retryable() const { return error_ && IsRetryable(error_->code); }
  // "fact. detail. remedy" on one line, for logs; programs print the parts on lines of their own.
  std::string ToString() const;
  // Puts "context: " before the fact (a file's name, usually).
  Status WithContext(std::string_view context) &&;

 private:
  std::unique_ptr<Error> error_;
};

inline Status OkStatus() { return Status(); }

// A value or a failed Status, never both.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}            // NOLINT: implicit by design
  Result(Status status) : status_(std::move(status)) {}    // NOLINT: must be a failure
  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Status& status() const& { return status_; }
  Status&& status() && { return std::move(status_); }
  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return *std::move(value_); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace proofline

// Passes a failure up. The second form names the value: PL_ASSIGN_OR_RETURN(auto key, ReadKey(path));
#define PL_CONCAT_INNER(a, b) a##b
#define PL_CONCAT(a, b) PL_CONCAT_INNER(a, b)
#define PL_RETURN_IF_ERROR(expr)                             \
  do {                                                       \
    if (::proofline::Status pl_status = (expr); !pl_status.ok()) return pl_status; \
  } while (false)
#define PL_ASSIGN_OR_RETURN(lhs, expr) PL_ASSIGN_OR_RETURN_IMPL(PL_CONCAT(pl_result_, __LINE__), lhs, expr)
#define PL_ASSIGN_OR_RETURN_IMPL(tmp, lhs, expr) \
  auto tmp = (expr);                             \
  if (!tmp.ok()) return std::move(tmp).status(); \
  lhs = *std::move(tmp)
