// SPDX-License-Identifier: Apache-2.0
// calpe/streams.hpp — objects of any length in little memory: bytes in, stripes out, and back.
//
//   auto read = [&](calpe::Shard to) -> calpe::Result<std::size_t> { return input.read(to); };
//   auto write = [&](const calpe::StreamStripe& stripe) -> calpe::Status {
//     for (std::size_t i = 0; i < stripe.blocks.size(); ++i) {
//       shard_files[i].append(stripe.blocks[i]);
//     }
//     return calpe::Done{};
//   };
//   auto object_bytes = calpe::encode_stream(codec, {.block_bytes = 65'536}, read, write);
//
// Stripes. Stripe s holds bytes [s * k * block_bytes, (s + 1) * k * block_bytes) of the object.
// Data block i has the i-th block_bytes of them, and m parity blocks follow. The last stripe may be
// short. Its blocks are those of Codec::split() and Codec::encode_object() with shard_bytes_for(its
// bytes): its last data blocks may be short or empty, and their missing bytes count as zeros. So
// the data blocks of all stripes are exactly the object. An empty object has no stripes. To read an
// object you need its length, block_bytes and the codec's spec.
//
// Two forms. encode_stream() and decode_stream() call your functions for input and output, and
// read, code and write different stripes at the same time. StreamEncoder and StreamDecoder take
// bytes or stripes as they arrive, and run on the calling thread only.
//
// Callbacks. Each function is called by one thread at a time, but by several threads in turn. Input
// and output functions run at the same time. No function is called after the call returns. Buffers
// are valid until the function returns. A function must not use the stream that calls it. An error
// that it returns stops the stream and is the result of the call. An exception does, too: the call
// rethrows it, except std::bad_alloc, which becomes out_of_memory.
//
// Errors. encode_stream() and decode_stream() return the error that comes first in the order of
// stripes. All stripes before it have been written, and none after it. Input may have been read
// further. A call does not return before the functions that it called have returned.
//
// Memory. A stripe takes k * block_bytes + m * parity_bytes(block_bytes), rounded up to 64 bytes.
// There are `depth` of them; StreamEncoder and StreamDecoder have one stripe. All of it is
// allocated at the start. After that, a stripe needs no allocation if the codec runs_on_caller()
// and has the plan in its cache.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include <calpe/codec.hpp>

namespace calpe {

struct StreamOptions {
  // Length of a data block in every stripe but the last: at least 1, and a multiple of
  // shard_bytes_multiple(). It determines the layout of the stored blocks.
  std::size_t block_bytes = 65'536;
  // Stripes in memory, 1 to 256. Each has a thread, the first one the calling thread. 1 reads,
  // codes and writes in turn; 3 is the least that does all of it at the same time.
  unsigned depth = 4;
  // Your memory for the stripes, at least stream_memory_bytes(), for example aligned for direct
  // I/O. Data and parity blocks are packed, so blocks are as aligned as the memory and block_bytes.
  // If it is empty, the call allocates. It must outlive a StreamEncoder or StreamDecoder.
  Shard memory = {};
};

// One coded stripe.
struct StreamStripe {
  std::uint64_t number = 0;
  std::size_t data_bytes = 0;   // bytes of the object in the stripe, at least 1
  std::size_t shard_bytes = 0;  // block_bytes; in the last stripe shard_bytes_for(data_bytes)
  std::span<const ConstShard> blocks;  // all k+m; data blocks of the last stripe may be short
};

// Names a block that a decoder needs.
struct StreamBlock {
  std::uint64_t stripe = 0;
  ShardIndex shard = 0;
  // Where the block begins in its shard, if the blocks of a shard are stored one after the other.
  std::uint64_t offset = 0;
};

// Reads up to to.size() >= 1 bytes of the object and returns their number; 0 means the end.
using ReadBytes = std::function<Result<std::size_t>(Shard to)>;
// Stores the blocks of a stripe. Called in order.
using WriteStripe = std::function<Status(const StreamStripe& stripe)>;
// Reads a whole block, which has to.size() >= 1 bytes, and returns true. Returns false if the block
// is lost. Stripes are read in order, and of each stripe all data blocks in order; parity blocks
// only to replace lost ones.
using ReadBlock = std::function<Result<bool>(const StreamBlock& block, Shard to)>;
// Takes the next bytes of the object, at least 1.
using WriteBytes = std::function<Status(ConstShard bytes)>;

// Codes everything that `read` returns, and returns the number of these bytes. Fails with
// invalid_argument if an option is out of range or `read` returns more bytes than it was asked for.
Result<std::uint64_t> encode_stream(const Codec& codec, const StreamOptions& options,
                                    const ReadBytes& read, const WriteStripe& write);

// Reads an object of object_bytes and rebuilds its lost data blocks. Each stripe may have lost
// other blocks. Fails with unrecoverable, and names the stripe and the lost shards, if too many are
// lost.
Status decode_stream(const Codec& codec, const StreamOptions& options, std::uint64_t object_bytes,
                     const ReadBlock& read, const WriteBytes& write);

// Returns the length of StreamOptions::memory, or 0 if an option is out of range. The classes below
// need it for depth 1.
std::size_t stream_memory_bytes(const Codec& codec, const StreamOptions& options) noexcept;

// Takes bytes as they arrive and gives stripes to a function, inside write() and finish(). `depth`
// is not used. Whole stripes in the bytes are coded without a copy. After a failure of the function
// or of the codec, further calls return the same error. Not thread-safe.
class StreamEncoder {
 public:
  static Result<StreamEncoder> create(const Codec& codec, const StreamOptions& options,
                                      WriteStripe write);
  StreamEncoder(StreamEncoder&&) noexcept;
  StreamEncoder& operator=(StreamEncoder&&) noexcept;
  ~StreamEncoder();  // without finish(), the last stripe is not written

  Status write(ConstShard bytes);
  // Writes the last stripe, and returns the length of the object. Further calls return the same;
  // write() is then refused.
  Result<std::uint64_t> finish();

 private:
  struct Impl;
  explicit StreamEncoder(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

// Takes stripes in order and gives the bytes of the object to a function, inside write(). `depth`
// is not used. Blocks that are present are passed on without a copy. If write() fails, it can be
// repeated with other blocks of the same stripe, unless the function failed; then further calls
// return the same error. Not thread-safe.
class StreamDecoder {
 public:
  static Result<StreamDecoder> create(const Codec& codec, const StreamOptions& options,
                                      std::uint64_t object_bytes, WriteBytes write);
  StreamDecoder(StreamDecoder&&) noexcept;
  StreamDecoder& operator=(StreamDecoder&&) noexcept;
  ~StreamDecoder();

  // Returns the length of a shard's block in the next stripe; 0 after the last stripe.
  std::size_t block_bytes(ShardIndex shard) const noexcept;
  // blocks[i] is the block of shard i in the next stripe, for all k+m. A block without an address
  // (data() == nullptr) is lost. Fails with unrecoverable as decode_stream() does, and with
  // invalid_argument if a block has the wrong length or all stripes were written.
  Status write(std::span<const ConstShard> blocks);
  // Fails with invalid_argument if stripes are missing.
  Status finish();

 private:
  struct Impl;
  explicit StreamDecoder(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace calpe
