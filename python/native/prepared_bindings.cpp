// SPDX-License-Identifier: Apache-2.0
// Prepared plans over stripes that lie one after the other in two buffers.
#include <algorithm>
#include <cstdint>

#include <calpe/codec.hpp>

#include "native/bindings.hpp"
#include "native/buffers.hpp"
#include "native/codec_work.hpp"
#include "native/numbers.hpp"

namespace calpe::python {

namespace {

struct Prepared {
  PreparedPlan plan;
  std::size_t reads;
  std::size_t writes;
  bool accumulate;
};

Prepared prepare(const Codec& codec, const Plan& plan, py::handle shard_bytes, bool accumulate,
                 py::handle stores) {
  const auto bytes = number_of<std::size_t>(shard_bytes, "shard_bytes");
  if (codec.parity_bytes(bytes) != bytes) {
    const bool has_packets = codec.spec().layout == Layout::packets;
    refuse("shard_bytes is ", bytes, "; expected a multiple of ",
           has_packets ? codec.spec().word_bits : 2, " with ",
           has_packets ? "layout packets" : "word_bits 16");
  }
  // A stripe that no buffer can hold; its length could not be calculated below.
  const std::size_t shards =
      std::max<std::size_t>(1, std::max(plan.reads().size(), plan.writes().size()));
  if (bytes > PTRDIFF_MAX / shards) {
    refuse("shard_bytes is ", bytes, "; expected at most ", PTRDIFF_MAX / shards, " for ", shards,
           " shards");
  }
  return {
      value_of(codec.prepare(plan, bytes, {.accumulate = accumulate, .stores = stores_of(stores)})),
      plan.reads().size(), plan.writes().size(), accumulate};
}

// Returns how many stripes of `shards` shards `buffer` holds.
std::size_t stripes_in(ConstShard buffer, std::size_t stripe_bytes, const char* name) {
  if (stripe_bytes == 0 || buffer.size() % stripe_bytes != 0) {
    refuse(name, " has ", buffer.size(), " bytes; expected a multiple of ", stripe_bytes);
  }
  return buffer.size() / stripe_bytes;
}

py::object run_stripes(const Prepared& self, py::handle inputs, py::object outputs) {
  const std::size_t bytes = self.plan.shard_bytes();
  const InputShards read = InputShards::one(inputs, "inputs");
  const ConstShard from = read.get()[0];
  const std::size_t stripes = stripes_in(from, self.reads * bytes, "inputs");
  const std::size_t output_stripe_bytes = self.writes * bytes;
  if (output_stripe_bytes > 0 && stripes > PTRDIFF_MAX / output_stripe_bytes) {
    refuse("inputs has ", stripes, " stripes; expected at most ",
           PTRDIFF_MAX / output_stripe_bytes);
  }
  const std::size_t output_bytes = stripes * output_stripe_bytes;
  if (outputs.is_none()) {
    if (self.accumulate) refuse("outputs is None; expected a buffer because accumulate is set");
    outputs = new_shard(output_bytes);
  }
  const OutputShards written = OutputShards::one(outputs, "outputs");
  const Shard to = written.get()[0];
  if (to.size() != output_bytes) {
    refuse("outputs has ", to.size(), " bytes; expected ", output_bytes, " for ", stripes,
           " stripes");
  }
  if (!from.empty() && !to.empty() && from.data() < to.data() + to.size() &&
      to.data() < from.data() + from.size()) {
    refuse("outputs overlaps inputs");
  }
  value_of(without_lock([&] {
    return self.plan.run_strided(
        stripes, {.base = from.data(), .shard_stride = bytes, .stripe_stride = self.reads * bytes},
        {.base = to.data(), .shard_stride = bytes, .stripe_stride = self.writes * bytes});
  }));
  return outputs;
}

}  // namespace

void bind_prepared(py::module_& module) {
  py::class_<Prepared> prepared(
      module, "PreparedPlan",
      "A plan for shards of one length, made by Codec.prepare.\n\n"
      "It codes many small stripes in one call, without a Python object per shard. Immutable;\n"
      "threads may share it.");
  prepared.attr("__module__") = "calpe";
  prepared.def_property_readonly(
      "shard_bytes", [](const Prepared& self) { return self.plan.shard_bytes(); },
      "The length of every shard.");
  prepared.def("run", &run_stripes, py::arg("inputs"), py::arg("outputs") = py::none(),
               "Codes all stripes of one buffer and returns the buffer of outputs.\n\n"
               "`inputs` holds the shards that the plan reads, stripe after stripe; `outputs`\n"
               "the shards that it writes, likewise. Without `outputs`, makes a bytearray.");
  module.def("prepare", &prepare);
}

}  // namespace calpe::python
