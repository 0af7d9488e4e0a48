// SPDX-License-Identifier: Apache-2.0
// Parts of the module calpe._native, one file each.
#pragma once
#include <pybind11/pybind11.h>

namespace calpe::python {

void bind_codes(pybind11::module_& module);         // specs, profiles, proofs, backends
void bind_plan(pybind11::module_& module);          // Plan
void bind_prepared(pybind11::module_& module);      // PreparedPlan
void bind_queue_plan(pybind11::module_& module);    // QueuePlan
void bind_pending(pybind11::module_& module);       // Pending
void bind_codec(pybind11::module_& module);         // Codec, its properties and plans
void bind_equations(pybind11::module_& module);     // plans as XOR equations
void bind_tensor_bytes(pybind11::module_& module);  // memory of DLPack tensors
void bind_durability(pybind11::module_& module);    // probability of data loss

}  // namespace calpe::python
