// SPDX-License-Identifier: Apache-2.0
// Fails every allocation of every call of the C ABI once. The call must return
// CALPE_ERROR_OUT_OF_MEMORY, leak nothing, return no handle, and work the next time.
#include <array>
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <memory>
#include <vector>

#include <calpe/calpe.h>
#include <calpe/streams.h>

#include "support/out_of_memory.hpp"

namespace calpe {
namespace {

using namespace tests;

struct Destroy {
  void operator()(calpe_codec* codec) const { calpe_codec_destroy(codec); }
  void operator()(calpe_plan* plan) const { calpe_plan_destroy(plan); }
};
using CodecHandle = std::unique_ptr<calpe_codec, Destroy>;
using PlanHandle = std::unique_ptr<calpe_plan, Destroy>;

calpe_spec spec_of(std::uint32_t family, std::uint32_t k, std::uint32_t m) {
  calpe_spec spec{};
  spec.struct_size = sizeof spec;
  spec.family = family;
  spec.data_shards = k;
  spec.parity_shards = m;
  return spec;
}

// A call returns a handle only if it succeeds, and the error agrees.
template <class Handle, class Make>
calpe_status make_handle(const Make& make) {
  Handle* made = nullptr;
  calpe_error error;
  const calpe_status status = make(&made, &error);
  const bool consistent = (status == CALPE_OK) == (made != nullptr) && error.status == status;
  Destroy{}(made);
  return consistent ? status : -3;
}

// 5+4 in bytes, or 3+2 in packets with a partial last group; data shard 0 is wrong.
struct CStage {
  explicit CStage(bool packets) {
    calpe_spec spec = spec_of(CALPE_FAMILY_HYBRID, packets ? 3 : 5, packets ? 2 : 4);
    if (packets) {
      spec.layout = CALPE_LAYOUT_PACKETS;
      spec.word_bits = 4;
      spec.packet_bytes = 24;
    }
    calpe_codec* made = nullptr;
    EXPECT_EQ(calpe_codec_create(&spec, nullptr, &made, nullptr), CALPE_OK);
    codec.reset(made);
    calpe_plan* encode = nullptr;
    EXPECT_EQ(calpe_plan_encode(made, &encode, nullptr), CALPE_OK);
    plan.reset(encode);
    const std::size_t n = spec.data_shards + spec.parity_shards;
    for (std::size_t i = 0; i < n; ++i) {
      memory.emplace_back(calpe_parity_bytes(made, bytes), std::byte(i + 1));
      (i < spec.data_shards ? data : parity).push_back(memory.back().data());
      shards.push_back(memory.back().data());
      all.push_back(memory.back().data());
      present.push_back(i >= lost.size());
      if (i >= lost.size()) left.push_back(static_cast<std::uint16_t>(i));
      if (i < spec.data_shards) {
        read.push_back({memory.back().data(), bytes});
      } else {
        written.push_back({memory.back().data(), memory[i].size()});
      }
    }
    for (const calpe_const_piece& piece : read)
      in.push_back({&piece, 1});
    for (const calpe_piece& piece : written)
      out.push_back({&piece, 1});
    EXPECT_EQ(calpe_encode(made, data.data(), parity.data(), bytes, nullptr), CALPE_OK);
    memory[0][3] ^= std::byte{7};
  }
  static constexpr std::size_t bytes = 4 * 24 * 2 + 5;
  CodecHandle codec;
  PlanHandle plan;
  std::vector<std::vector<std::byte>> memory;
  std::vector<const void*> shards;
  std::vector<void*> all;             // the same, as outputs
  std::vector<std::uint8_t> present;  // all but `lost`
  std::vector<void*> data;
  std::vector<void*> parity;
  std::vector<std::uint16_t> lost = {0, 1};
  std::vector<std::uint16_t> left;
  std::vector<calpe_const_piece> read;
  std::vector<calpe_piece> written;
  std::vector<calpe_const_pieces> in;
  std::vector<calpe_pieces> out;
};

int nothing() {
  return 0;
}

// The first call of the process makes the list, so this must be the only test that calls it.
TEST(OutOfMemoryC, ListingProfiles) {
  allocations::fail_from(1, true);
  bool threw = false;
  try {
    calpe_profile_at(0);
  } catch (const std::exception&) {
    threw = true;
  }
  allocations::stop_failing();
  EXPECT_FALSE(threw) << "an exception crossed the C ABI";
  const calpe_profile* profile = calpe_profile_at(0);
  ASSERT_NE(profile, nullptr);
  EXPECT_STREQ(profile->name, "default");
}

TEST(OutOfMemoryC, MakingCodecs) {
  constexpr std::array<std::uint32_t, 2> families = {CALPE_FAMILY_CAUCHY,
                                                     CALPE_FAMILY_VANDERMONDE_ISAL};
  for (const std::uint32_t family : families) {
    const calpe_spec spec = spec_of(family, 5, 3);
    survives("calpe_codec_create", CALPE_OK, nothing, [&](int) {
      return make_handle<calpe_codec>([&](calpe_codec** out, calpe_error* error) {
        return calpe_codec_create(&spec, nullptr, out, error);
      });
    });
  }
  const calpe_spec refused = spec_of(CALPE_FAMILY_VANDERMONDE_ISAL, 10, 5);
  survives("calpe_codec_create unproven", CALPE_ERROR_UNPROVEN, nothing, [&](int) {
    return make_handle<calpe_codec>([&](calpe_codec** out, calpe_error* error) {
      return calpe_codec_create(&refused, nullptr, out, error);
    });
  });
  const calpe_spec custom = spec_of(CALPE_FAMILY_CUSTOM, 2, 2);
  const std::array<std::uint16_t, 4> rows = {1, 1, 1, 2};
  survives("calpe_codec_create_from_matrix", CALPE_OK, nothing, [&](int) {
    return make_handle<calpe_codec>([&](calpe_codec** out, calpe_error* error) {
      return calpe_codec_create_from_matrix(&custom, rows.data(), nullptr, out, error);
    });
  });
}

TEST(OutOfMemoryC, AskingAboutCodesAndFields) {
  const calpe_spec spec = spec_of(CALPE_FAMILY_CAUCHY, 4, 2);
  survives("calpe_prove", CALPE_OK, nothing, [&](int) {
    calpe_proof proof = {};
    proof.struct_size = sizeof proof;
    return calpe_prove(&spec, &proof, nullptr);
  });
  std::array<std::uint16_t, 8> rows = {};
  survives("calpe_parity_rows", CALPE_OK, nothing,
           [&](int) { return calpe_parity_rows(&spec, rows.data(), rows.size(), nullptr); });
  survives("calpe_count_recoverable", CALPE_OK, nothing, [&](int) {
    std::array<calpe_pattern_count, 2> counts;
    return calpe_count_recoverable(&spec, counts.data(), counts.size(), nullptr);
  });
  calpe_codec* codec = nullptr;
  ASSERT_EQ(calpe_codec_create(&spec, nullptr, &codec, nullptr), CALPE_OK);
  calpe_spec resolved = CALPE_SPEC_INIT;
  calpe_codec_spec(codec, &resolved);
  calpe_codec_destroy(codec);
  std::array<std::byte, CALPE_SPEC_BYTES> stored = {};
  survives("calpe_spec_encode", CALPE_OK, nothing, [&](int) {
    return calpe_spec_encode(&resolved, stored.data(), stored.size(), nullptr);
  });
  survives("calpe_spec_decode", CALPE_OK, nothing, [&](int) {
    return calpe_spec_decode(stored.data(), stored.size(), &resolved, nullptr);
  });
  survives("calpe_spec_decode of damaged bytes", CALPE_ERROR_CORRUPT, nothing, [&](int) {
    return calpe_spec_decode(stored.data(), stored.size() - 1, &resolved, nullptr);
  });
  std::uint16_t result = 0;
  survives("calpe_gf_multiply", CALPE_OK, nothing,
           [&](int) { return calpe_gf_multiply(8, 0, 3, 7, &result, nullptr); });
  survives("calpe_gf_inverse", CALPE_ERROR_INVALID_ARGUMENT, nothing,
           [&](int) { return calpe_gf_inverse(8, 0, 0, &result, nullptr); });
  const std::array<std::uint16_t, 4> matrix = {1, 2, 3, 5};
  survives("calpe_gf_invert_matrix", CALPE_OK, nothing, [&](int) {
    std::array<std::uint16_t, 4> inverse;
    return calpe_gf_invert_matrix(8, 0, matrix.data(), 2, inverse.data(), nullptr);
  });
}

TEST(OutOfMemoryC, MakingPlans) {
  for (const bool packets : {false, true}) {
    const auto make = [&] { return CStage(packets); };
    survives("calpe_plan_decode", CALPE_OK, make, [](const CStage& s) {
      return make_handle<calpe_plan>([&](calpe_plan** out, calpe_error* error) {
        return calpe_plan_decode(s.codec.get(), s.left.data(), s.left.size(), s.lost.data(), 2,
                                 nullptr, out, error);
      });
    });
    survives("calpe_plan_encode", CALPE_OK, make, [](const CStage& s) {
      return make_handle<calpe_plan>([&](calpe_plan** out, calpe_error* error) {
        return calpe_plan_encode(s.codec.get(), out, error);
      });
    });
    survives("calpe_plan_update", CALPE_OK, make, [](const CStage& s) {
      return make_handle<calpe_plan>([&](calpe_plan** out, calpe_error* error) {
        return calpe_plan_update(s.codec.get(), 1, nullptr, 0, out, error);
      });
    });
    survives("calpe_plan_partial", CALPE_OK, make, [](const CStage& s) {
      return make_handle<calpe_plan>([&](calpe_plan** out, calpe_error* error) {
        return calpe_plan_partial(s.codec.get(), s.plan.get(), s.lost.data(), 2, out, error);
      });
    });
  }
}

TEST(OutOfMemoryC, DoingTheWork) {
  for (const bool packets : {false, true}) {
    const auto make = [&] { return CStage(packets); };
    survives("calpe_run_pieces", CALPE_OK, make, [](const CStage& s) {
      return calpe_run_pieces(s.codec.get(), s.plan.get(), s.in.data(), s.out.data(), 0, nullptr);
    });
    survives("calpe_update", CALPE_OK, make, [](const CStage& s) {
      return calpe_update(s.codec.get(), 1, 2, s.shards[1], 9, nullptr, 0, s.parity.data(), s.bytes,
                          nullptr);
    });
    survives("calpe_update_from", CALPE_OK, make, [](const CStage& s) {
      return calpe_update_from(s.codec.get(), 1, 2, s.shards[1], s.shards[0], 9, nullptr, 0,
                               s.parity.data(), s.bytes, nullptr);
    });
    survives("calpe_rebuild", CALPE_OK, make, [](const CStage& s) {
      return calpe_rebuild(s.codec.get(), s.all.data(), s.present.data(), s.bytes, 0, nullptr);
    });
    survives("calpe_rebuild_batch", CALPE_OK, make, [](const CStage& s) {
      const std::array<calpe_whole_stripe, 1> batch = {{{s.all.data(), s.bytes}}};
      return calpe_rebuild_batch(s.codec.get(), batch.data(), 1, s.present.data(), 0, nullptr);
    });
    survives("calpe_verify", CALPE_OK, make, [](const CStage& s) {
      std::array<std::uint16_t, 4> wrong;
      std::size_t count = 0;
      return calpe_verify(s.codec.get(), s.data.data(), s.parity.data(), s.bytes, wrong.data(), 4,
                          &count, nullptr);
    });
    survives("calpe_locate", CALPE_OK, make, [](const CStage& s) {
      std::array<std::uint16_t, 4> wrong;
      std::size_t count = 0;
      return calpe_locate(s.codec.get(), s.shards.data(), s.bytes, nullptr, 0, wrong.data(), 4,
                          &count, nullptr);
    });
    survives("calpe_run with unknown flags", CALPE_ERROR_INVALID_ARGUMENT, make,
             [](const CStage& s) {
               return calpe_run(s.codec.get(), s.plan.get(), s.data.data(), s.parity.data(),
                                s.bytes, 8, nullptr);
             });
  }
}

calpe_status read_nothing(void*, void*, size_t, size_t*) {
  return CALPE_OK;
}
calpe_status write_stripe(void*, const calpe_stream_stripe*) {
  return CALPE_OK;
}
calpe_status read_block(void*, const calpe_stream_block* block, void*) {
  return block->shard == 0 ? CALPE_BLOCK_LOST : CALPE_OK;
}
calpe_status write_bytes(void*, const void*, size_t) {
  return CALPE_OK;
}
calpe_status write_and_fail(void*, const void*, size_t) {
  return 1234;
}

TEST(OutOfMemoryC, Streams) {
  const auto make = [] { return CStage(false); };
  calpe_stream_options options = CALPE_STREAM_OPTIONS_INIT;
  options.block_bytes = 64;
  options.depth = 2;
  survives("calpe_encode_stream", CALPE_OK, make, [&](const CStage& s) {
    return calpe_encode_stream(s.codec.get(), &options, read_nothing, write_stripe, nullptr,
                               nullptr, nullptr);
  });
  survives("calpe_decode_stream", CALPE_OK, make, [&](const CStage& s) {
    return calpe_decode_stream(s.codec.get(), &options, 1000, read_block, write_bytes, nullptr,
                               nullptr);
  });
  survives("calpe_decode_stream stopped", 1234, make, [&](const CStage& s) {
    return calpe_decode_stream(s.codec.get(), &options, 1000, read_block, write_and_fail, nullptr,
                               nullptr);
  });
  survives("calpe_stream_encoder", CALPE_OK, make, [&](const CStage& s) {
    calpe_stream_encoder* encoder = nullptr;
    calpe_status status = calpe_stream_encoder_create(s.codec.get(), &options, write_stripe,
                                                      nullptr, &encoder, nullptr);
    if ((status == CALPE_OK) != (encoder != nullptr)) return -3;
    if (status == CALPE_OK) status = calpe_stream_encoder_write(encoder, s.data[0], 99, nullptr);
    if (status == CALPE_OK) status = calpe_stream_encoder_finish(encoder, nullptr, nullptr);
    calpe_stream_encoder_destroy(encoder);
    return status;
  });
  survives("calpe_stream_decoder", CALPE_OK, make, [&](const CStage& s) {
    calpe_stream_decoder* decoder = nullptr;
    calpe_status status = calpe_stream_decoder_create(s.codec.get(), &options, 100, write_bytes,
                                                      nullptr, &decoder, nullptr);
    if ((status == CALPE_OK) != (decoder != nullptr)) return -3;
    if (status == CALPE_OK) status = calpe_stream_decoder_write(decoder, s.shards.data(), nullptr);
    if (status == CALPE_OK) status = calpe_stream_decoder_finish(decoder, nullptr);
    calpe_stream_decoder_destroy(decoder);
    return status;
  });
}

}  // namespace
}  // namespace calpe
