// SPDX-License-Identifier: Apache-2.0
// Jerasure's Cauchy codes with its smart schedule: cauchy_good, w = 4 if the shard count allows,
// tuned packet size; or a given matrix and packet size.
// Decode runs a smart schedule of the inverse's rows, prepared once: Jerasure's fastest way.
#include <algorithm>
#include <fmt/format.h>
#include <limits>

#include "bench/harness/clock.hpp"
#include "bench/harness/jerasure.hpp"

namespace calpe::bench {

namespace {

// The smart schedule takes time cubic in m * w: minutes beyond this.
constexpr int coefficients_max = 420;
constexpr std::size_t packet_bytes_min = 128;
constexpr std::size_t packet_bytes_max = 16384;

// The packet size decides how many packets of a group fit in L1; tuning needs 128 KiB per shard.
constexpr std::size_t tuning_shard_bytes = std::size_t{128} << 10;
constexpr int tuning_trials = 3;

using Schedule = std::shared_ptr<int*>;

struct ScheduleCall {
  const JerasureFunctions* functions;
  int word_bits;
  int shard_bytes;
  int packet_bytes;
  Schedule schedule;
  PerStripe<JerasurePointers> stripes;

  bool operator()() {
    JerasurePointers& pointers = stripes.next();
    functions->jerasure_schedule_encode(static_cast<int>(pointers.sources.size()),
                                        static_cast<int>(pointers.outputs.size()), word_bits,
                                        schedule.get(), pointers.sources.data(),
                                        pointers.outputs.data(), shard_bytes, packet_bytes);
    return true;
  }
};

struct DecodeTables {
  std::vector<int> ids;
  Schedule schedule;
};

class CauchyCoder : public Coder {
 public:
  CauchyCoder(const JerasureFunctions& functions, Shape shape, JerasureCauchy kind, int word_bits)
      : functions_(&functions), shape_(shape), kind_(kind), word_bits_(word_bits) {
    const auto make_matrix = kind == JerasureCauchy::good
                                 ? functions.cauchy_good_general_coding_matrix
                                 : functions.cauchy_original_coding_matrix;
    const JerasureMatrix matrix(make_matrix(shape_.data_shards, shape_.parity_shards, word_bits));
    const JerasureMatrix bits(functions.jerasure_matrix_to_bitmatrix(
        shape_.data_shards, shape_.parity_shards, word_bits, matrix.get()));
    const auto w = static_cast<std::size_t>(word_bits);
    bits_.assign(bits.get(), bits.get() + shape_.data_shards * w * shape_.parity_shards * w);
    schedule_ = make_schedule(bits_, shape_.parity_shards);
  }

  std::string_view method() const noexcept override { return method_; }
  // Packets are tuned for speed and rarely match a profile.
  bool writes_profile_bytes() const noexcept override { return false; }

  // False if no packet size divides the shard.
  bool tune(std::size_t shard_bytes) {
    auto buffers = StripeBuffers::create(shape_, std::min(shard_bytes, tuning_shard_bytes));
    if (!buffers) return false;
    double best_seconds = std::numeric_limits<double>::infinity();
    for (std::size_t packet = packet_bytes_min; packet <= packet_bytes_max; packet *= 2) {
      const std::size_t group_bytes = packet * static_cast<std::size_t>(word_bits_);
      if (shard_bytes % group_bytes != 0 || buffers->view().shard_bytes % group_bytes != 0)
        continue;
      Call call = encode_with(*buffers, static_cast<int>(packet));
      for (int trial = 0; trial < tuning_trials; ++trial) {
        const double start = seconds_now(Clock::thread_cpu);
        call();
        const double seconds = seconds_now(Clock::thread_cpu) - start;
        if (seconds >= best_seconds) continue;
        best_seconds = seconds;
        set_packet(packet);
      }
    }
    return packet_bytes_ != 0;
  }

  void set_packet(std::size_t bytes) {
    packet_bytes_ = static_cast<int>(bytes);
    method_ = fmt::format("{} w={} packet={}", kind_name(), word_bits_, packet_bytes_);
  }

  Call encode_call(const StripeBuffers& stripes) const override {
    return encode_with(stripes, packet_bytes_);
  }

  Result<Call> decode_call(const StripeBuffers& stripes,
                           std::span<const ShardIndex> lost) const override {
    auto tables = decode_tables(lost);
    if (!tables) return std::move(tables).error();
    return Call(ScheduleCall{functions_, word_bits_, static_cast<int>(stripes.view().shard_bytes),
                             packet_bytes_, tables->schedule,
                             decode_pointers(stripes, tables->ids, lost.size())});
  }

  Status make_tables(std::span<const ShardIndex> lost) const override {
    auto tables = decode_tables(lost);
    if (!tables) return std::move(tables).error();
    return Done{};
  }

 private:
  std::string_view kind_name() const noexcept {
    return kind_ == JerasureCauchy::good ? "cauchy_good" : "cauchy_orig";
  }

  Call encode_with(const StripeBuffers& stripes, int packet_bytes) const {
    return ScheduleCall{functions_,   word_bits_, static_cast<int>(stripes.view().shard_bytes),
                        packet_bytes, schedule_,  encode_pointers(stripes)};
  }

  Schedule make_schedule(std::vector<int> bits, int outputs) const {
    return {functions_->jerasure_smart_bitmatrix_to_schedule(shape_.data_shards, outputs,
                                                             word_bits_, bits.data()),
            functions_->jerasure_free_schedule};
  }

  Result<DecodeTables> decode_tables(std::span<const ShardIndex> lost) const {
    const std::size_t k = shape_.data_shards;
    const auto w = static_cast<std::size_t>(word_bits_);
    std::vector<int> erased = erased_flags(shape_, lost);
    std::vector<int> inverse(k * w * k * w);
    std::vector<int> bits = bits_;  // Jerasure's interface is not const-correct
    DecodeTables tables{std::vector<int>(k), nullptr};
    if (functions_->jerasure_make_decoding_bitmatrix(shape_.data_shards, shape_.parity_shards,
                                                     word_bits_, bits.data(), erased.data(),
                                                     inverse.data(), tables.ids.data()) != 0) {
      return Error{ErrorCode::unrecoverable,
                   fmt::format("Jerasure {} {}+{}: the matrix of the survivors is singular",
                               kind_name(), shape_.data_shards, shape_.parity_shards)};
    }
    std::vector<int> rows;
    const auto shard_row_count = static_cast<std::ptrdiff_t>(w * k * w);
    for (const ShardIndex shard : lost) {
      const auto row = inverse.begin() + shard * shard_row_count;
      rows.insert(rows.end(), row, row + shard_row_count);
    }
    tables.schedule = make_schedule(std::move(rows), static_cast<int>(lost.size()));
    return tables;
  }

  const JerasureFunctions* functions_;
  Shape shape_;
  JerasureCauchy kind_;
  int word_bits_;
  int packet_bytes_ = 0;
  std::string method_;
  std::vector<int> bits_;  // parity rows as a bit matrix
  Schedule schedule_;
};

bool has_schedule(Shape shape) {
  return shape.data_shards * shape.parity_shards <= coefficients_max;
}

}  // namespace

std::unique_ptr<Coder> make_jerasure_cauchy(const JerasureFunctions& functions,
                                            const CoderRequest& request) {
  const int shard_count = request.shape.data_shards + request.shape.parity_shards;
  if (!has_schedule(request.shape)) return nullptr;
  // Smaller words need fewer XORs per byte; GF(16) allows 16 shards.
  auto coder = std::make_unique<CauchyCoder>(functions, request.shape, JerasureCauchy::good,
                                             shard_count <= 16 ? 4 : 8);
  if (!coder->tune(request.shard_bytes)) return nullptr;
  return coder;
}

std::unique_ptr<Coder> make_jerasure_cauchy_as(const JerasureFunctions& functions,
                                               const CoderRequest& request, JerasureCauchy matrix,
                                               std::size_t packet_bytes) {
  constexpr int word_bits = 8;
  const bool is_whole = request.shard_bytes % (word_bits * packet_bytes) == 0;
  const bool is_aligned = packet_bytes % sizeof(long) == 0;
  if (!has_schedule(request.shape) || !is_whole || !is_aligned) return nullptr;
  if (request.shape.data_shards + request.shape.parity_shards > 256) return nullptr;
  auto coder = std::make_unique<CauchyCoder>(functions, request.shape, matrix, word_bits);
  coder->set_packet(packet_bytes);
  return coder;
}

}  // namespace calpe::bench
