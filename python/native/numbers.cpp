// SPDX-License-Identifier: Apache-2.0
#include "native/numbers.hpp"

#include <string>

namespace calpe::python {

namespace {

Layout layout_of(const std::string& name) {
  if (name == "bytes") return Layout::bytes;
  if (name == "packets") return Layout::packets;
  refuse("layout is \"", name, "\"; expected \"bytes\" or \"packets\"");
}

std::string profile_name(CodeFamily family) {
  for (const Profile& profile : list_profiles()) {
    if (profile.family == family) return std::string(profile.name);
  }
  return "custom";  // the only family without a profile
}

template <class T>
T field_of(py::handle spec, const char* name) {
  return number_of<T>(spec.attr(name), name);
}

}  // namespace

std::string text_of(py::handle object, std::string_view name) {
  if (!py::isinstance<py::str>(object))
    throw py::type_error(text(name, " is ", std::string(py::repr(object)), "; expected a str"));
  return object.cast<std::string>();
}

std::vector<ShardIndex> indices_of(py::handle numbers, std::string_view name) {
  std::vector<ShardIndex> indices;
  for (const py::handle number : py::iter(numbers)) {
    indices.push_back(number_of<ShardIndex>(number, text(name, "[", indices.size(), "]")));
  }
  return indices;
}

py::tuple tuple_of(std::span<const ShardIndex> indices) {
  py::tuple made(indices.size());
  for (std::size_t i = 0; i < indices.size(); ++i)
    made[i] = py::int_(indices[i]);
  return made;
}

CodeSpec spec_of(py::handle object) {
  CodeSpec spec{.family = CodeFamily::custom};
  const auto profile = text_of(object.attr("profile"), "profile");
  if (profile != "custom") spec = value_of(find_profile(profile));
  const py::object layout = object.attr("layout");
  if (!layout.is_none()) spec.layout = layout_of(text_of(layout, "layout"));
  spec.data_shards = field_of<std::uint32_t>(object, "data_shards");
  spec.parity_shards = field_of<std::uint32_t>(object, "parity_shards");
  spec.word_bits = field_of<std::uint8_t>(object, "word_bits");
  spec.polynomial = field_of<std::uint32_t>(object, "polynomial");
  spec.packet_bytes = field_of<std::uint32_t>(object, "packet_bytes");
  spec.local_groups = field_of<std::uint32_t>(object, "local_groups");
  spec.matrix_hash = field_of<std::uint64_t>(object, "matrix_hash");
  return spec;
}

py::dict fields_of(const CodeSpec& spec) {
  py::dict fields;
  fields["profile"] = profile_name(spec.family);
  fields["layout"] = spec.layout == Layout::bytes ? "bytes" : "packets";
  fields["data_shards"] = spec.data_shards;
  fields["parity_shards"] = spec.parity_shards;
  fields["word_bits"] = spec.word_bits;
  fields["polynomial"] = spec.polynomial;
  fields["packet_bytes"] = spec.packet_bytes;
  fields["local_groups"] = spec.local_groups;
  fields["matrix_hash"] = spec.matrix_hash;
  return fields;
}

py::dict fields_of(const CodeProof& proof) {
  py::dict fields;
  fields["kind"] = proof_kind_name(proof.kind);
  fields["proven"] = proof.proven();
  fields["losses"] = proof.losses;
  fields["minors"] = proof.minors;
  fields["dead_pattern"] = tuple_of(proof.dead_pattern);
  fields["text"] = proof.text;
  return fields;
}

}  // namespace calpe::python
