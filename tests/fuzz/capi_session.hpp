// SPDX-License-Identifier: Apache-2.0
// A program that uses the C ABI as the fuzzer says: up to three codecs and four plans, in any
// order, with any arguments that C can pass for real buffers.
#pragma once
#include <array>

#include "fuzz/capi_handles.hpp"
#include "fuzz/input.hpp"

namespace calpe::fuzz {

class Session {
 public:
  explicit Session(Input input) : input_(input) {}
  void run();

 private:
  // codecs
  calpe_spec any_spec();
  calpe_options any_options();
  void take_codec();
  void make_codec();
  void make_from_matrix();
  void ask();
  void ask_about_code();
  // plans
  void make_decode_plan(HeldCodec& held);
  void make_update_plan(HeldCodec& held);
  void make_partial_plan(HeldCodec& held);
  // work
  void encode(HeldCodec& held);
  void run_plan(HeldCodec& held);
  void run_prepared(HeldCodec& held, const HeldPlan& plan, std::vector<const void*> inputs,
                    const std::vector<Bytes>& before, std::uint32_t flags,
                    const std::vector<Bytes>& expected);
  void run_many(HeldCodec& held);
  void update(HeldCodec& held);
  void verify(HeldCodec& held);
  void locate(HeldCodec& held);
  void rebuild(HeldCodec& held);
  // objects and stored specs
  void object(HeldCodec& held);
  void stream(HeldCodec& held);
  void spec_bytes();
  void apply_matrix();
  void field();
  void pass_null(HeldCodec& held);

  Indices any_indices(unsigned shards, unsigned most);
  std::vector<Bytes> damaged(const HeldCodec& held, Indices& wrong);
  std::vector<Bytes> expected_of(const HeldCodec& held, const HeldPlan& plan,
                                 std::vector<Bytes> outputs) const;
  void keep(HeldPlan plan) { plans_[input_.below(plans_.size())] = std::move(plan); }

  Input input_;
  std::array<std::optional<HeldCodec>, 3> codecs_;
  std::array<std::optional<HeldPlan>, 4> plans_;
};

// Returns the addresses of shards for C.
template <class Pointer>
std::vector<Pointer> addresses(std::vector<Bytes>& shards) {
  std::vector<Pointer> all;
  for (Bytes& shard : shards)
    all.push_back(shard.data());
  return all;
}

inline bool has_double(Indices list) {
  std::sort(list.begin(), list.end());
  return std::adjacent_find(list.begin(), list.end()) != list.end();
}
inline bool contains(const Indices& list, unsigned shard) {
  return std::find(list.begin(), list.end(), shard) != list.end();
}
inline bool all_below(const Indices& list, unsigned end) {
  return std::all_of(list.begin(), list.end(), [&](unsigned i) { return i < end; });
}

}  // namespace calpe::fuzz
