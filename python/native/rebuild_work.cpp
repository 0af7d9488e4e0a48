// SPDX-License-Identifier: Apache-2.0
// rebuild: a stripe's missing shards are None and become new or given buffers.
#include <algorithm>
#include <deque>
#include <optional>
#include <string>

#include "native/buffers.hpp"
#include "native/codec_work.hpp"
#include "native/numbers.hpp"

namespace calpe::python {

namespace {

struct Request {
  const Codec& codec;
  RebuildOptions options;
  std::optional<std::size_t> shard_bytes = {};  // of a data shard; nullopt: from present shards
};

Request request_of(const Codec& codec, bool data_only, py::handle shard_bytes, py::handle stores) {
  Request request{.codec = codec, .options = {.data_only = data_only, .stores = stores_of(stores)}};
  if (!shard_bytes.is_none()) {
    request.shard_bytes = number_of<std::size_t>(shard_bytes, "shard_bytes");
  }
  return request;
}

// A stripe with its missing shards as None, and buffers for those to rebuild.
class WholeStripe {
 public:
  // `rebuilt`: None for new buffers, or one buffer per shard to rebuild. `name` is "shards".
  WholeStripe(const Request& request, py::handle shards, py::object rebuilt, std::string name)
      : present_(InputShards::with_missing(shards, name)), name_(std::move(name)) {
    const CodeSpec& spec = request.codec.spec();
    const std::size_t count = std::size_t{spec.data_shards} + spec.parity_shards;
    if (present_.get().size() != count) {
      refuse(name_, " has ", present_.get().size(), " entries; expected ", count,
             " with None for a missing shard");
    }
    for (const ShardIndex index : missing()) {
      if (index < spec.data_shards || !request.options.data_only) wanted_.push_back(index);
    }
    rebuilt_ = rebuilt.is_none() ? new_buffers(request) : std::move(rebuilt);
    buffers_.emplace(rebuilt_, "rebuilt");
    if (buffers_->get().size() != wanted_.size()) {
      refuse("rebuilt has ", buffers_->get().size(), " shards; expected ", wanted_.size(),
             " for shards ", join<ShardIndex>(wanted_));
    }
    check_buffers(request);
    for (const ConstShard shard : present_.get()) {
      // rebuild() writes only missing shards, which are replaced below.
      all_.emplace_back(const_cast<std::byte*>(shard.data()), shard.size());
    }
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      // Without an address, a shard would not be rebuilt.
      static std::byte nothing;
      const Shard buffer = buffers_->get()[i];
      all_[wanted_[i]] = buffer.data() == nullptr ? Shard(&nothing, 0) : buffer;
    }
  }

  // The caller passed missing shards as `rebuilt`.
  std::vector<Rename> names() const {
    std::vector<Rename> names;
    for (std::size_t i = 0; i < wanted_.size(); ++i)
      names.push_back({text(name_, "[", wanted_[i], "]"), text("rebuilt[", i, "]")});
    return names;
  }
  const std::vector<ShardIndex>& missing() const { return present_.missing(); }
  std::span<const Shard> shards() const { return all_; }
  py::object rebuilt() const { return rebuilt_; }

 private:
  // Returns the length of a data shard, or nullopt if the present shards do not determine it.
  std::optional<std::size_t> shard_bytes(const Request& request) const {
    if (request.shard_bytes) return request.shard_bytes;
    const CodeSpec& spec = request.codec.spec();
    for (std::size_t i = 0; i < present_.get().size(); ++i) {
      if (std::ranges::binary_search(missing(), static_cast<ShardIndex>(i))) continue;
      if (i >= spec.data_shards && has_longer_parity(spec)) return std::nullopt;
      return present_.get()[i].size();
    }
    return 0;  // nothing is present, which rebuild() refuses
  }
  std::size_t bytes_of(const Request& request, ShardIndex index, std::size_t data_bytes) const {
    const bool is_data = index < request.codec.spec().data_shards;
    return is_data ? data_bytes : request.codec.parity_bytes(data_bytes);
  }
  py::object new_buffers(const Request& request) const {
    py::list made;
    const auto data_bytes = shard_bytes(request);
    if (!data_bytes) refuse_only_parity(request);
    for (const ShardIndex index : wanted_)
      made.append(new_shard(bytes_of(request, index, *data_bytes)));
    return made;
  }
  // Too few shards are the graver problem, so that error comes first.
  [[noreturn]] void refuse_only_parity(const Request& request) const {
    std::vector<ShardIndex> available;
    for (std::size_t i = 0; i < present_.get().size(); ++i) {
      const auto index = static_cast<ShardIndex>(i);
      if (!std::ranges::binary_search(missing(), index)) available.push_back(index);
    }
    value_of(request.codec.plan_decode(available, wanted_));
    refuse(name_, " has only parity, which may be longer than data shards; pass shard_bytes");
  }
  // Names the buffer that the caller passed; rebuild() would name the shard.
  void check_buffers(const Request& request) const {
    const auto data_bytes = shard_bytes(request);
    for (std::size_t i = 0; data_bytes && i < wanted_.size(); ++i) {
      const std::size_t expected = bytes_of(request, wanted_[i], *data_bytes);
      const std::size_t bytes = buffers_->get()[i].size();
      if (bytes != expected) {
        refuse("rebuilt[", i, "] has ", bytes, " bytes; expected ", expected, " for shard ",
               wanted_[i]);
      }
    }
  }

  InputShards present_;
  std::string name_;
  std::vector<ShardIndex> wanted_;
  py::object rebuilt_;
  std::optional<OutputShards> buffers_;
  std::vector<Shard> all_;
};

}  // namespace

py::object rebuild(const Codec& codec, py::handle shards, py::object rebuilt, bool data_only,
                   py::handle shard_bytes, py::handle stores) {
  const Request request = request_of(codec, data_only, shard_bytes, stores);
  const WholeStripe stripe(request, shards, std::move(rebuilt), "shards");
  Status done = without_lock(
      [&] { return codec.rebuild(stripe.shards(), stripe.missing(), request.options); });
  if (!done) value_of(std::move(done), stripe.names());
  return stripe.rebuilt();
}

py::list rebuild_batch(const Codec& codec, py::handle stripes, bool data_only,
                       py::handle shard_bytes, py::handle stores) {
  const Request request = request_of(codec, data_only, shard_bytes, stores);
  std::deque<WholeStripe> held;
  std::vector<std::span<const Shard>> batch;
  py::list rebuilt;
  for (const py::handle item : py::iter(stripes)) {
    const std::string name = text("stripes[", batch.size(), "]");
    held.emplace_back(request, item, py::none(), name);
    if (held.back().missing() != held.front().missing()) {
      refuse(name, " has None for shards ", join<ShardIndex>(held.back().missing()),
             "; expected shards ", join<ShardIndex>(held.front().missing()), " as stripes[0]");
    }
    batch.push_back(held.back().shards());
    rebuilt.append(held.back().rebuilt());
  }
  if (batch.empty()) return rebuilt;
  value_of(without_lock(
      [&] { return codec.rebuild_batch(batch, held.front().missing(), request.options); }));
  return rebuilt;
}

}  // namespace calpe::python
