// SPDX-License-Identifier: Apache-2.0
#include "native/codec_work.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "native/buffers.hpp"
#include "native/numbers.hpp"
#include "native/submit_work.hpp"

namespace calpe::python {

namespace {

std::array<Rename, 1> object_names() {
  return {{{"object", "content"}}};
}
std::array<Rename, 2> update_names() {
  return {{{"old_bytes", "old"}, {"new_bytes", "new"}}};
}

RunOptions options_of(bool accumulate, py::handle stores) {
  RunOptions options{.accumulate = accumulate};
  options.stores = stores_of(stores);
  return options;
}

// Returns the length of a data shard from the plan's inputs.
std::size_t shard_bytes_of(const Codec& codec, const Plan& plan, const InputShards& inputs) {
  const bool has_data = !plan.reads().empty() && plan.reads()[0] < codec.spec().data_shards;
  if (!has_data && has_longer_parity(codec.spec())) {
    refuse("only parity is read, which may be longer than data shards; pass the output buffers");
  }
  return inputs.first_bytes();  // reads ascend, so data comes first
}

py::object new_outputs(const Codec& codec, const Plan& plan, const InputShards& inputs) {
  const std::size_t shard_bytes = shard_bytes_of(codec, plan, inputs);
  py::list made;
  for (const ShardIndex index : plan.writes()) {
    const bool is_data = index < codec.spec().data_shards;
    made.append(new_shard(is_data ? shard_bytes : codec.parity_bytes(shard_bytes)));
  }
  return made;
}

std::size_t object_shard_bytes(const Codec& codec, ConstShard object, py::handle shard_bytes) {
  return shard_bytes.is_none() ? codec.shard_bytes_for(object.size())
                               : number_of<std::size_t>(shard_bytes, "shard_bytes");
}

}  // namespace

Stores stores_of(py::handle stores) {
  const auto name = text_of(stores, "stores");
  if (name == "automatic") return Stores::automatic;
  if (name != "cached" && name != "streaming") {
    refuse("stores is \"", name, "\"; expected \"automatic\", \"cached\" or \"streaming\"");
  }
  return name == "cached" ? Stores::cached : Stores::streaming;
}

py::object encode(const Codec& codec, py::handle data, py::object parity, py::handle stores) {
  const RunOptions options = options_of(false, stores);
  const InputShards inputs(data, "data");
  if (parity.is_none()) {
    parity = new_shards(codec.spec().parity_shards, codec.parity_bytes(inputs.first_bytes()));
  }
  const OutputShards outputs(parity, "parity");
  value_of(without_lock([&] { return codec.encode(inputs.get(), outputs.get(), options); }));
  return parity;
}

py::object decode(const Codec& codec, const Plan& plan, py::handle survivors, py::object rebuilt,
                  py::handle stores) {
  const RunOptions options = options_of(false, stores);
  const InputShards read(survivors, "survivors");
  if (rebuilt.is_none()) rebuilt = new_outputs(codec, plan, read);
  const OutputShards written(rebuilt, "rebuilt");
  value_of(without_lock([&] { return codec.decode(plan, read.get(), written.get(), options); }));
  return rebuilt;
}

py::object run(const Codec& codec, const Plan& plan, py::handle inputs, py::object outputs,
               bool accumulate, py::handle stores) {
  const RunOptions options = options_of(accumulate, stores);
  const InputShards read(inputs, "inputs");
  if (outputs.is_none() && accumulate)
    refuse("outputs is None; expected shards because accumulate is set");
  if (outputs.is_none()) outputs = new_outputs(codec, plan, read);
  const OutputShards written(outputs, "outputs");
  value_of(without_lock([&] { return codec.run(plan, read.get(), written.get(), options); }));
  return outputs;
}

py::list split(const Codec& codec, py::handle content, py::handle shard_bytes) {
  const InputShards held = InputShards::one(content, "content");
  const ConstShard object = held.get()[0];
  std::vector<ConstShard> data(codec.spec().data_shards);
  value_of(codec.split(object, object_shard_bytes(codec, object, shard_bytes), data),
           object_names());
  const py::object source = buffer_source(content, "content");
  auto view = py::reinterpret_steal<py::object>(PyMemoryView_FromObject(source.ptr()));
  if (!view) throw py::error_already_set();
  if (object.empty()) {  // cannot be cast
    const bool is_read_only = view.attr("readonly").cast<bool>();
    view = py::memoryview(is_read_only ? py::object(py::bytes()) : py::object(py::bytearray()));
  } else {
    view = view.attr("cast")("B");
  }
  py::list views;
  std::size_t begin = 0;
  for (const ConstShard& shard : data) {
    views.append(view[py::slice(static_cast<py::ssize_t>(begin),
                                static_cast<py::ssize_t>(begin + shard.size()), 1)]);
    begin += shard.size();
  }
  return views;
}

py::object encode_object(const Codec& codec, py::handle content, py::handle shard_bytes,
                         py::object parity, py::handle stores) {
  const RunOptions options = options_of(false, stores);
  const InputShards held = InputShards::one(content, "content");
  const ConstShard object = held.get()[0];
  const std::size_t bytes = object_shard_bytes(codec, object, shard_bytes);
  if (parity.is_none()) {
    // Checks the length before it allocates that much.
    std::vector<ConstShard> data(codec.spec().data_shards);
    value_of(codec.split(object, bytes, data), object_names());
    parity = new_shards(codec.spec().parity_shards, codec.parity_bytes(bytes));
  }
  const OutputShards outputs(parity, "parity");
  value_of(without_lock([&] { return codec.encode_object(object, bytes, outputs.get(), options); }),
           object_names());
  return parity;
}

void decode_object(const Codec& codec, const Plan& plan, py::handle content, py::handle shard_bytes,
                   py::handle parity, py::handle stores) {
  const RunOptions options = options_of(false, stores);
  const OutputShards held = OutputShards::one(content, "content");
  const Shard object = held.get()[0];
  const std::size_t bytes = object_shard_bytes(codec, object, shard_bytes);
  const InputShards read = InputShards::with_missing(parity, "parity");
  value_of(
      without_lock([&] { return codec.decode_object(plan, object, bytes, read.get(), options); }),
      object_names());
}

void run_batch(const Codec& codec, const Plan& plan, py::handle stripes, bool accumulate,
               py::handle stores) {
  const RunOptions options = options_of(accumulate, stores);
  const HeldBatch batch(stripes);
  value_of(without_lock([&] { return codec.run_batch(plan, batch.get(), options); }));
}

std::unique_ptr<BackgroundWork> submit(const Codec& codec, const Plan& plan, py::handle stripes,
                                       bool accumulate, py::handle stores) {
  return std::make_unique<BackgroundWork>(codec, plan, stripes, options_of(accumulate, stores));
}

void update(const Codec& codec, const py::tuple& change, py::handle before, py::handle after,
            py::handle parity) {
  const auto parity_indices = indices_of(change[3], "parity_indices");
  const OutputShards outputs(parity, "parity");
  const InputShards old_bytes = InputShards::one(before, after.is_none() ? "delta" : "old");
  std::size_t shard_bytes = outputs.first_bytes();
  if (!change[2].is_none()) {
    shard_bytes = number_of<std::size_t>(change[2], "shard_bytes");
  } else if (codec.spec().layout == Layout::packets) {
    refuse("shard_bytes is None; expected the length of a data shard; in layout packets parity ",
           "may be longer");
  }
  const Codec::Change what{.data_index = number_of<ShardIndex>(change[0], "data_index"),
                           .offset = number_of<std::size_t>(change[1], "offset"),
                           .shard_bytes = shard_bytes,
                           .parity_indices = parity_indices};
  if (after.is_none()) {
    const ConstShard delta = old_bytes.get()[0];
    value_of(without_lock([&] { return codec.update(what, delta, outputs.get()); }));
    return;
  }
  const InputShards new_bytes = InputShards::one(after, "new");
  const ConstShard held = old_bytes.get()[0];
  const ConstShard holds = new_bytes.get()[0];
  value_of(without_lock([&] { return codec.update(what, held, holds, outputs.get()); }),
           update_names());
}

py::tuple verify(const Codec& codec, py::handle data, py::handle parity) {
  const InputShards data_shards(data, "data");
  const InputShards parity_shards(parity, "parity");
  return tuple_of(
      value_of(without_lock([&] { return codec.verify(data_shards.get(), parity_shards.get()); })));
}

namespace {

py::list list_of_tags(const std::vector<std::byte>& tags) {
  py::list all;
  for (std::size_t at = 0; at < tags.size(); at += tag_bytes)
    all.append(py::bytes(reinterpret_cast<const char*>(tags.data() + at), tag_bytes));
  return all;
}

}  // namespace

py::list tag(const Codec& codec, py::handle shards) {
  const InputShards inputs(shards, "shards");
  std::vector<std::byte> tags(inputs.get().size() * tag_bytes);
  value_of(without_lock([&] { return codec.tag(inputs.get(), tags); }));
  return list_of_tags(tags);
}

py::list encode_tagged(const Codec& codec, py::handle data, py::handle parity) {
  const InputShards inputs(data, "data");
  const OutputShards outputs(parity, "parity");
  const CodeSpec& spec = codec.spec();
  std::vector<std::byte> tags((std::size_t{spec.data_shards} + spec.parity_shards) * tag_bytes);
  value_of(without_lock([&] { return codec.encode_tagged(inputs.get(), outputs.get(), tags); }));
  return list_of_tags(tags);
}

py::tuple locate(const Codec& codec, py::handle shards, py::handle missing) {
  const InputShards all = InputShards::with_missing(shards, "shards");
  std::vector<ShardIndex> unknown = all.missing();
  for (const ShardIndex index : indices_of(missing, "missing")) {
    if (std::ranges::find(unknown, index) == unknown.end()) unknown.push_back(index);
  }
  std::ranges::sort(unknown);
  return tuple_of(value_of(without_lock([&] { return codec.locate(all.get(), unknown); })));
}

void add_shard(py::handle target, py::handle addend) {
  const OutputShards sum = OutputShards::one(target, "target");
  const InputShards other = InputShards::one(addend, "addend");
  value_of(without_lock([&] { return add(sum.get()[0], other.get()[0]); }));
}

}  // namespace calpe::python
