// SPDX-License-Identifier: Apache-2.0
// Memory that a device under test works on. A hung device may still write to it, so after a hang it
// is never freed. Not a vector with an allocator: without optimisation that is slow, byte by byte.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

namespace calpe::tools {

inline std::atomic<bool> trial_bytes_are_kept = false;
inline void keep_trial_bytes() {
  trial_bytes_are_kept = true;
}

class TrialBytes {
 public:
  TrialBytes() : TrialBytes(0) {}
  explicit TrialBytes(std::size_t size, std::byte value = std::byte{0})
      : bytes_(new std::byte[size]), size_(size) {
    if (size != 0) std::memset(bytes_.get(), std::to_integer<int>(value), size);
  }
  TrialBytes(const TrialBytes& other) : TrialBytes(other.begin(), other.size_) {}
  TrialBytes(TrialBytes&& other) noexcept
      : bytes_(std::move(other.bytes_)), size_(std::exchange(other.size_, 0)) {}
  TrialBytes& operator=(TrialBytes other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~TrialBytes() {
    if (trial_bytes_are_kept) static_cast<void>(bytes_.release());
  }

  std::byte* data() noexcept { return bytes_.get(); }
  std::byte* begin() noexcept { return bytes_.get(); }
  std::byte* end() noexcept { return bytes_.get() + size_; }
  const std::byte* data() const noexcept { return bytes_.get(); }
  const std::byte* begin() const noexcept { return bytes_.get(); }
  const std::byte* end() const noexcept { return bytes_.get() + size_; }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  std::byte& back() noexcept { return bytes_[size_ - 1]; }
  bool operator==(const TrialBytes& other) const noexcept {
    return size_ == other.size_ &&
           (size_ == 0 || std::memcmp(bytes_.get(), other.bytes_.get(), size_) == 0);
  }

 private:
  TrialBytes(const std::byte* from, std::size_t size) : bytes_(new std::byte[size]), size_(size) {
    if (size != 0) std::memcpy(bytes_.get(), from, size);
  }

  std::unique_ptr<std::byte[]> bytes_;
  std::size_t size_;
};

}  // namespace calpe::tools
