// SPDX-License-Identifier: Apache-2.0
// Wrong lengths, wrong counts and moved-from objects are errors, never crashes.
#include <cstdint>
#include <gtest/gtest.h>
#include <limits>
#include <utility>
#include <vector>

#include <calpe/calpe.h>
#include <calpe/codec.hpp>
#include <calpe/device_memory.hpp>
#include <calpe/matrix_product.hpp>

namespace calpe {
namespace {

using Indices = std::vector<ShardIndex>;

template <class T>
bool is_invalid(const Result<T>& result) {
  return !result && result.error().code == ErrorCode::invalid_argument;
}

Codec make_codec(Layout layout = Layout::bytes) {
  return *Codec::create(
      {.family = CodeFamily::cauchy, .layout = layout, .data_shards = 4, .parity_shards = 2});
}

TEST(MovedFrom, EveryCallOfACodecFailsAndNoneCrashes) {
  Codec codec = make_codec();
  const Plan plan = codec.plan_encode();
  const Codec owner = std::move(codec);
  // NOLINTBEGIN(bugprone-use-after-move,hicpp-invalid-access-moved)
  std::vector<std::vector<std::byte>> stripe(6, std::vector<std::byte>(8));
  const std::vector<ConstShard> data(stripe.begin(), stripe.begin() + 4);
  const std::vector<Shard> parity(stripe.begin() + 4, stripe.end());
  const std::vector<ConstShard> checks(stripe.begin() + 4, stripe.end());
  const std::vector<ConstShard> all(stripe.begin(), stripe.end());
  const Stripe one{.inputs = data, .outputs = parity};
  EXPECT_TRUE(is_invalid(codec.encode(data, parity)));
  EXPECT_TRUE(is_invalid(codec.run(plan, data, parity)));
  EXPECT_TRUE(is_invalid(codec.decode(plan, data, parity)));
  EXPECT_TRUE(is_invalid(codec.run_batch(plan, {&one, 1})));
  EXPECT_TRUE(is_invalid(codec.submit(plan, {&one, 1})));
  EXPECT_TRUE(is_invalid(codec.run_pieces(plan, {}, {})));
  EXPECT_TRUE(is_invalid(codec.plan_decode(Indices{0, 1, 2, 3}, Indices{4})));
  EXPECT_TRUE(is_invalid(codec.plan_update(0)));
  EXPECT_TRUE(is_invalid(codec.plan_partial(plan, Indices{0})));
  EXPECT_TRUE(is_invalid(codec.update({.shard_bytes = 8}, data[0], parity)));
  EXPECT_TRUE(is_invalid(codec.update({.shard_bytes = 8}, data[0], data[1], parity)));
  EXPECT_TRUE(is_invalid(codec.verify(data, checks)));
  EXPECT_TRUE(is_invalid(codec.locate(all)));
  EXPECT_TRUE(is_invalid(DeviceMemory::allocate(codec, 64)));
  EXPECT_TRUE(is_invalid(RegisteredMemory::create(codec, parity[0])));
  EXPECT_EQ(DeviceMemory::native_context(codec), nullptr);
  EXPECT_EQ(device_profile(codec).builds, 0U);
  EXPECT_EQ(codec.spec().data_shards, 0U);
  EXPECT_FALSE(codec.proof().proven());
  EXPECT_EQ(codec.backend(), "");
  EXPECT_EQ(codec.threads(), 1U);
  EXPECT_TRUE(codec.runs_on_caller());
  EXPECT_EQ(codec.shard_bytes_multiple(), 1U);
  EXPECT_EQ(codec.parity_bytes(9), 9U);
  EXPECT_EQ(codec.codable_range({.offset = 1, .bytes = 2}, 9), (ByteRange{1, 2}));
  EXPECT_TRUE(codec.plan_encode().reads().empty());
  const Codec copy = codec;
  EXPECT_TRUE(is_invalid(copy.plan_update(0)));
  codec = owner;
  EXPECT_TRUE(codec.encode(data, parity));
  // NOLINTEND(bugprone-use-after-move,hicpp-invalid-access-moved)
}

TEST(MovedFrom, PlansAndMemoryAreEmpty) {
  const Codec codec = make_codec();
  Plan plan = *codec.plan_update(0);
  const Plan kept = std::move(plan);
  DeviceMemory memory = *DeviceMemory::allocate(codec, 64);
  const DeviceMemory owner = std::move(memory);
  MappedMemory mapped = *MappedMemory::map(owner, 0, 64);
  MappedMemory other = std::move(mapped);
  // NOLINTBEGIN(bugprone-use-after-move,hicpp-invalid-access-moved)
  EXPECT_TRUE(plan.reads().empty() && plan.writes().empty() && plan.coefficients().empty());
  EXPECT_TRUE(is_invalid(codec.run(plan, {}, {})));
  EXPECT_TRUE(is_invalid(codec.plan_partial(plan, Indices{0})));
  EXPECT_EQ(memory.bytes(), 0U);
  EXPECT_TRUE(memory.shard(0, 8).empty());
  EXPECT_TRUE(is_invalid(memory.read(0, {})));
  EXPECT_TRUE(is_invalid(memory.write(0, {})));
  EXPECT_TRUE(is_invalid(MappedMemory::map(memory, 0, 0)));
  EXPECT_TRUE(mapped.bytes().empty());
  EXPECT_TRUE(is_invalid(mapped.close()));
  // NOLINTEND(bugprone-use-after-move,hicpp-invalid-access-moved)
  EXPECT_TRUE(other.close());
  EXPECT_EQ(kept.reads().size(), 1U);
}

// 65,546 would be 10 in 16 bits; 4,294,967,306 would be 10 in 32 bits.
TEST(HugeCount, IsRefusedInEveryField) {
  for (const std::uint32_t huge : {65546U, 65536U + 4U, 0x80000000U, 0xFFFFFFFFU}) {
    for (const auto field :
         {&CodeSpec::data_shards, &CodeSpec::parity_shards, &CodeSpec::local_groups}) {
      for (const Profile& profile : list_profiles()) {
        CodeSpec spec = {.family = profile.family, .data_shards = 10, .parity_shards = 2};
        if (!profile.bytes_layout) spec.layout = Layout::packets;
        spec.*field = huge;
        const auto made = Codec::create(spec);
        ASSERT_TRUE(is_invalid(made)) << profile.name << " " << huge;
        EXPECT_NE(made.error().message.find("expected"), std::string::npos);
      }
    }
    calpe_spec spec = {};
    spec.struct_size = sizeof spec;
    spec.data_shards = huge;
    spec.parity_shards = 4;
    calpe_codec* codec = nullptr;
    EXPECT_EQ(calpe_codec_create(&spec, nullptr, &codec, nullptr), CALPE_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(codec, nullptr);
  }
}

// Lengths larger than any memory, through every C function that takes one.
class HugeLength : public testing::TestWithParam<std::size_t> {
 protected:
  static void check_refused(calpe_status status, const char* call) {
    EXPECT_EQ(status, CALPE_ERROR_INVALID_ARGUMENT) << call;
  }
};

TEST_P(HugeLength, IsRefused) {
  const std::size_t bytes = GetParam();
  unsigned tried = 0;
  for (const int layout : {CALPE_LAYOUT_BYTES, CALPE_LAYOUT_PACKETS}) {
    calpe_spec spec = {};
    spec.struct_size = sizeof spec;
    spec.family = CALPE_FAMILY_CAUCHY;
    spec.layout = static_cast<uint32_t>(layout);
    spec.data_shards = 4;
    spec.parity_shards = 2;
    calpe_codec* codec = nullptr;
    calpe_plan* plan = nullptr;
    ASSERT_EQ(calpe_codec_create(&spec, nullptr, &codec, nullptr), CALPE_OK);
    ASSERT_EQ(calpe_plan_encode(codec, &plan, nullptr), CALPE_OK);
    unsigned char memory[6][64] = {};
    const void* const data[] = {memory[0], memory[1], memory[2], memory[3]};
    void* const parity[] = {memory[4], memory[5]};
    const void* const all[] = {memory[0], memory[1], memory[2], memory[3], memory[4], memory[5]};
    const calpe_stripe stripe = {data, parity, bytes};
    const calpe_piece piece[] = {{memory[0], bytes}, {memory[0] + 8, bytes}};
    const calpe_const_piece read[] = {{memory[0], bytes}, {memory[0] + 8, bytes}};
    const calpe_pieces pieces = {piece, 2};
    const calpe_const_pieces from = {read, 2};
    const calpe_const_pieces inputs[] = {from, from, from, from};
    const calpe_pieces outputs[] = {pieces, pieces};
    uint16_t wrong[6];
    std::size_t wrong_count = 0;
    calpe_pending* pending = nullptr;
    check_refused(calpe_encode(codec, data, parity, bytes, nullptr), "calpe_encode");
    check_refused(calpe_run(codec, plan, data, parity, bytes, 0, nullptr), "calpe_run");
    check_refused(calpe_run_batch(codec, plan, &stripe, 1, 0, nullptr), "calpe_run_batch");
    check_refused(calpe_submit(codec, plan, &stripe, 1, 0, &pending, nullptr), "calpe_submit");
    check_refused(calpe_run_pieces(codec, plan, inputs, outputs, 0, nullptr), "calpe_run_pieces");
    check_refused(calpe_update(codec, 0, 0, memory[0], 8, nullptr, 0, parity, bytes, nullptr),
                  "calpe_update");
    check_refused(
        calpe_update(codec, 0, bytes - 4, memory[0], 4, nullptr, 0, parity, bytes, nullptr),
        "calpe_update at the end");
    check_refused(calpe_verify(codec, data, data, bytes, wrong, 6, &wrong_count, nullptr),
                  "calpe_verify");
    check_refused(calpe_locate(codec, all, bytes, nullptr, 0, wrong, 6, &wrong_count, nullptr),
                  "calpe_locate");
    check_refused(calpe_add(memory[0], memory[1], bytes, nullptr), "calpe_add");
    const uint8_t cells[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    calpe_matrix matrix = {sizeof matrix, cells, 2, 4, 0, 0};
    check_refused(calpe_apply_matrix(&matrix, data, parity, bytes, 0, nullptr),
                  "calpe_apply_matrix");
    matrix.row_stride = bytes;
    check_refused(calpe_apply_matrix(&matrix, data, parity, 8, 0, nullptr), "row_stride");
    matrix.row_stride = 0;
    matrix.column_stride = bytes;
    check_refused(calpe_apply_matrix(&matrix, data, parity, 8, 0, nullptr), "column_stride");
    // Lists whose size in bytes overflows.
    check_refused(calpe_run_batch(codec, plan, &stripe, bytes, 0, nullptr), "stripe_count");
    check_refused(calpe_submit(codec, plan, &stripe, bytes, 0, &pending, nullptr), "stripe_count");
    const calpe_const_pieces endless = {read, bytes};
    const calpe_const_pieces many[] = {endless, endless, endless, endless};
    check_refused(calpe_run_pieces(codec, plan, many, outputs, 0, nullptr), "piece counts");
    std::size_t offset = bytes - 1;
    std::size_t range = bytes;
    calpe_codable_range(codec, 64, &offset, &range);
    EXPECT_GE(calpe_parity_bytes(codec, bytes), bytes);
    EXPECT_EQ(pending, nullptr);
    tried += 17;
    calpe_plan_destroy(plan);
    calpe_codec_destroy(codec);
  }
  std::cout << tried << " calls refused\n";
}

INSTANTIATE_TEST_SUITE_P(Bytes, HugeLength,
                         testing::Values(std::size_t{PTRDIFF_MAX} + 1,
                                         std::numeric_limits<std::size_t>::max(),
                                         std::numeric_limits<std::size_t>::max() / 2 + 9));

}  // namespace
}  // namespace calpe
