// SPDX-License-Identifier: Apache-2.0
// ISA-L: ec_encode_data with the tables of its Cauchy or Vandermonde matrix. Decode is the same
// call with rows of the inverse, as in ISA-L's examples. An update with old and new bytes is
// xor_gen into a delta, then ec_encode_data_update; ISA-L has no single call for it.
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
  // For update only; null if the library lacks them.
  void (*ec_encode_data_update)(int len, int k, int rows, int source, Byte* tables, Byte* data,
                                Byte** coding) = nullptr;
  int (*xor_gen)(int vects, int len, void** array) = nullptr;  // writes the last one
};

Byte* as_bytes(std::byte* pointer) {
  return reinterpret_cast<Byte*>(pointer);
}

struct IsalPointers {
  std::vector<Byte*> sources;
  std::vector<Byte*> outputs;
};

struct IsalCall {
  const IsalFunctions* functions;
  int shard_bytes;
  std::vector<Byte> tables;
  PerStripe<IsalPointers> stripes;

  bool operator()() {
    IsalPointers& stripe = stripes.next();
    functions->ec_encode_data(shard_bytes, static_cast<int>(stripe.sources.size()),
                              static_cast<int>(stripe.outputs.size()), tables.data(),
                              stripe.sources.data(), stripe.outputs.data());
    return true;
  }
};

struct IsalUpdateCall {
  const IsalFunctions* functions;
  int shard_bytes;
  int k;
  std::vector<Byte> tables;
  std::shared_ptr<Arena> delta;     // null if the caller gives the delta in rebuilt[0]
  PerStripe<IsalPointers> stripes;  // sources: old bytes, then new bytes or delta

  bool operator()() {
    IsalPointers& stripe = stripes.next();
    Byte* change = stripe.sources[1];
    if (delta != nullptr) {
      change = as_bytes(delta->bytes().data());
      void* array[] = {stripe.sources[0], stripe.sources[1], change};
      if (functions->xor_gen(3, shard_bytes, array) != 0) return false;
    }
    functions->ec_encode_data_update(shard_bytes, k, static_cast<int>(stripe.outputs.size()),
                                     changed_shard, tables.data(), change, stripe.outputs.data());
    return true;
  }
};

// Inverts the matrix of the survivors and makes the tables for a loss; reuses its buffers.
class IsalInverter {
 public:
  IsalInverter(const IsalFunctions& functions, const std::vector<Byte>& matrix, int k)
      : functions_(&functions), matrix_(&matrix), k_(k) {}

  // False if the matrix is singular.
  bool invert(std::span<const ShardIndex> lost) {
    const auto k = static_cast<std::ptrdiff_t>(k_);
    list_survivors(lost);
    square_.clear();
    for (const std::size_t survivor : survivors) {
      const auto row = matrix_->begin() + static_cast<std::ptrdiff_t>(survivor) * k;
      square_.insert(square_.end(), row, row + k);
    }
    inverse_.resize(square_.size());
    if (functions_->gf_invert_matrix(square_.data(), inverse_.data(), k_) != 0) return false;
    rows_.clear();
    for (const ShardIndex shard : lost) {
      const auto row = inverse_.begin() + static_cast<std::ptrdiff_t>(shard) * k;
      rows_.insert(rows_.end(), row, row + k);
    }
    tables.resize(32 * rows_.size());  // 32 bytes per coefficient, by its manual
    functions_->ec_init_tables(k_, static_cast<int>(lost.size()), rows_.data(), tables.data());
    return true;
  }

  std::vector<std::size_t> survivors;
  std::vector<Byte> tables;

 private:
  // The first k survivors, as in ISA-L's examples.
  void list_survivors(std::span<const ShardIndex> lost) {
    survivors.clear();
    std::size_t next_lost = 0;
    for (std::size_t i = 0; survivors.size() < static_cast<std::size_t>(k_); ++i) {
      if (next_lost < lost.size() && lost[next_lost] == i) {
        ++next_lost;
      } else {
        survivors.push_back(i);
      }
    }
  }

  const IsalFunctions* functions_;
  const std::vector<Byte>* matrix_;
  int k_;
  std::vector<Byte> square_;
  std::vector<Byte> inverse_;
  std::vector<Byte> rows_;
};

struct IsalFreshCall {
  const IsalFunctions* functions;
  std::shared_ptr<const std::vector<Byte>> matrix;  // the inverter points into it
  IsalInverter inverter;
  PatternTurn patterns;
  PerStripe<StripeView> stripes;
  IsalPointers pointers;

  bool operator()() {
    const StripeView& stripe = stripes.next();
    const std::vector<ShardIndex>& lost = patterns.next();
    if (!inverter.invert(lost)) return false;
    pointers.sources.clear();
    for (const std::size_t i : inverter.survivors)
      pointers.sources.push_back(as_bytes(stripe.shards[i]));
    pointers.outputs.clear();
    for (std::size_t i = 0; i < lost.size(); ++i)
      pointers.outputs.push_back(as_bytes(stripe.rebuilt[i]));
    functions->ec_encode_data(static_cast<int>(stripe.shard_bytes),
                              static_cast<int>(pointers.sources.size()),
                              static_cast<int>(lost.size()), inverter.tables.data(),
                              pointers.sources.data(), pointers.outputs.data());
    return true;
  }
};

std::vector<Byte*> as_bytes(std::span<std::byte* const> shards) {
  std::vector<Byte*> pointers;
  for (std::byte* shard : shards)
    pointers.push_back(as_bytes(shard));
  return pointers;
}

class IsalCoder : public Coder {
 public:
  IsalCoder(const IsalFunctions& functions, const CoderRequest& request)
      : functions_(&functions),
        k_(request.shape.data_shards),
        rows_(request.shape.data_shards + request.shape.parity_shards),
        is_vandermonde_(request.profile == "vandermonde-isal"),
        is_same_profile_(is_vandermonde_ || request.profile == "cauchy") {
    auto matrix = std::make_shared<std::vector<Byte>>(static_cast<std::size_t>(k_ * rows_));
    (is_vandermonde_ ? functions.gf_gen_rs_matrix : functions.gf_gen_cauchy1_matrix)(matrix->data(),
                                                                                     rows_, k_);
    matrix_ = std::move(matrix);
  }

  std::string_view method() const noexcept override {
    return is_vandermonde_ ? "gf_gen_rs_matrix" : "gf_gen_cauchy1_matrix";
  }
  bool writes_profile_bytes() const noexcept override { return is_same_profile_; }

  Call encode_call(const StripeBuffers& stripes) const override {
    return IsalCall{functions_,
                    static_cast<int>(stripes.view().shard_bytes),
                    encode_tables(),
                    {stripes, [](const StripeView& stripe) {
                       return IsalPointers{as_bytes(stripe.data()), as_bytes(stripe.parity())};
                     }}};
  }

  Result<Call> decode_call(const StripeBuffers& stripes,
                           std::span<const ShardIndex> lost) const override {
    IsalInverter inverter(*functions_, *matrix_, k_);
    if (!inverter.invert(lost)) return singular();
    PerStripe<IsalPointers> pointers(stripes, [&](const StripeView& stripe) {
      IsalPointers each{{}, as_bytes(stripe.rebuilt.first(lost.size()))};
      for (const std::size_t i : inverter.survivors)
        each.sources.push_back(as_bytes(stripe.shards[i]));
      return each;
    });
    return Call(IsalCall{functions_, static_cast<int>(stripes.view().shard_bytes),
                         std::move(inverter.tables), std::move(pointers)});
  }

  Call fresh_decode_call(const StripeBuffers& stripes, PatternTurn patterns) const override {
    return IsalFreshCall{functions_,
                         matrix_,
                         IsalInverter(*functions_, *matrix_, k_),
                         std::move(patterns),
                         {stripes, [](const StripeView& stripe) { return stripe; }},
                         {}};
  }

  Call update_call(const StripeBuffers& stripes, ChangeForm form) const override {
    if (functions_->ec_encode_data_update == nullptr || functions_->xor_gen == nullptr) return {};
    std::shared_ptr<Arena> delta;
    if (form == ChangeForm::old_and_new) {
      auto arena = Arena::create(stripes.view().shard_bytes);
      if (!arena) return {};
      delta = std::make_shared<Arena>(*std::move(arena));
    }
    return IsalUpdateCall{functions_,
                          static_cast<int>(stripes.view().shard_bytes),
                          k_,
                          encode_tables(),
                          std::move(delta),
                          {stripes, [](const StripeView& stripe) {
                             return IsalPointers{{as_bytes(stripe.shards[changed_shard]),
                                                  as_bytes(stripe.rebuilt[0])},
                                                 as_bytes(stripe.parity())};
                           }}};
  }

  Status make_tables(std::span<const ShardIndex> lost) const override {
    IsalInverter inverter(*functions_, *matrix_, k_);
    if (!inverter.invert(lost)) return singular();
    return Done{};
  }

 private:
  std::vector<Byte> encode_tables() const {
    std::vector<Byte> rows(matrix_->begin() + k_ * k_, matrix_->end());
    std::vector<Byte> tables(32 * rows.size());
    functions_->ec_init_tables(k_, rows_ - k_, rows.data(), tables.data());
    return tables;
  }

  Error singular() const {
    return {ErrorCode::unrecoverable,
            fmt::format("ISA-L {} {}+{}: the matrix of the survivors is singular", method(), k_,
                        rows_ - k_)};
  }

  const IsalFunctions* functions_;
  int k_;
  int rows_;
  std::shared_ptr<const std::vector<Byte>> matrix_;  // rows_ x k_, identity on top
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
                 fmt::format("{} lacks ISA-L's functions (ec_encode_data and others); expected a "
                             "libisal.so.2",
                             library.path())};
  }
  static_cast<void>(library.find("ec_encode_data_update", f.ec_encode_data_update));
  static_cast<void>(library.find("xor_gen", f.xor_gen));
  // Newer releases have a version function; for older ones use the file name.
  const char* (*version_text)() = nullptr;
  std::string version = library.version();
  if (library.find("isal_get_version_str", version_text)) version = version_text();
  return std::unique_ptr<Peer>(
      std::make_unique<IsalPeer>(std::move(library), f, std::move(version)));
}

}  // namespace calpe::bench
