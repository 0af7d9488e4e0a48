// SPDX-License-Identifier: Apache-2.0
#include <calpe/codec.hpp>

#include "native/bindings.hpp"
#include "native/buffers.hpp"
#include "native/numbers.hpp"

namespace calpe::python {

namespace {

py::list profiles() {
  py::list listed;
  for (const Profile& profile : list_profiles()) {
    py::list layouts;
    if (profile.bytes_layout) layouts.append("bytes");
    if (profile.packets_layout) layouts.append("packets");
    listed.append(
        py::make_tuple(profile.name, py::tuple(layouts), profile.construction, profile.compatible));
  }
  return listed;
}

py::list backends() {
  py::list listed;
  for (const BackendInfo& backend : without_lock(list_backends)) {
    listed.append(
        py::make_tuple(backend.name, backend.description, backend.available, backend.reason));
  }
  return listed;
}

py::dict prove_spec(py::handle object) {
  const CodeSpec spec = spec_of(object);
  return fields_of(value_of(without_lock([&] { return prove(spec); })));
}

py::list rows_of_spec(py::handle object) {
  const CodeSpec spec = spec_of(object);
  const auto rows = value_of(without_lock([&] { return parity_rows(spec); }));
  py::list listed;
  for (std::size_t first = 0; first < rows.size(); first += spec.data_shards)
    listed.append(tuple_of(std::span(rows).subspan(first, spec.data_shards)));
  return listed;
}

py::list count_patterns(py::handle object) {
  const CodeSpec spec = spec_of(object);
  py::list listed;
  for (const PatternCount& count : value_of(without_lock([&] { return count_recoverable(spec); })))
    listed.append(py::make_tuple(count.losses, count.patterns, count.recoverable));
  return listed;
}

py::bytes spec_to_bytes(py::handle object) {
  const SpecBytes bytes = value_of(encode_spec(spec_of(object)));
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

py::dict spec_from_bytes(py::handle buffer) {
  const InputShards held = InputShards::one(buffer, "data");
  return fields_of(value_of(decode_spec(held.get()[0])));
}

}  // namespace

void bind_codes(py::module_& module) {
  module.def("profiles", &profiles);
  module.def("backends", &backends);
  module.def("spec_to_bytes", &spec_to_bytes);
  module.def("spec_from_bytes", &spec_from_bytes);
  module.def("prove", &prove_spec);
  module.def("parity_rows", &rows_of_spec);
  module.def("count_recoverable", &count_patterns);
}

}  // namespace calpe::python
