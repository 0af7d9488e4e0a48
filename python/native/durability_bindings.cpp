// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <optional>
#include <string>

#include "base/try.hpp"
#include "durability/estimate.hpp"
#include "durability/known_code.hpp"
#include "native/bindings.hpp"
#include "native/numbers.hpp"

namespace calpe::python {

namespace {

using durability::Inputs;

struct Answer {
  durability::Scheme scheme;
  std::vector<std::string> notes;
  durability::Estimate estimate;
};

double real_of(py::handle object, const std::string& name) {
  const double number = PyFloat_AsDouble(object.ptr());
  if (PyErr_Occurred() == nullptr) return number;
  PyErr_Clear();
  throw py::type_error(text(name, " is ", Py_TYPE(object.ptr())->tp_name, "; expected a float"));
}

durability::Model model_of(py::handle object) {
  const auto name = object.cast<std::string>();
  if (name == "chain") return durability::Model::chain;
  if (name == "window") return durability::Model::window;
  refuse("model is \"", name, "\"; expected \"chain\" or \"window\"");
}

void set_life(Inputs& in, const std::string& name, py::handle given) {
  if (name == "weibull") {
    const auto pair = given.cast<py::tuple>();
    if (pair.size() != 2) refuse("weibull has ", pair.size(), " parts; expected (shape, hours)");
    in.life = value_of(durability::life_from_weibull(real_of(pair[0], "weibull[0]"),
                                                     real_of(pair[1], "weibull[1]")));
    return;
  }
  const double number = real_of(given, name);
  if (name == "afr") in.life = value_of(durability::life_from_afr(number));
  if (name == "failures_per_year") in.life = value_of(durability::life_from_rate(number));
  if (name == "mttf_hours") in.life = value_of(durability::life_from_mttf(number));
}

// Keys are the names of the structure's fields.
bool set_number(Inputs& in, const std::string& name, py::handle given) {
  static const std::map<std::string, double Inputs::*> numbers = {
      {"capacity_bytes", &Inputs::capacity_bytes},
      {"fill", &Inputs::fill},
      {"read_errors_per_bit", &Inputs::read_errors_per_bit},
      {"latent_errors_per_tb_year", &Inputs::latent_errors_per_tb_year},
      {"scrub_days", &Inputs::scrub_days},
      {"shard_bytes", &Inputs::shard_bytes},
      {"read_bytes_per_s", &Inputs::read_bytes_per_s},
      {"write_bytes_per_s", &Inputs::write_bytes_per_s},
      {"rebuild_share", &Inputs::rebuild_share},
      {"detect_hours", &Inputs::detect_hours},
      {"replace_hours", &Inputs::replace_hours},
      {"shocks_per_year", &Inputs::shocks_per_year},
      {"shock_hit", &Inputs::shock_hit},
      {"batch_factor", &Inputs::batch_factor},
      {"mission_years", &Inputs::mission_years}};
  static const std::map<std::string, std::optional<double> Inputs::*> limits = {
      {"network_bytes_per_s", &Inputs::network_bytes_per_s},
      {"decode_bytes_per_s", &Inputs::decode_bytes_per_s},
      {"repair_hours", &Inputs::repair_hours}};
  if (const auto field = numbers.find(name); field != numbers.end()) {
    in.*field->second = real_of(given, name);
    return true;
  }
  if (const auto field = limits.find(name); field != limits.end()) {
    in.*field->second = real_of(given, name);
    return true;
  }
  return false;
}

Inputs inputs_of(const py::dict& given) {
  Inputs in;
  for (const auto& [key, value] : given) {
    const auto name = key.cast<std::string>();
    if (set_number(in, name, value)) continue;
    if (name == "model") {
      in.model = model_of(value);
    } else if (name == "devices") {
      in.devices = number_of<std::uint64_t>(value, name);
    } else if (name == "pool_devices") {
      in.pool_devices = number_of<std::uint64_t>(value, name);
    } else if (name == "is_repair_serial") {
      in.is_repair_serial = value.cast<bool>();
    } else {
      set_life(in, name, value);
    }
  }
  return in;
}

Result<Answer> answer(const durability::CodeChoice& code, const Inputs& in) {
  CALPE_TRY(durability::KnownCode known, durability::know_code(code));
  CALPE_CHECK(durability::check(in, known.scheme));
  const durability::Estimate estimate = durability::estimate(known.scheme, in);
  return Answer{std::move(known.scheme), std::move(known.notes), estimate};
}

py::dict fields_of_losses(const durability::LossProbability& losses) {
  py::dict fields;
  fields["device"] = losses.device;
  fields["read_error"] = losses.read_error;
  fields["correlated"] = losses.correlated;
  fields["any"] = losses.any;
  fields["any_clustered"] = losses.any_clustered;
  return fields;
}

void add_scheme(py::dict& fields, const Answer& answer) {
  fields["code"] = answer.scheme.name;
  fields["overhead"] = answer.scheme.overhead();
  fields["sure_losses"] = answer.scheme.sure_losses();
  fields["single_reads"] = answer.scheme.single_reads;
  py::list notes;
  for (const std::string& note : answer.notes)
    notes.append(note);
  fields["notes"] = py::tuple(notes);
}

py::dict fields_of_answer(const Answer& answer) {
  const durability::Estimate& found = answer.estimate;
  py::dict fields;
  add_scheme(fields, answer);
  fields["rebuild_hours"] = found.rebuild.hours();
  fields["bottleneck"] = name_of(found.rebuild.bottleneck);
  fields["groups"] = found.groups;
  fields["usable_bytes"] = found.usable_bytes;
  fields["failures_per_year"] = found.failures_per_year;
  fields["device_losses"] = found.device_losses;
  fields["log10_device_losses"] = found.log10_device_losses;
  fields["lost_stripes"] = found.lost_stripes;
  fields["read_error_losses"] = found.read_error_losses;
  fields["correlated_losses"] = found.correlated_losses;
  fields["year"] = fields_of_losses(found.year);
  fields["mission"] = fields_of_losses(found.mission);
  fields["nines"] = found.nines;
  fields["nomdl"] = found.nomdl;
  fields["lost_bytes"] = found.lost_bytes;
  fields["full_read"] = found.full_read;
  return fields;
}

// `code` is "10+4", or (profile, k, m, local groups).
durability::CodeChoice choice_of(py::handle code) {
  if (py::isinstance<py::str>(code))
    return value_of(durability::parse_code(code.cast<std::string>()));
  const auto parts = code.cast<py::tuple>();
  return {.profile = parts[0].cast<std::string>(),
          .data = number_of<unsigned>(parts[1], "data_shards"),
          .parity = number_of<unsigned>(parts[2], "parity_shards"),
          .groups = number_of<unsigned>(parts[3], "local_groups")};
}

py::dict estimate(py::handle code, const py::dict& given) {
  const durability::CodeChoice choice = choice_of(code);
  const Inputs in = inputs_of(given);
  return fields_of_answer(value_of(without_lock([&] { return answer(choice, in); })));
}

}  // namespace

void bind_durability(py::module_& module) {
  module.def("durability", &estimate);
}

}  // namespace calpe::python
