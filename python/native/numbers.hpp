// SPDX-License-Identifier: Apache-2.0
// Converts Python objects to numbers and specs. Errors name the operand.
#pragma once
#include <concepts>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <calpe/codec.hpp>

#include "native/failure.hpp"

namespace calpe::python {

// Accepts any object with __index__. Throws TypeError, or Failure (invalid_argument).
template <std::unsigned_integral T>
T number_of(py::handle object, std::string_view name) {
  const auto index = py::reinterpret_steal<py::object>(PyNumber_Index(object.ptr()));
  if (!index) {
    PyErr_Clear();
    throw py::type_error(text(name, " is ", Py_TYPE(object.ptr())->tp_name, "; expected an int"));
  }
  const unsigned long long number = PyLong_AsUnsignedLongLong(index.ptr());
  const bool fits = PyErr_Occurred() == nullptr && number <= std::numeric_limits<T>::max();
  PyErr_Clear();
  if (!fits) {
    refuse(name, " is ", std::string(py::str(index)), "; expected 0..",
           std::numeric_limits<T>::max());
  }
  return static_cast<T>(number);
}

// Accepts str only. Throws TypeError, which names the value: it may be the number of a C constant.
std::string text_of(py::handle object, std::string_view name);

// Accepts any iterable of ints.
std::vector<ShardIndex> indices_of(py::handle numbers, std::string_view name);
py::tuple tuple_of(std::span<const ShardIndex> indices);

// Convert from and to the fields of calpe.CodeSpec.
CodeSpec spec_of(py::handle spec);
py::dict fields_of(const CodeSpec& spec);

py::dict fields_of(const CodeProof& proof);

}  // namespace calpe::python
