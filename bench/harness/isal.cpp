// SPDX-License-Identifier: Apache-2.0
// ISA-L: ec_encode_data with the tables of its Cauchy or Vandermonde matrix. Decode is the same
// call with rows of the inverse, so its speed is what an ISA-L user gets.
#include <climits>
#include <fmt/format.h>

#include "bench/harness/peers.hpp"

namespace calpe::bench {

namespace {

using Byte = unsigned char;

// Declared from ISA-L's erasure_code.h, unchanged since 2.8; its `m` counts all rows, k + m here.
struct IsalFunctions {
  void (*gf_gen_cauchy1_matrix)(Byte* matrix, int m, int k) = nullptr;
  void (*gf_gen_rs_matrix)(Byte* matrix, int m, int k) = nullptr;
  int (*gf_invert_matrix)(Byte* in, Byte* out, int n) = nullptr;
  void (*ec_init_tables)(int k, int rows, Byte* matrix, Byte* tables) = nullptr;
  void (*ec_encode_data)(int len, int k, int rows, Byte* tables, Byte** data,
                         Byte** coding) = nullptr;
};

Byte* as_bytes(std::byte* pointer) {
  return reinterpret_cast<Byte*>(pointer);
}

// Everything one call needs, in ISA-L's types.
struct IsalCall {
  const IsalFunctions* functions;
  int shard_bytes;
  int sources_count;
  int outputs_count;
  std::vector<Byte> tables;
  std::vector<Byte*> sources;
  std::vector<Byte*> outputs;

  bool operator()() {
    functions->ec_encode_data(shard_bytes, sources_count, outputs_count, tables.data(),
                              sources.data(), outputs.data());
    return true;
  }
};

class IsalCoder : public Coder {
 public:
  IsalCoder(const IsalFunctions& functions, const CoderRequest& request)
      : functions_(&functions),
        k_(request.shape.data_shards),
        rows_(request.shape.data_shards + request.shape.parity_shards),
        matrix_(static_cast<std::size_t>(k_ * rows_)),
        is_vandermonde_(request.profile == "vandermonde-isal"),
        is_same_profile_(is_vandermonde_ || request.profile == "cauchy") {
    (is_vandermonde_ ? functions.gf_gen_rs_matrix : functions.gf_gen_cauchy1_matrix)(matrix_.data(),
                                                                                     rows_, k_);
  }

  std::string_view method() const noexcept override {
    return is_vandermonde_ ? "gf_gen_rs_matrix" : "gf_gen_cauchy1_matrix";
  }
  bool writes_profile_bytes() const noexcept override { return is_same_profile_; }

  Call encode_call(const StripeView& stripe) const override {
    const auto k = static_cast<std::size_t>(k_);
    IsalCall call{functions_, static_cast<int>(stripe.shard_bytes), k_, rows_ - k_, {}, {}, {}};
    call.tables = tables_of({matrix_.begin() + k_ * k_, matrix_.end()}, call.outputs_count);
    for (std::size_t i = 0; i < stripe.shards.size(); ++i)
      (i < k ? call.sources : call.outputs).push_back(as_bytes(stripe.shards[i]));
    return call;
  }

  Result<Call> decode_call(const StripeView& stripe,
                           std::span<const ShardIndex> lost) const override {
    auto tables = decode_tables(lost);
    if (!tables) return std::move(tables).error();
    IsalCall call{functions_,
                  static_cast<int>(stripe.shard_bytes),
                  k_,
                  static_cast<int>(lost.size()),
                  *std::move(tables),
                  {},
                  {}};
    for (const std::size_t i : survivors_of(lost))
      call.sources.push_back(as_bytes(stripe.shards[i]));
    for (std::size_t i = 0; i < lost.size(); ++i)
      call.outputs.push_back(as_bytes(stripe.rebuilt[i]));
    return Call(call);
  }

  Status make_tables(std::span<const ShardIndex> lost) const override {
    auto tables = decode_tables(lost);
    if (!tables) return std::move(tables).error();
    return Done{};
  }

 private:
  std::vector<Byte> tables_of(std::vector<Byte> rows, int count) const {
    std::vector<Byte> tables(32 * rows.size());  // 32 bytes per coefficient, by its manual
    functions_->ec_init_tables(k_, count, rows.data(), tables.data());
    return tables;
  }

  // The first k shards that are left, as ISA-L's own examples choose them.
  std::vector<std::size_t> survivors_of(std::span<const ShardIndex> lost) const {
    std::vector<std::size_t> survivors;
    std::size_t next_lost = 0;
    for (std::size_t i = 0; survivors.size() < static_cast<std::size_t>(k_); ++i) {
      if (next_lost < lost.size() && lost[next_lost] == i) {
        ++next_lost;
      } else {
        survivors.push_back(i);
      }
    }
    return survivors;
  }

  Result<std::vector<Byte>> decode_tables(std::span<const ShardIndex> lost) const {
    const auto k = static_cast<std::ptrdiff_t>(k_);
    std::vector<Byte> square;
    for (const std::size_t survivor : survivors_of(lost)) {
      const auto row = matrix_.begin() + static_cast<std::ptrdiff_t>(survivor) * k;
      square.insert(square.end(), row, row + k);
    }
    std::vector<Byte> inverse(square.size());
    if (functions_->gf_invert_matrix(square.data(), inverse.data(), k_) != 0) {
      return Error{ErrorCode::unrecoverable,
                   fmt::format("ISA-L {} {}+{}: the matrix of the survivors is singular", method(),
                               k_, rows_ - k_)};
    }
    std::vector<Byte> rows;
    for (const ShardIndex shard : lost) {
      const auto row = inverse.begin() + static_cast<std::ptrdiff_t>(shard) * k;
      rows.insert(rows.end(), row, row + k);
    }
    return tables_of(std::move(rows), static_cast<int>(lost.size()));
  }

  const IsalFunctions* functions_;
  int k_;
  int rows_;
  std::vector<Byte> matrix_;  // rows_ x k_, identity on top
  bool is_vandermonde_;
  bool is_same_profile_;
};

class IsalPeer : public Peer {
 public:
  IsalPeer(SharedLibrary library, const IsalFunctions& functions, std::string version)
      : library_(std::move(library)), functions_(functions), version_(std::move(version)) {}

  std::string_view library() const noexcept override { return library_.path(); }
  std::string_view version() const noexcept override { return version_; }

  std::vector<std::unique_ptr<Coder>> prepare(const CoderRequest& request) const override {
    std::vector<std::unique_ptr<Coder>> coders;
    if (request.shape.data_shards + request.shape.parity_shards > 256) return coders;
    if (request.shard_bytes > INT_MAX) return coders;
    coders.push_back(std::make_unique<IsalCoder>(functions_, request));
    return coders;
  }

 private:
  SharedLibrary library_;
  IsalFunctions functions_;
  std::string version_;
};

}  // namespace

Result<std::unique_ptr<Peer>> open_isal(SharedLibrary library) {
  IsalFunctions f;
  if (!library.find("gf_gen_cauchy1_matrix", f.gf_gen_cauchy1_matrix) ||
      !library.find("gf_gen_rs_matrix", f.gf_gen_rs_matrix) ||
      !library.find("gf_invert_matrix", f.gf_invert_matrix) ||
      !library.find("ec_init_tables", f.ec_init_tables) ||
      !library.find("ec_encode_data", f.ec_encode_data)) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("{} lacks ISA-L's functions (ec_encode_data and others), expected a "
                             "libisal.so.2",
                             library.path())};
  }
  // Newer releases can say it; for older ones the file name has to.
  const char* (*version_text)() = nullptr;
  std::string version = library.version();
  if (library.find("isal_get_version_str", version_text)) version = version_text();
  return std::unique_ptr<Peer>(
      std::make_unique<IsalPeer>(std::move(library), f, std::move(version)));
}

}  // namespace calpe::bench
