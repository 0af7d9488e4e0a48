// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/contestants.hpp"

#include <algorithm>

#include "bench/harness/limits.hpp"

namespace calpe::bench {

namespace {

struct RoofPointers {
  std::vector<const std::byte*> sources;
  std::vector<std::byte*> outputs;
};

// The minimum that the operation must read and write. A decode reads any k shards. Parity that is
// updated in place is both read and written.
RoofPointers roof_pointers(const StripeView& stripe, const Match& match) {
  RoofPointers pointers;
  if (is_update(match.operation)) {
    pointers.sources.push_back(stripe.rebuilt[0]);
    if (match.operation == Operation::update)
      pointers.sources.push_back(stripe.shards[changed_shard]);
    pointers.sources.insert(pointers.sources.end(), stripe.parity().begin(), stripe.parity().end());
    pointers.outputs.assign(stripe.parity().begin(), stripe.parity().end());
    return pointers;
  }
  pointers.sources.assign(stripe.data().begin(), stripe.data().end());
  const bool is_encode =
      match.operation == Operation::encode || match.operation == Operation::batch;
  const auto outputs =
      stripe.rebuilt.first(is_encode ? stripe.shape.parity_shards : match.lost.size());
  pointers.outputs.assign(outputs.begin(), outputs.end());
  return pointers;
}

Call roof_call(const StripeBuffers& stripes, RoofStores stores, const Match& match) {
  PerStripe<RoofPointers> pointers(
      stripes, [&](const StripeView& stripe) { return roof_pointers(stripe, match); });
  const std::size_t bytes = roof_shard_bytes(stripes.view().shard_bytes);
  const std::size_t source_count = roof_pointers(stripes.view(), match).sources.size();
  const RoofKernel kernel = roof_kernel(stores, source_count, bytes);
  const std::size_t repeats = match.operation == Operation::batch ? stripes.count() : 1;
  return [pointers = std::move(pointers), kernel, bytes, repeats]() mutable {
    for (std::size_t i = 0; i < repeats; ++i) {
      const RoofPointers& stripe = pointers.next();
      kernel(stripe.sources, stripe.outputs, bytes);
    }
    return true;
  };
}

// Empty if the coder lacks the operation.
Result<Call> make_call(const Coder& coder, const StripeBuffers& stripes, const Match& match) {
  switch (match.operation) {
    case Operation::encode:
      return coder.encode_call(stripes);
    case Operation::decode:
    case Operation::decode1:
      return coder.decode_call(stripes, match.lost);
    case Operation::decode_fresh:
      return coder.fresh_decode_call(stripes, PatternTurn(match.patterns));
    case Operation::update:
      return coder.update_call(stripes, ChangeForm::old_and_new);
    case Operation::update_delta:
      return coder.update_call(stripes, ChangeForm::delta);
    case Operation::batch:
      return coder.batch_call(stripes);
    case Operation::plan:
      break;
  }
  return Call();
}

class LineUpMaker {
 public:
  LineUpMaker(const Field& field, const Match& match) : field_(field), match_(match) {}

  Result<LineUp> make() {
    const std::size_t lanes = field_.lanes->size();
    if (auto own = add("calpe", *field_.own, lanes); !own) return std::move(own).error();
    add_roofs(lanes);
    if (field_.own_alone != nullptr) {
      line_up_.alone_at = line_up_.contestants.size();
      if (auto own = add("calpe", *field_.own_alone, 1); !own) return std::move(own).error();
      if (lanes > 1) add_roofs(1);
    }
    if (match_.has_limits) add_limits();
    for (std::size_t i = 0; i < field_.peers->size(); ++i) {
      const PeerCoders& peer = (*field_.peers)[i];
      for (const auto& coder : peer.coders) {
        auto added = add(peer.name, *coder, lanes);
        if (!added) return std::move(added).error();
        if (!*added) continue;
        line_up_.peers.push_back(
            {i, std::string(coder->method()), line_up_.contestants.size() - 1});
      }
    }
    return std::move(line_up_);
  }

 private:
  // False if the coder cannot take part.
  Result<bool> add(const std::string& name, const Coder& coder, std::size_t lanes) {
    Contestant contestant{name, {}};
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      auto call = make_call(coder, (*field_.lanes)[lane], match_);
      if (!call) return std::move(call).error();
      if (!*call) return false;
      contestant.lanes.push_back(*std::move(call));
    }
    line_up_.contestants.push_back(std::move(contestant));
    return true;
  }

  void add_roofs(std::size_t lanes) {
    for (const RoofStores stores : {RoofStores::plain, RoofStores::non_temporal}) {
      Contestant contestant{"roof", {}};
      for (std::size_t lane = 0; lane < lanes; ++lane)
        contestant.lanes.push_back(roof_call((*field_.lanes)[lane], stores, match_));
      line_up_.contestants.push_back(std::move(contestant));
    }
  }

  void add_limits() {
    line_up_.limits_at = line_up_.contestants.size();
    Contestant copy{"memcpy", {}};
    Contestant read{"read", {}};
    Contestant write{"write", {}};
    for (const StripeBuffers& stripes : *field_.lanes) {
      LimitCalls calls = make_limit_calls(stripes, match_.limit_bytes);
      copy.lanes.push_back(std::move(calls.copy));
      read.lanes.push_back(std::move(calls.read));
      write.lanes.push_back(std::move(calls.write));
    }
    for (Contestant* each : {&copy, &read, &write})
      line_up_.contestants.push_back(std::move(*each));
  }

  const Field& field_;
  const Match& match_;
  LineUp line_up_;
};

}  // namespace

Result<LineUp> make_line_up(const Field& field, const Match& match) {
  return LineUpMaker(field, match).make();
}

std::size_t roof_shard_bytes(std::size_t shard_bytes) noexcept {
  return std::max(shard_bytes / roof_bytes_multiple, std::size_t{1}) * roof_bytes_multiple;
}

}  // namespace calpe::bench
