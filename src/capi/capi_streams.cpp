// SPDX-License-Identifier: Apache-2.0
// calpe/streams.h: C callbacks become functions that return errors.
#include <array>
#include <utility>

#include <calpe/streams.h>
#include <calpe/streams.hpp>

#include "base/text.hpp"
#include "base/try.hpp"
#include "capi/capi_support.hpp"

using namespace calpe;
using namespace calpe::capi;

struct calpe_stream_encoder {
  StreamEncoder encoder;
};
struct calpe_stream_decoder {
  StreamDecoder decoder;
  std::size_t shards;
};

namespace {

Result<StreamOptions> to_stream_options(const calpe_stream_options* given) {
  StreamOptions options;
  if (given == nullptr) return options;
  CALPE_TRY(const calpe_stream_options full, read_struct(given, "stream_options"));
  if (full.reserved != 0) return invalid("reserved is ", full.reserved, "; expected 0");
  if (full.block_bytes != 0) options.block_bytes = full.block_bytes;
  if (full.depth != 0) options.depth = full.depth;
  if (full.memory == nullptr && full.memory_bytes > 0) {
    return invalid("memory is NULL, but memory_bytes is ", full.memory_bytes);
  }
  options.memory = {static_cast<std::byte*>(full.memory), full.memory_bytes};
  return options;
}

// The caller's functions may return any number.
template <class... Place>
Error callback_error(calpe_status status, const char* name, const Place&... place) {
  return make_error(static_cast<ErrorCode>(status), name, " returned ", status, place...);
}

ReadBytes to_read_bytes(calpe_read_bytes read, void* user) {
  return [read, user](Shard to) -> Result<std::size_t> {
    std::size_t count = 0;
    const calpe_status status = read(user, to.data(), to.size(), &count);
    if (status != CALPE_OK) return callback_error(status, "read");
    return count;
  };
}

WriteStripe to_write_stripe(calpe_write_stripe write, void* user) {
  return [write, user](const StreamStripe& stripe) -> Status {
    ShortArray<const void*> blocks(stripe.blocks.size());
    ShortArray<std::size_t> lengths(stripe.blocks.size());
    for (std::size_t i = 0; i < stripe.blocks.size(); ++i) {
      blocks[i] = stripe.blocks[i].data();
      lengths[i] = stripe.blocks[i].size();
    }
    calpe_stream_stripe given{};
    given.struct_size = sizeof given;
    given.number = stripe.number;
    given.data_bytes = stripe.data_bytes;
    given.shard_bytes = stripe.shard_bytes;
    given.block_count = stripe.blocks.size();
    given.blocks = blocks.data();
    given.block_bytes = lengths.data();
    const calpe_status status = write(user, &given);
    if (status == CALPE_OK) return Done{};
    return callback_error(status, "write", " for stripe ", stripe.number);
  };
}

ReadBlock to_read_block(calpe_read_block read, void* user) {
  return [read, user](const StreamBlock& block, Shard to) -> Result<bool> {
    calpe_stream_block given{};
    given.struct_size = sizeof given;
    given.stripe = block.stripe;
    given.offset = block.offset;
    given.bytes = to.size();
    given.shard = block.shard;
    const calpe_status status = read(user, &given, to.data());
    if (status == CALPE_OK) return true;
    if (status == CALPE_BLOCK_LOST) return false;
    return callback_error(status, "read", " for the block of shard ", block.shard, " in stripe ",
                          block.stripe);
  };
}

WriteBytes to_write_bytes(calpe_write_bytes write, void* user) {
  return [write, user](ConstShard bytes) -> Status {
    const calpe_status status = write(user, bytes.data(), bytes.size());
    if (status == CALPE_OK) return Done{};
    return callback_error(status, "write");
  };
}

}  // namespace

size_t calpe_stream_memory_bytes(const calpe_codec* codec, const calpe_stream_options* options) {
  std::size_t bytes = 0;
  const calpe_status status = walled(nullptr, [&] {
    if (codec == nullptr) return null_argument("codec is NULL", nullptr);
    Result<StreamOptions> full = to_stream_options(options);
    if (full) bytes = stream_memory_bytes(codec->codec, *full);
    return finish(full, nullptr);
  });
  return status == CALPE_OK ? bytes : 0;
}

calpe_status calpe_encode_stream(const calpe_codec* codec, const calpe_stream_options* options,
                                 calpe_read_bytes read, calpe_write_stripe write, void* user,
                                 uint64_t* object_bytes, calpe_error* error) {
  return walled(error, [&] {
    if (object_bytes != nullptr) *object_bytes = 0;
    if (codec == nullptr || read == nullptr || write == nullptr) {
      return null_argument("codec, read or write is NULL", error);
    }
    const Result<StreamOptions> full = to_stream_options(options);
    if (!full) return fail(full.error(), error);
    const auto done =
        encode_stream(codec->codec, *full, to_read_bytes(read, user), to_write_stripe(write, user));
    if (done && object_bytes != nullptr) *object_bytes = *done;
    return finish(done, error);
  });
}

calpe_status calpe_decode_stream(const calpe_codec* codec, const calpe_stream_options* options,
                                 uint64_t object_bytes, calpe_read_block read,
                                 calpe_write_bytes write, void* user, calpe_error* error) {
  return walled(error, [&] {
    if (codec == nullptr || read == nullptr || write == nullptr) {
      return null_argument("codec, read or write is NULL", error);
    }
    const Result<StreamOptions> full = to_stream_options(options);
    if (!full) return fail(full.error(), error);
    return finish(decode_stream(codec->codec, *full, object_bytes, to_read_block(read, user),
                                to_write_bytes(write, user)),
                  error);
  });
}

calpe_status calpe_stream_encoder_create(const calpe_codec* codec,
                                         const calpe_stream_options* options,
                                         calpe_write_stripe write, void* user,
                                         calpe_stream_encoder** out, calpe_error* error) {
  return walled(error, [&] {
    if (out == nullptr) return null_argument("out is NULL", error);
    *out = nullptr;
    if (codec == nullptr || write == nullptr) {
      return null_argument("codec or write is NULL", error);
    }
    const Result<StreamOptions> full = to_stream_options(options);
    if (!full) return fail(full.error(), error);
    return give(StreamEncoder::create(codec->codec, *full, to_write_stripe(write, user)), out,
                error);
  });
}

calpe_status calpe_stream_encoder_write(calpe_stream_encoder* encoder, const void* bytes,
                                        size_t count, calpe_error* error) {
  return walled(error, [&] {
    if (encoder == nullptr || (bytes == nullptr && count > 0)) {
      return null_argument("encoder or bytes is NULL", error);
    }
    return finish(encoder->encoder.write({static_cast<const std::byte*>(bytes), count}), error);
  });
}

calpe_status calpe_stream_encoder_finish(calpe_stream_encoder* encoder, uint64_t* object_bytes,
                                         calpe_error* error) {
  return walled(error, [&] {
    if (object_bytes != nullptr) *object_bytes = 0;
    if (encoder == nullptr) return null_argument("encoder is NULL", error);
    const auto done = encoder->encoder.finish();
    if (done && object_bytes != nullptr) *object_bytes = *done;
    return finish(done, error);
  });
}

void calpe_stream_encoder_destroy(calpe_stream_encoder* encoder) {
  delete encoder;
}

calpe_status calpe_stream_decoder_create(const calpe_codec* codec,
                                         const calpe_stream_options* options, uint64_t object_bytes,
                                         calpe_write_bytes write, void* user,
                                         calpe_stream_decoder** out, calpe_error* error) {
  return walled(error, [&] {
    if (out == nullptr) return null_argument("out is NULL", error);
    *out = nullptr;
    if (codec == nullptr || write == nullptr) {
      return null_argument("codec or write is NULL", error);
    }
    const Result<StreamOptions> full = to_stream_options(options);
    if (!full) return fail(full.error(), error);
    auto made =
        StreamDecoder::create(codec->codec, *full, object_bytes, to_write_bytes(write, user));
    if (!made) return fail(made.error(), error);
    const CodeSpec& spec = codec->codec.spec();
    *out = new calpe_stream_decoder{*std::move(made),
                                    std::size_t{spec.data_shards} + spec.parity_shards};
    return succeed(error);
  });
}

size_t calpe_stream_decoder_block_bytes(const calpe_stream_decoder* decoder, uint16_t shard) {
  return decoder->decoder.block_bytes(shard);
}

calpe_status calpe_stream_decoder_write(calpe_stream_decoder* decoder, const void* const* blocks,
                                        calpe_error* error) {
  return walled(error, [&] {
    if (decoder == nullptr || blocks == nullptr) {
      return null_argument("decoder or blocks is NULL", error);
    }
    SpanArray<const std::byte> given(decoder->shards);
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (blocks[i] == nullptr) continue;
      given[i] = {static_cast<const std::byte*>(blocks[i]),
                  decoder->decoder.block_bytes(static_cast<ShardIndex>(i))};
    }
    return finish(decoder->decoder.write(given), error);
  });
}

calpe_status calpe_stream_decoder_finish(calpe_stream_decoder* decoder, calpe_error* error) {
  return walled(error, [&] {
    if (decoder == nullptr) return null_argument("decoder is NULL", error);
    return finish(decoder->decoder.finish(), error);
  });
}

void calpe_stream_decoder_destroy(calpe_stream_decoder* decoder) {
  delete decoder;
}
