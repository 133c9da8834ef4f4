// Memory that held a secret (witness values, blinding scalars) and is wiped when it goes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string.h>
#include <type_traits>
#include <utility>

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

// An array of `size` elements, not initialised, for work vectors made of a secret; wiped at the end of its life. Movable only.
// The constructor throws std::bad_alloc.
template <class T>
class SecretBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  SecretBuffer() = default;
  explicit SecretBuffer(size_t size) : data_(std::make_unique_for_overwrite<T[]>(size)), size_(size) {}
  ~SecretBuffer() { Reset(); }
  SecretBuffer(SecretBuffer&& other) noexcept
      : data_(std::move(other.data_)), size_(std::exchange(other.size_, 0)) {}
  SecretBuffer& operator=(SecretBuffer&& other) noexcept {
    if (this != &other) {
      Reset();
      data_ = std::move(other.data_);
      size_ = std::exchange(other.size_, 0);
    }
    return *this;
  }

  // Wipes and frees now.
  void Reset() {
    if (data_) Wipe(data_.get(), size_ * sizeof(T));
    data_.reset();
    size_ = 0;
  }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  size_t size() const { return size_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  std::span<T> span() { return {data_.get(), size_}; }
  std::span<const T> span() const { return {data_.get(), size_}; }

 private:
  std::unique_ptr<T[]> data_;
  size_t size_ = 0;
};

}  // namespace proofline
