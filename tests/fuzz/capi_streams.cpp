// SPDX-License-Identifier: Apache-2.0
// Streams of a session: every stripe is the model's, and an object is read again or refused.
#include <calpe/streams.h>

#include "fuzz/capi_session.hpp"

namespace calpe::fuzz {

namespace {

constexpr calpe_status own_failure = 4321;

// What the callbacks read, write and check. Reads and writes run at the same time.
struct Store {
  const CodeModel& model;
  const calpe_codec* codec;
  Bytes object = {};
  std::vector<std::vector<Bytes>> stripes = {};
  Indices lost = {};  // in every second stripe
  std::size_t read_most = 0;
  std::size_t read_bytes = 0;
  std::size_t written_bytes = 0;
  std::size_t reads_left = 1'000'000;  // until a callback fails
  std::size_t writes_left = 1'000'000;

  bool is_lost(std::uint64_t stripe, unsigned shard) const {
    return stripe % 2 == 0 && contains(lost, shard);
  }
};

calpe_status read_bytes(void* user, void* to, std::size_t capacity, std::size_t* count) {
  Store& store = *static_cast<Store*>(user);
  if (store.reads_left-- == 0) return own_failure;
  *count = std::min({capacity, store.read_most, store.object.size() - store.read_bytes});
  std::copy_n(store.object.begin() + static_cast<std::ptrdiff_t>(store.read_bytes), *count,
              static_cast<std::uint8_t*>(to));
  store.read_bytes += *count;
  return CALPE_OK;
}

calpe_status write_stripe(void* user, const calpe_stream_stripe* stripe) {
  Store& store = *static_cast<Store*>(user);
  if (store.writes_left-- == 0) return own_failure;
  require(stripe->number == store.stripes.size(), "stripes come in order");
  require(stripe->block_count == store.model.shards(), "a stripe has all blocks");
  std::vector<Bytes> blocks;
  for (unsigned i = 0; i < store.model.shards(); ++i) {
    const auto* const from = static_cast<const std::uint8_t*>(stripe->blocks[i]);
    blocks.emplace_back(from, from + stripe->block_bytes[i]);
    if (i < store.model.data) store.written_bytes += blocks.back().size();
  }
  std::vector<Bytes> padded(blocks.begin(),
                            blocks.begin() + static_cast<std::ptrdiff_t>(store.model.data));
  for (Bytes& block : padded)
    block.resize(stripe->shard_bytes);
  require(std::equal(blocks.begin() + static_cast<std::ptrdiff_t>(store.model.data), blocks.end(),
                     encoded(store.model, padded, stripe->shard_bytes).begin()),
          "parity of a stripe");
  store.stripes.push_back(std::move(blocks));
  return CALPE_OK;
}

calpe_status read_block(void* user, const calpe_stream_block* block, void* to) {
  Store& store = *static_cast<Store*>(user);
  if (store.reads_left-- == 0) return own_failure;
  require(block->stripe < store.stripes.size() && block->shard < store.model.shards(), "a block");
  const Bytes& from = store.stripes[block->stripe][block->shard];
  require(from.size() == block->bytes && !from.empty(), "the length of a block");
  if (store.is_lost(block->stripe, block->shard)) return CALPE_BLOCK_LOST;
  std::copy(from.begin(), from.end(), static_cast<std::uint8_t*>(to));
  return CALPE_OK;
}

calpe_status write_bytes(void* user, const void* bytes, std::size_t count) {
  Store& store = *static_cast<Store*>(user);
  if (store.writes_left-- == 0) return own_failure;
  require(store.written_bytes + count <= store.object.size(), "no more bytes than the object");
  require(std::memcmp(store.object.data() + store.written_bytes, bytes, count) == 0,
          "the object is read again");
  store.written_bytes += count;
  return CALPE_OK;
}

calpe_status push_bytes(Store& store, const calpe_stream_options& options, std::size_t piece,
                        std::uint64_t* object_bytes, calpe_error* error) {
  calpe_stream_encoder* encoder = nullptr;
  calpe_status status =
      calpe_stream_encoder_create(store.codec, &options, write_stripe, &store, &encoder, error);
  for (std::size_t at = 0; status == CALPE_OK && at < store.object.size(); at += piece) {
    status = calpe_stream_encoder_write(encoder, store.object.data() + at,
                                        std::min(piece, store.object.size() - at), error);
  }
  if (status == CALPE_OK) status = calpe_stream_encoder_finish(encoder, object_bytes, error);
  calpe_stream_encoder_destroy(encoder);
  return status;
}

calpe_status push_stripes(Store& store, const calpe_stream_options& options, calpe_error* error) {
  calpe_stream_decoder* decoder = nullptr;
  calpe_status status = calpe_stream_decoder_create(store.codec, &options, store.object.size(),
                                                    write_bytes, &store, &decoder, error);
  for (std::size_t s = 0; status == CALPE_OK && s < store.stripes.size(); ++s) {
    std::vector<const void*> blocks;
    for (unsigned i = 0; i < store.model.shards(); ++i) {
      const Bytes& block = store.stripes[s][i];
      require(
          calpe_stream_decoder_block_bytes(decoder, static_cast<std::uint16_t>(i)) == block.size(),
          "the length of a block to push");
      blocks.push_back(store.is_lost(s, i) ? nullptr : block.data());
    }
    status = calpe_stream_decoder_write(decoder, blocks.data(), error);
  }
  if (status == CALPE_OK) status = calpe_stream_decoder_finish(decoder, error);
  calpe_stream_decoder_destroy(decoder);
  return status;
}

}  // namespace

// An object of any length through a stream and back, with lost blocks and callbacks that may fail.
void Session::stream(HeldCodec& held) {
  const CodeModel& model = held.model;
  const std::size_t multiple = calpe_shard_bytes_multiple(held.codec.get());
  calpe_stream_options options = CALPE_STREAM_OPTIONS_INIT;
  options.block_bytes = input_.below(24);
  if (multiple > 1 && input_.below(8) != 0) options.block_bytes = multiple;
  options.depth = input_.below(8) == 7 ? input_.below(4) : 1;  // threads are slow to start
  const bool is_pushed = input_.coin();
  const std::size_t block_bytes = options.block_bytes == 0 ? 65'536 : options.block_bytes;
  const bool is_sound = block_bytes % multiple == 0;
  const std::size_t bytes = std::size_t{input_.byte()} * (1 + input_.below(3));
  Store store{.model = model, .codec = held.codec.get()};
  store.read_most = 1 + input_.byte();
  if (input_.below(4) == 3) store.reads_left = input_.below(8);
  if (input_.below(4) == 3) store.writes_left = input_.below(8);
  const bool may_fail = store.reads_left < 8 || store.writes_left < 8;
  std::uint8_t next = input_.byte();
  for (std::size_t i = 0; i < bytes; ++i)
    store.object.push_back(next = static_cast<std::uint8_t>(next * 5U + 33U));
  Bytes memory;
  if (input_.coin()) {
    memory.resize(calpe_stream_memory_bytes(store.codec, &options));
    require(is_sound == !memory.empty(), "exactly allowed options have a memory");
    options.memory = memory.empty() ? nullptr : memory.data();
    options.memory_bytes = memory.size();
  }
  std::uint64_t object_bytes = 0;
  const calpe_status written =
      checked({CALPE_ERROR_INVALID_ARGUMENT, own_failure}, [&](calpe_error* error) {
        return is_pushed ? push_bytes(store, options, store.read_most, &object_bytes, error)
                         : calpe_encode_stream(store.codec, &options, read_bytes, write_stripe,
                                               &store, &object_bytes, error);
      });
  require((written == CALPE_ERROR_INVALID_ARGUMENT) == !is_sound, "allowed blocks are accepted");
  require(written != own_failure || may_fail, "only callbacks that fail stop a stream");
  if (written != CALPE_OK) return;
  require(object_bytes == bytes && store.written_bytes == bytes, "the whole object is written");

  store.lost = any_indices(model.shards(), model.parity + 1);
  store.written_bytes = 0;
  unsigned lost_count = 0;
  for (unsigned i = 0; i < model.shards(); ++i)
    lost_count += contains(store.lost, i) ? 1 : 0;
  const calpe_status read =
      checked({CALPE_ERROR_UNRECOVERABLE, own_failure}, [&](calpe_error* error) {
        return is_pushed ? push_stripes(store, options, error)
                         : calpe_decode_stream(store.codec, &options, bytes, read_block,
                                               write_bytes, &store, error);
      });
  require(read != CALPE_ERROR_UNRECOVERABLE || lost_count > model.losses, "few losses are rebuilt");
  require(read != own_failure || may_fail, "only callbacks that fail stop reading");
  if (read == CALPE_OK) require(store.written_bytes == bytes, "the whole object is read");
}

}  // namespace calpe::fuzz
