// SPDX-License-Identifier: Apache-2.0
// klauspost/reedsolomon, a Go library, through a C wrapper that is built elsewhere (Go's
// -buildmode=c-shared) and exports:
//
//   uint64_t calpe_klauspost_create(int data_shards, int parity_shards, const char* method);
//     A handle, or 0 when the shape is refused; one goroutine (WithMaxGoroutines(1)). A handle is
//     used by one thread at a time. method:
//       "cauchy"           WithCauchyMatrix; keeps the inverses of the patterns it has seen
//       "cauchy-uncached"  the same with WithInversionCache(false)
//       "leopard8"         WithLeopardGF(true); shard bytes are multiples of 64
//   void calpe_klauspost_destroy(uint64_t handle);
//   int calpe_klauspost_encode(uint64_t handle, void** shards, size_t bytes);
//     shards: data_shards + parity_shards pointers; 0 when done.
//   int calpe_klauspost_reconstruct(uint64_t handle, void** shards, const unsigned char* present,
//                                   size_t bytes);
//     ReconstructData. Where present[i] is 0, shards[i] is memory that receives shard i.
//   const char* calpe_klauspost_version(void);
//
// docs/benchmarking.md describes how to build it.
#include <cstdint>
#include <fmt/format.h>

#include "bench/harness/peers.hpp"

namespace calpe::bench {

namespace {

struct KlauspostFunctions {
  std::uint64_t (*create)(int data_shards, int parity_shards, const char* method) = nullptr;
  void (*destroy)(std::uint64_t handle) = nullptr;
  int (*encode)(std::uint64_t handle, void** shards, std::size_t bytes) = nullptr;
  int (*reconstruct)(std::uint64_t handle, void** shards, const unsigned char* present,
                     std::size_t bytes) = nullptr;
  const char* (*version)() = nullptr;
};

// An encoder of the library, shared by all copies of a call.
class Encoder {
 public:
  Encoder(const KlauspostFunctions& functions, Shape shape, const char* method)
      : functions_(&functions),
        handle_(functions.create(shape.data_shards, shape.parity_shards, method)) {}
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;
  ~Encoder() {
    if (handle_ != 0) functions_->destroy(handle_);
  }

  bool is_good() const { return handle_ != 0; }
  bool encode(std::vector<void*>& shards, std::size_t bytes) const {
    return functions_->encode(handle_, shards.data(), bytes) == 0;
  }
  bool reconstruct(std::vector<void*>& shards, const std::vector<unsigned char>& present,
                   std::size_t bytes) const {
    return functions_->reconstruct(handle_, shards.data(), present.data(), bytes) == 0;
  }

 private:
  const KlauspostFunctions* functions_;
  std::uint64_t handle_;
};

using Pointers = std::vector<void*>;

// All shards, with the lost ones replaced by the output buffers.
void list_pointers(const StripeView& stripe, std::span<const ShardIndex> lost, Pointers& pointers) {
  pointers.assign(stripe.shards.begin(), stripe.shards.end());
  for (std::size_t i = 0; i < lost.size(); ++i)
    pointers[lost[i]] = stripe.rebuilt[i];
}

std::vector<unsigned char> present_flags(Shape shape, std::span<const ShardIndex> lost) {
  std::vector<unsigned char> present(std::size_t{shape.data_shards} + shape.parity_shards, 1);
  for (const ShardIndex shard : lost)
    present[shard] = 0;
  return present;
}

struct EncodeCall {
  std::shared_ptr<Encoder> encoder;
  std::size_t shard_bytes;
  PerStripe<Pointers> stripes;

  bool operator()() { return encoder->encode(stripes.next(), shard_bytes); }
};

struct DecodeCall {
  std::shared_ptr<Encoder> encoder;
  std::size_t shard_bytes;
  std::vector<unsigned char> present;
  PerStripe<Pointers> stripes;

  bool operator()() { return encoder->reconstruct(stripes.next(), present, shard_bytes); }
};

struct FreshDecodeCall {
  std::shared_ptr<Encoder> encoder;
  PatternTurn patterns;
  PerStripe<StripeView> stripes;
  std::vector<unsigned char> present;
  Pointers pointers;

  bool operator()() {
    const StripeView& stripe = stripes.next();
    const std::vector<ShardIndex>& lost = patterns.next();
    present.assign(stripe.shards.size(), 1);
    for (const ShardIndex shard : lost)
      present[shard] = 0;
    list_pointers(stripe, lost, pointers);
    return encoder->reconstruct(pointers, present, stripe.shard_bytes);
  }
};

class KlauspostCoder : public Coder {
 public:
  KlauspostCoder(const KlauspostFunctions& functions, Shape shape, const char* method,
                 const char* fresh_method)
      : functions_(&functions), shape_(shape), method_(method), fresh_method_(fresh_method) {}

  std::string_view method() const noexcept override { return method_; }
  bool writes_profile_bytes() const noexcept override { return false; }

  Call encode_call(const StripeBuffers& stripes) const override {
    return EncodeCall{make_encoder(method_),
                      stripes.view().shard_bytes,
                      {stripes, [](const StripeView& stripe) {
                         return Pointers(stripe.shards.begin(), stripe.shards.end());
                       }}};
  }

  Result<Call> decode_call(const StripeBuffers& stripes,
                           std::span<const ShardIndex> lost) const override {
    PerStripe<Pointers> pointers(stripes, [&](const StripeView& stripe) {
      Pointers each;
      list_pointers(stripe, lost, each);
      return each;
    });
    return Call(DecodeCall{make_encoder(method_), stripes.view().shard_bytes,
                           present_flags(shape_, lost), std::move(pointers)});
  }

  Call fresh_decode_call(const StripeBuffers& stripes, PatternTurn patterns) const override {
    return FreshDecodeCall{make_encoder(fresh_method_),
                           std::move(patterns),
                           {stripes, [](const StripeView& stripe) { return stripe; }},
                           {},
                           {}};
  }

  // The library makes its tables inside its calls.
  bool has_tables() const noexcept override { return false; }
  Status make_tables(std::span<const ShardIndex> /*lost*/) const override {
    return Error{ErrorCode::invalid_argument, "klauspost makes its tables only in reconstruct"};
  }

 private:
  std::shared_ptr<Encoder> make_encoder(const char* method) const {
    return std::make_shared<Encoder>(*functions_, shape_, method);
  }

  const KlauspostFunctions* functions_;
  Shape shape_;
  const char* method_;
  const char* fresh_method_;
};

class KlauspostPeer : public Peer {
 public:
  KlauspostPeer(SharedLibrary library, const KlauspostFunctions& functions)
      : library_(std::move(library)), functions_(functions), version_(functions.version()) {}

  std::string_view library() const noexcept override { return library_.path(); }
  std::string_view version() const noexcept override { return version_; }

  std::vector<std::unique_ptr<Coder>> prepare(const CoderRequest& request) const override {
    std::vector<std::unique_ptr<Coder>> coders;
    const auto offer = [&](const char* method, const char* fresh_method) {
      if (!Encoder(functions_, request.shape, method).is_good()) return;
      coders.push_back(
          std::make_unique<KlauspostCoder>(functions_, request.shape, method, fresh_method));
    };
    offer("cauchy", "cauchy-uncached");
    constexpr std::size_t leopard_bytes_multiple = 64;
    if (request.shard_bytes % leopard_bytes_multiple == 0) offer("leopard8", "leopard8");
    return coders;
  }

 private:
  SharedLibrary library_;
  KlauspostFunctions functions_;
  std::string version_;
};

}  // namespace

Result<std::unique_ptr<Peer>> open_klauspost(SharedLibrary library) {
  KlauspostFunctions f;
  if (!library.find("calpe_klauspost_create", f.create) ||
      !library.find("calpe_klauspost_destroy", f.destroy) ||
      !library.find("calpe_klauspost_encode", f.encode) ||
      !library.find("calpe_klauspost_reconstruct", f.reconstruct) ||
      !library.find("calpe_klauspost_version", f.version)) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("{} lacks the wrapper's functions (calpe_klauspost_create and "
                             "others); expected a library as described in docs/benchmarking.md",
                             library.path())};
  }
  return std::unique_ptr<Peer>(std::make_unique<KlauspostPeer>(std::move(library), f));
}

}  // namespace calpe::bench
