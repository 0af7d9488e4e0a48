// SPDX-License-Identifier: Apache-2.0
#include <calpe/codec.hpp>

#include "native/bindings.hpp"
#include "native/numbers.hpp"

namespace calpe::python {

namespace {

py::tuple rows_of(const Plan& plan) {
  const std::size_t columns = plan.reads().size();
  py::tuple rows(plan.writes().size());
  for (std::size_t r = 0; r < rows.size(); ++r)
    rows[r] = tuple_of(plan.coefficients().subspan(r * columns, columns));
  return rows;
}

std::string describe(const Plan& plan) {
  return text("<calpe.Plan: writes ", join(plan.writes()), " from ", join(plan.reads()), ">");
}

}  // namespace

void bind_plan(py::module_& module) {
  py::class_<Plan> plan(
      module, "Plan",
      "A matrix of coefficients with the shards it reads and writes.\n\n"
      "Codec.plan_encode, plan_decode, plan_update and plan_partial return plans. A plan is\n"
      "immutable and valid with every codec of the same spec. Create one per failure pattern\n"
      "and use it for every stripe with that pattern.");
  plan.attr("__module__") = "calpe";
  plan.def_property_readonly(
      "reads", [](const Plan& self) { return tuple_of(self.reads()); },
      "Indices of the shards to read, ascending.");
  plan.def_property_readonly(
      "writes", [](const Plan& self) { return tuple_of(self.writes()); },
      "Indices of the shards to write, in the order given to the codec.");
  plan.def_property_readonly("coefficients", &rows_of,
                             "One row per written shard, with one coefficient per read shard.");
  plan.def("__repr__", &describe);
}

}  // namespace calpe::python
