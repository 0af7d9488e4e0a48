// SPDX-License-Identifier: Apache-2.0
// calpe.h: applies plans. Pointers become spans on the stack, without allocation.
#include <charconv>
#include <string>
#include <vector>

#include "capi/capi_stripes.hpp"

using namespace calpe;
using namespace calpe::capi;

namespace {

// Shards in pieces as spans of spans: on the stack if there are few, else on the heap.
template <class Bytes>
class PieceSpans {
 public:
  explicit PieceSpans(std::size_t shard_count) : shards_(shard_count) {}

  // Fails with invalid_argument if a pointer is NULL and its length is not 0. `name` is the
  // caller's name for `shards`.
  template <class Pieces>
  Status read(const char* name, const Pieces* shards) {
    const std::size_t count = shards_.size();
    if (shards == nullptr && count > 0) {
      return invalid(name, " is NULL; expected ", count, " shards");
    }
    std::size_t total = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (shards[i].pieces == nullptr && shards[i].count > 0) {
        return invalid(name, "[", i, "].pieces is NULL; expected ", shards[i].count, " pieces");
      }
      if (shards[i].count > list_entries_max - total) {
        return invalid(name, "[", i, "].count is ", shards[i].count,
                       ", which is more than memory can hold");
      }
      total += shards[i].count;
    }
    std::span<std::span<Bytes>> rest = few_;
    if (total > few_.size()) {
      many_.resize(total);
      rest = many_;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const auto pieces = rest.first(shards[i].count);
      const auto* const from = shards[i].pieces;
      for (std::size_t p = 0; from != nullptr && p < pieces.size(); ++p) {
        if (from[p].data == nullptr && from[p].bytes > 0) {
          return invalid(name, "[", i, "].pieces[", p, "].data is NULL; expected ", from[p].bytes,
                         " bytes");
        }
        pieces[p] = {static_cast<Bytes*>(from[p].data), from[p].bytes};
      }
      shards_[i] = pieces;
      rest = rest.subspan(pieces.size());
    }
    return Done{};
  }
  std::span<const std::span<const std::span<Bytes>>> shards() const { return shards_; }

 private:
  std::array<std::span<Bytes>, 1024> few_;
  std::vector<std::span<Bytes>> many_;
  ShortArray<std::span<const std::span<Bytes>>> shards_;
};

// Calls `apply` with the spans of a stripe whose lists have these names.
template <class Apply>
calpe_status with_stripe(const Codec& codec, const Plan& plan, const calpe_stripe& stripe,
                         const char* inputs_name, const char* outputs_name, RunOptions options,
                         calpe_error* error, const Apply& apply) {
  if (codec.run_short(plan, bytes_of(stripe.inputs), bytes_of(stripe.outputs), stripe.shard_bytes,
                      options)) {
    return succeed(error);
  }
  SpanRoom<const std::byte> inputs(plan.reads().size());
  SpanRoom<std::byte> outputs(plan.writes().size());
  const Lengths lengths(codec, stripe.shard_bytes);
  if (!to_spans(stripe.inputs, plan.reads(), lengths, inputs)) {
    return fail(null_shard(inputs_name, stripe.inputs, plan.reads(), lengths), error);
  }
  if (!to_spans(stripe.outputs, plan.writes(), lengths, outputs)) {
    return fail(null_shard(outputs_name, stripe.outputs, plan.writes(), lengths), error);
  }
  return finish(apply(inputs.first(plan.reads().size()), outputs.first(plan.writes().size())),
                error);
}

// The message of a part of a batch that begins with stripe `begin`, with the numbers that stripes
// have in the whole batch.
Error in_batch(const Error& error, std::size_t begin) {
  if (error.code != ErrorCode::invalid_argument) return error;
  constexpr std::string_view list = "stripes[";
  std::string message;
  std::string_view rest = error.message;
  for (std::size_t at; (at = rest.find(list)) != std::string_view::npos;) {
    message += rest.substr(0, at + list.size());
    rest.remove_prefix(at + list.size());
    std::size_t number = 0;
    const char* const end = std::from_chars(rest.data(), rest.data() + rest.size(), number).ptr;
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    message += std::to_string(begin + number);
  }
  return make_error(error.code, message, rest);
}

// "inputs[3][1]" of the C++ API is inputs[3].pieces[1] here.
Error with_pieces(Error error) {
  for (std::size_t at; (at = error.message.find("][")) != std::string::npos;)
    error.message.insert(at + 1, ".pieces");
  return error;
}

calpe_status give_wrong(const Result<std::vector<ShardIndex>>& found, uint16_t* wrong,
                        size_t capacity, size_t* wrong_count, calpe_error* error) {
  if (found) *wrong_count = copy_list<uint16_t>(*found, wrong, capacity);
  return finish(found, error);
}

}  // namespace

calpe_status calpe_run(const calpe_codec* codec, const calpe_plan* plan, const void* const* inputs,
                       void* const* outputs, size_t shard_bytes, uint32_t flags,
                       calpe_error* error) {
  return walled(error, [&] {
    if (codec == nullptr || plan == nullptr) {
      return null_among({{"codec", codec}, {"plan", plan}}, error);
    }
    if (!known_flags(flags)) return unknown_flags(error);
    const RunOptions options = to_run_options(flags);
    return with_stripe(
        codec->codec, plan->plan, {inputs, outputs, shard_bytes}, "inputs", "outputs", options,
        error, [&](auto from, auto to) { return codec->codec.run(plan->plan, from, to, options); });
  });
}

calpe_status calpe_encode(const calpe_codec* codec, const void* const* data, void* const* parity,
                          size_t shard_bytes, calpe_error* error) {
  return walled(error, [&] {
    if (codec == nullptr) return null_argument("codec is NULL", error);
    return with_stripe(codec->codec, codec->codec.plan_encode(), {data, parity, shard_bytes},
                       "data", "parity", {}, error,
                       [&](auto from, auto to) { return codec->codec.encode(from, to); });
  });
}

calpe_status calpe_decode(const calpe_codec* codec, const calpe_plan* plan,
                          const void* const* survivors, void* const* rebuilt, size_t shard_bytes,
                          calpe_error* error) {
  return walled(error, [&] {
    if (codec == nullptr || plan == nullptr) {
      return null_among({{"codec", codec}, {"plan", plan}}, error);
    }
    return with_stripe(
        codec->codec, plan->plan, {survivors, rebuilt, shard_bytes}, "survivors", "rebuilt", {},
        error, [&](auto from, auto to) { return codec->codec.decode(plan->plan, from, to); });
  });
}

calpe_status calpe_run_batch(const calpe_codec* codec, const calpe_plan* plan,
                             const calpe_stripe* stripes, size_t stripe_count, uint32_t flags,
                             calpe_error* error) {
  return walled(error, [&]() -> calpe_status {
    if (codec == nullptr || plan == nullptr || (stripes == nullptr && stripe_count > 0)) {
      return null_among({{"codec", codec}, {"plan", plan}, {"stripes", stripes}}, error);
    }
    if (stripe_count > list_entries_max) return too_many_stripes(error);
    if (!known_flags(flags)) return unknown_flags(error);
    if (!codec->codec.runs_on_caller()) {
      StripeList list;
      const Status taken = list.read(codec->codec, plan->plan, {stripes, stripe_count});
      if (!taken) return fail(taken.error(), error);
      return finish(codec->codec.run_batch(plan->plan, list.stripes(), to_run_options(flags)),
                    error);
    }
    const auto reads = plan->plan.reads();
    const auto writes = plan->plan.writes();
    // Process as many stripes at a time as spans fit on the stack.
    std::array<Stripe, 64> held;
    const std::size_t shards = std::max({std::size_t{1}, reads.size(), writes.size()});
    const std::size_t most = std::clamp<std::size_t>(byte_shard_count_max / shards, 1, held.size());
    SpanRoom<const std::byte> inputs(most * reads.size());
    SpanRoom<std::byte> outputs(most * writes.size());
    for (std::size_t begin = 0; begin < stripe_count; begin += most) {
      const std::size_t count = std::min(most, stripe_count - begin);
      for (std::size_t s = 0; s < count; ++s) {
        const std::size_t in = s * reads.size();
        const std::size_t out = s * writes.size();
        const Status taken = take_stripe(codec->codec, plan->plan, stripes[begin + s], begin + s,
                                         &inputs[in], &outputs[out]);
        if (!taken) return fail(taken.error(), error);
        held[s] = {.inputs = inputs.part(in, reads.size()),
                   .outputs = outputs.part(out, writes.size())};
      }
      const Status done =
          codec->codec.run_batch(plan->plan, std::span(held).first(count), to_run_options(flags));
      if (!done) return fail(in_batch(done.error(), begin), error);
    }
    return succeed(error);
  });
}

calpe_status calpe_run_pieces(const calpe_codec* codec, const calpe_plan* plan,
                              const calpe_const_pieces* inputs, const calpe_pieces* outputs,
                              uint32_t flags, calpe_error* error) {
  return walled(error, [&] {
    if (codec == nullptr || plan == nullptr) {
      return null_among({{"codec", codec}, {"plan", plan}}, error);
    }
    if (!known_flags(flags)) return unknown_flags(error);
    PieceSpans<const std::byte> in(plan->plan.reads().size());
    PieceSpans<std::byte> out(plan->plan.writes().size());
    Status done = in.read("inputs", inputs);
    if (done) done = out.read("outputs", outputs);
    if (!done) return fail(done.error(), error);
    done = codec->codec.run_pieces(plan->plan, in.shards(), out.shards(), to_run_options(flags));
    return done ? succeed(error) : fail(with_pieces(std::move(done).error()), error);
  });
}

namespace {

// Calls `apply` with the change and the parity shards.
template <class Apply>
calpe_status update_parity(const calpe_codec* codec, Codec::Change change, void* const* parity,
                           calpe_error* error, const Apply& apply) {
  if (change.parity_indices.data() == nullptr && !change.parity_indices.empty()) {
    return null_argument("parity_indices is NULL", error);
  }
  const std::size_t count = change.parity_indices.empty() ? codec->codec.spec().parity_shards
                                                          : change.parity_indices.size();
  if (count > codec->codec.spec().parity_shards) {
    return fail(invalid("parity_count is ", count, "; expected at most ",
                        codec->codec.spec().parity_shards),
                error);
  }
  SpanArray<std::byte> outputs(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (parity[i] == nullptr && change.shard_bytes > 0) {
      return fail(invalid("parity[", i, "] is NULL; expected ",
                          codec->codec.parity_bytes(change.shard_bytes), " bytes"),
                  error);
    }
    outputs[i] = {static_cast<std::byte*>(parity[i]),
                  codec->codec.parity_bytes(change.shard_bytes)};
  }
  return finish(apply(change, outputs), error);
}

ConstShard as_shard(const void* bytes, size_t count) {
  return {static_cast<const std::byte*>(bytes), count};
}

}  // namespace

calpe_status calpe_update(const calpe_codec* codec, uint16_t data_index, size_t offset,
                          const void* delta, size_t delta_bytes, const uint16_t* parity_indices,
                          size_t parity_count, void* const* parity, size_t shard_bytes,
                          calpe_error* error) {
  return walled(error, [&] {
    if (codec == nullptr || parity == nullptr || (delta == nullptr && delta_bytes > 0)) {
      return null_among({{"codec", codec}, {"parity", parity}, {"delta", delta}}, error);
    }
    return update_parity(
        codec, {data_index, offset, shard_bytes, {parity_indices, parity_count}}, parity, error,
        [&](const Codec::Change& change, std::span<const Shard> outputs) {
          return codec->codec.update(change, as_shard(delta, delta_bytes), outputs);
        });
  });
}

calpe_status calpe_update_from(const calpe_codec* codec, uint16_t data_index, size_t offset,
                               const void* old_bytes, const void* new_bytes, size_t changed_bytes,
                               const uint16_t* parity_indices, size_t parity_count,
                               void* const* parity, size_t shard_bytes, calpe_error* error) {
  return walled(error, [&] {
    const bool is_missing = old_bytes == nullptr || new_bytes == nullptr;
    if (codec == nullptr || parity == nullptr || (is_missing && changed_bytes > 0)) {
      return null_among({{"codec", codec},
                         {"parity", parity},
                         {"old_bytes", old_bytes},
                         {"new_bytes", new_bytes}},
                        error);
    }
    return update_parity(codec, {data_index, offset, shard_bytes, {parity_indices, parity_count}},
                         parity, error,
                         [&](const Codec::Change& change, std::span<const Shard> outputs) {
                           return codec->codec.update(change, as_shard(old_bytes, changed_bytes),
                                                      as_shard(new_bytes, changed_bytes), outputs);
                         });
  });
}

calpe_status calpe_verify(const calpe_codec* codec, const void* const* data,
                          const void* const* parity, size_t shard_bytes, uint16_t* wrong,
                          size_t capacity, size_t* wrong_count, calpe_error* error) {
  return walled(error, [&] {
    if (codec == nullptr || wrong_count == nullptr) {
      return null_among({{"codec", codec}, {"wrong_count", wrong_count}}, error);
    }
    const Plan& plan = codec->codec.plan_encode();
    SpanRoom<const std::byte> inputs(plan.reads().size());
    SpanRoom<const std::byte> checks(plan.writes().size());
    const Lengths lengths(codec->codec, shard_bytes);
    if (!to_spans(data, plan.reads(), lengths, inputs)) {
      return fail(null_shard("data", data, plan.reads(), lengths), error);
    }
    if (!to_spans(parity, plan.writes(), lengths, checks)) {
      return fail(null_shard("parity", parity, plan.writes(), lengths), error);
    }
    return give_wrong(
        codec->codec.verify(inputs.first(plan.reads().size()), checks.first(plan.writes().size())),
        wrong, capacity, wrong_count, error);
  });
}

calpe_status calpe_locate(const calpe_codec* codec, const void* const* shards, size_t shard_bytes,
                          const uint16_t* missing, size_t missing_count, uint16_t* wrong,
                          size_t capacity, size_t* wrong_count, calpe_error* error) {
  return walled(error, [&] {
    if (codec == nullptr || shards == nullptr || wrong_count == nullptr ||
        (missing == nullptr && missing_count > 0)) {
      return null_among({{"codec", codec},
                         {"shards", shards},
                         {"wrong_count", wrong_count},
                         {"missing", missing}},
                        error);
    }
    const CodeSpec& spec = codec->codec.spec();
    const Lengths lengths(codec->codec, shard_bytes);
    const std::span<const uint16_t> absent(missing, missing_count);
    const std::size_t count = std::size_t{spec.data_shards} + spec.parity_shards;
    SpanArray<const std::byte> all(count);
    for (std::size_t i = 0; i < count; ++i) {
      const auto shard = static_cast<ShardIndex>(i);
      const bool is_missing = std::find(absent.begin(), absent.end(), shard) != absent.end();
      if (is_missing) continue;
      if (shards[i] == nullptr && shard_bytes > 0) {
        return fail(invalid("shards[", i, "] is NULL; expected ", lengths.of(shard), " bytes, or ",
                            i, " in missing"),
                    error);
      }
      all[i] = {static_cast<const std::byte*>(shards[i]), lengths.of(shard)};
    }
    return give_wrong(codec->codec.locate(all, absent), wrong, capacity, wrong_count, error);
  });
}

calpe_status calpe_add(void* target, const void* addend, size_t bytes, calpe_error* error) {
  return walled(error, [&] {
    if ((target == nullptr || addend == nullptr) && bytes > 0) {
      return null_among({{"target", target}, {"addend", addend}}, error);
    }
    return finish(add({static_cast<std::byte*>(target), bytes},
                      {static_cast<const std::byte*>(addend), bytes}),
                  error);
  });
}
