// SPDX-License-Identifier: Apache-2.0
// calpe._native: the C++ API for the Python sources in python/calpe, which are the public API.
#include <pybind11/pybind11.h>

#include <calpe/codec.hpp>

#include "native/bindings.hpp"
#include "native/failure.hpp"

PYBIND11_MODULE(_native, module) {
  using namespace calpe::python;
  module.attr("version") = std::string(calpe::version());
  translate_failures();
  bind_codes(module);
  bind_tensor_bytes(module);
  bind_plan(module);
  bind_prepared(module);
  bind_queue_plan(module);
  bind_pending(module);
  bind_codec(module);
  bind_equations(module);
  bind_durability(module);
}
