// SPDX-License-Identifier: Apache-2.0
// Jerasure reed_sol_van, w = 8, with products by GF-Complete. Decode applies the rows of the
// inverse with jerasure_matrix_encode, which saves Jerasure the inversion in its decode call.
#include <fmt/format.h>

#include "bench/harness/jerasure.hpp"

namespace calpe::bench {

namespace {

constexpr int word_bits = 8;

struct MatrixCall {
  const JerasureFunctions* functions;
  int shard_bytes;
  std::vector<int> rows;
  PerStripe<JerasurePointers> stripes;

  bool operator()() {
    JerasurePointers& pointers = stripes.next();
    functions->jerasure_matrix_encode(
        static_cast<int>(pointers.sources.size()), static_cast<int>(pointers.outputs.size()),
        word_bits, rows.data(), pointers.sources.data(), pointers.outputs.data(), shard_bytes);
    return true;
  }
};

class VandermondeCoder : public Coder {
 public:
  VandermondeCoder(const JerasureFunctions& functions, const CoderRequest& request)
      : functions_(&functions),
        shape_(request.shape),
        is_same_profile_(request.profile == "vandermonde-jerasure") {
    const JerasureMatrix matrix(functions.reed_sol_vandermonde_coding_matrix(
        shape_.data_shards, shape_.parity_shards, word_bits));
    const std::size_t count = std::size_t{shape_.data_shards} * shape_.parity_shards;
    rows_.assign(matrix.get(), matrix.get() + count);
  }

  std::string_view method() const noexcept override { return "reed_sol_van w=8"; }
  bool writes_profile_bytes() const noexcept override { return is_same_profile_; }

  Call encode_call(const StripeBuffers& stripes) const override {
    return MatrixCall{functions_, static_cast<int>(stripes.view().shard_bytes), rows_,
                      encode_pointers(stripes)};
  }

  Result<Call> decode_call(const StripeBuffers& stripes,
                           std::span<const ShardIndex> lost) const override {
    std::vector<int> ids;
    auto rows = decode_rows(lost, ids);
    if (!rows) return std::move(rows).error();
    return Call(MatrixCall{functions_, static_cast<int>(stripes.view().shard_bytes),
                           *std::move(rows), decode_pointers(stripes, ids, lost.size())});
  }

  Status make_tables(std::span<const ShardIndex> lost) const override {
    std::vector<int> ids;
    auto rows = decode_rows(lost, ids);
    if (!rows) return std::move(rows).error();
    return Done{};
  }

 private:
  Result<std::vector<int>> decode_rows(std::span<const ShardIndex> lost,
                                       std::vector<int>& ids) const {
    const std::size_t k = shape_.data_shards;
    std::vector<int> erased = erased_flags(shape_, lost);
    std::vector<int> inverse(k * k);
    std::vector<int> matrix = rows_;  // Jerasure's interface is not const-correct
    ids.assign(k, 0);
    if (functions_->jerasure_make_decoding_matrix(shape_.data_shards, shape_.parity_shards,
                                                  word_bits, matrix.data(), erased.data(),
                                                  inverse.data(), ids.data()) != 0) {
      return Error{ErrorCode::unrecoverable,
                   fmt::format("Jerasure reed_sol_van {}+{}: the matrix of the survivors is "
                               "singular",
                               shape_.data_shards, shape_.parity_shards)};
    }
    std::vector<int> rows;
    for (const ShardIndex shard : lost) {
      const auto row = inverse.begin() + static_cast<std::ptrdiff_t>(shard * k);
      rows.insert(rows.end(), row, row + static_cast<std::ptrdiff_t>(k));
    }
    return rows;
  }

  const JerasureFunctions* functions_;
  Shape shape_;
  std::vector<int> rows_;
  bool is_same_profile_;
};

}  // namespace

std::unique_ptr<Coder> make_jerasure_vandermonde(const JerasureFunctions& functions,
                                                 const CoderRequest& request) {
  return std::make_unique<VandermondeCoder>(functions, request);
}

}  // namespace calpe::bench
