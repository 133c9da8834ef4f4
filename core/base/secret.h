// Memory that held a secret (witness values, blinding scalars) and is wiped when it goes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string.h>
#include <type_traits>

#include "core/base/bytes.h"

namespace proofline {

// A store the compiler may not remove.
inline void Wipe(void* p, size_t bytes) {
  if (bytes) explicit_bzero(p, bytes);
}

// Holds a trivially copyable secret; not copyable; wiped at the end of its life.
template <class T>
class Secret {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Secret() = default;
  ~Secret() { Wipe(&value_, sizeof(T)); }
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;
  Secret(Secret&& other) noexcept : value_(other.value_) { Wipe(&other.value_, sizeof(T)); }
  T& get() { return value_; }
  const T& get() const { return value_; }

 private:
  T value_{};
};

}  // namespace proofline
