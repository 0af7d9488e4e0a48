// SPDX-License-Identifier: Apache-2.0
// Aligned memory for direct I/O, and a stock of stripe buffers, so that calls do not allocate.
//
// Locks: the stock has one mutex, taken last.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "array/format/members.hpp"
#include "array/format/types.hpp"

namespace calpe::array {

class AlignedBytes {
 public:
  AlignedBytes() = default;
  explicit AlignedBytes(std::size_t bytes)
      : bytes_(static_cast<std::byte*>(std::aligned_alloc(block_bytes, bytes))), size_(bytes) {
    if (bytes_ == nullptr) throw std::bad_alloc();
  }
  std::byte* data() const noexcept { return bytes_.get(); }
  std::size_t size() const noexcept { return size_; }
  std::span<std::byte> span() const noexcept { return {bytes_.get(), size_}; }

 private:
  struct Free {
    void operator()(std::byte* bytes) const noexcept { std::free(bytes); }
  };
  std::unique_ptr<std::byte, Free> bytes_;
  std::size_t size_ = 0;
};

enum class BlockState : std::uint8_t {
  untried = 0,
  good = 1,
  wrong = 2,    // does not match its checksum, or cannot be read
  missing = 3,  // not on the member
};

// Values of StripeBuffer::needs for a block.
inline constexpr std::uint8_t needs_block = 1;
inline constexpr std::uint8_t needs_help = 2;     // needed to decode another block
inline constexpr std::uint8_t needs_rewrite = 3;  // was wrong, now decoded
inline constexpr std::uint8_t is_rewritten = 4;   // rewritten; durable with the next commit

struct BlockCopy {
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
};

// All shards of one stripe, and the state of each block.
struct StripeBuffer {
  StripeBuffer(unsigned shards, std::uint32_t columns)
      : bytes(std::size_t{shards} * columns * block_bytes),
        states(std::size_t{shards} * columns),
        needs(std::size_t{shards} * columns),
        checks(std::size_t{shards} * columns),
        columns_(columns) {}

  std::size_t at(unsigned shard, std::uint32_t column) const noexcept {
    return std::size_t{shard} * columns_ + column;
  }
  std::span<std::byte> blocks(unsigned shard, std::uint32_t column, std::uint32_t count) noexcept {
    return bytes.span().subspan(at(shard, column) * block_bytes, std::size_t{count} * block_bytes);
  }
  std::span<std::byte> block(unsigned shard, std::uint32_t column) noexcept {
    return blocks(shard, column, 1);
  }

  AlignedBytes bytes;
  std::vector<BlockState> states;
  std::vector<std::uint8_t> needs;
  std::vector<std::uint64_t> checks;  // expected checksums of the blocks that were read
  std::vector<MemberRequest> requests = {};
  std::vector<BlockCopy> copies = {};  // into a batch

 private:
  std::uint32_t columns_;
};

class BufferStock {
 public:
  BufferStock(unsigned shards, std::uint32_t columns) : shards_(shards), columns_(columns) {}

  class Lease {
   public:
    Lease(BufferStock& stock, std::unique_ptr<StripeBuffer> buffer)
        : stock_(&stock), buffer_(std::move(buffer)) {}
    Lease(Lease&& other) noexcept = default;
    Lease& operator=(Lease&& other) = delete;
    ~Lease() {
      if (buffer_ != nullptr) stock_->give(std::move(buffer_));
    }
    StripeBuffer& operator*() const noexcept { return *buffer_; }
    StripeBuffer* operator->() const noexcept { return buffer_.get(); }

   private:
    BufferStock* stock_;
    std::unique_ptr<StripeBuffer> buffer_;
  };

  Lease take() {
    std::unique_ptr<StripeBuffer> buffer;
    {
      const std::lock_guard lock(mutex_);
      if (!stock_.empty()) {
        buffer = std::move(stock_.back());
        stock_.pop_back();
      }
    }
    if (buffer == nullptr) buffer = std::make_unique<StripeBuffer>(shards_, columns_);
    std::fill(buffer->states.begin(), buffer->states.end(), BlockState::untried);
    std::fill(buffer->needs.begin(), buffer->needs.end(), std::uint8_t{0});
    return Lease(*this, std::move(buffer));
  }

 private:
  void give(std::unique_ptr<StripeBuffer> buffer) noexcept {
    const std::lock_guard lock(mutex_);
    try {
      stock_.push_back(std::move(buffer));
    } catch (const std::bad_alloc&) {  // the buffer is freed
    }
  }

  unsigned shards_;
  std::uint32_t columns_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<StripeBuffer>> stock_;
};

}  // namespace calpe::array
