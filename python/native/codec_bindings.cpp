// SPDX-License-Identifier: Apache-2.0
#include <calpe/codec.hpp>

#include "native/bindings.hpp"
#include "native/codec_work.hpp"
#include "native/numbers.hpp"
#include "native/submit_work.hpp"

namespace calpe::python {

namespace {

Effort effort_of(const std::string& name) {
  if (name == "fast") return Effort::fast;
  if (name == "standard") return Effort::standard;
  if (name == "thorough") return Effort::thorough;
  refuse("effort is \"", name, "\"; expected \"fast\", \"standard\" or \"thorough\"");
}

CodecOptions options_of(py::handle object) {
  return {.backend = text_of(object.attr("backend"), "backend"),
          .threads = number_of<unsigned>(object.attr("threads"), "threads"),
          .plan_cache_entries =
              number_of<std::size_t>(object.attr("plan_cache_entries"), "plan_cache_entries"),
          .allow_unproven = object.attr("allow_unproven").cast<bool>(),
          .effort = effort_of(text_of(object.attr("effort"), "effort"))};
}

// `rows`: None, or the m x k coefficients of a custom code as one list.
Codec make_codec(py::handle spec_object, py::handle options_object, py::handle rows) {
  const CodeSpec spec = spec_of(spec_object);
  const CodecOptions options = options_of(options_object);
  if (rows.is_none()) return value_of(without_lock([&] { return Codec::create(spec, options); }));
  const std::vector<ShardIndex> cells = indices_of(rows, "matrix");
  return value_of(without_lock([&] { return Codec::create_from_matrix(spec, cells, options); }));
}

Plan plan_decode(const Codec& codec, py::handle available, py::handle wanted, py::handle costs) {
  const auto from = indices_of(available, "available");
  const auto to = indices_of(wanted, "wanted");
  std::vector<std::uint32_t> prices;
  if (!costs.is_none()) {
    for (const py::handle cost : py::iter(costs))
      prices.push_back(number_of<std::uint32_t>(cost, text("costs[", prices.size(), "]")));
  }
  return value_of(without_lock([&] { return codec.plan_decode(from, to, prices); }));
}

Plan plan_update(const Codec& codec, py::handle data_index, py::handle parity) {
  const auto index = number_of<ShardIndex>(data_index, "data_index");
  const auto written = indices_of(parity, "parity");
  return value_of(without_lock([&] { return codec.plan_update(index, written); }));
}

Plan plan_partial(const Codec& codec, const Plan& plan, py::handle held) {
  const auto shards = indices_of(held, "held");
  return value_of(without_lock([&] { return codec.plan_partial(plan, shards); }));
}

std::size_t parity_bytes(const Codec& codec, py::handle shard_bytes) {
  return codec.parity_bytes(number_of<std::size_t>(shard_bytes, "shard_bytes"));
}

std::size_t shard_bytes_for(const Codec& codec, py::handle object_bytes) {
  return codec.shard_bytes_for(number_of<std::size_t>(object_bytes, "object_bytes"));
}

py::tuple codable_range(const Codec& codec, py::handle offset, py::handle bytes,
                        py::handle shard_bytes) {
  const ByteRange wide = codec.codable_range({.offset = number_of<std::size_t>(offset, "offset"),
                                              .bytes = number_of<std::size_t>(bytes, "bytes")},
                                             number_of<std::size_t>(shard_bytes, "shard_bytes"));
  return py::make_tuple(wide.offset, wide.bytes);
}

}  // namespace

void bind_codec(py::module_& module) {
  py::class_<Codec> codec(module, "Codec");
  codec.def(py::init(&make_codec))
      .def("spec", [](const Codec& self) { return fields_of(self.spec()); })
      .def("proof", [](const Codec& self) { return fields_of(self.proof()); })
      .def("backend", &Codec::backend)
      .def("threads", &Codec::threads)
      .def("runs_on_caller", &Codec::runs_on_caller)
      .def("shard_bytes_multiple", &Codec::shard_bytes_multiple)
      .def("parity_bytes", &parity_bytes)
      .def("codable_range", &codable_range)
      .def("shard_bytes_for", &shard_bytes_for)
      .def("split", &split)
      .def("encode_object", &encode_object)
      .def("decode_object", &decode_object)
      .def("plan_encode", [](const Codec& self) { return self.plan_encode(); })
      .def("plan_decode", &plan_decode)
      .def("plan_update", &plan_update)
      .def("plan_partial", &plan_partial)
      .def("run", &run)
      .def("run_batch", &run_batch)
      .def("submit", &submit)
      .def("encode", &encode)
      .def("decode", &decode)
      .def("rebuild", &rebuild)
      .def("rebuild_batch", &rebuild_batch)
      .def("check_stream", &check_stream)
      .def("encode_stream", &encode_stream)
      .def("decode_stream", &decode_stream)
      .def("update", &update)
      .def("verify", &verify)
      .def("tag", &tag)
      .def("encode_tagged", &encode_tagged)
      .def("locate", &locate);
  module.def("add", &add_shard);
}

}  // namespace calpe::python
