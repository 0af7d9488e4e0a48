// SPDX-License-Identifier: Apache-2.0
// From errors as values to Python's exceptions, and work without the interpreter's lock.
#pragma once
#include <exception>
#include <pybind11/pybind11.h>
#include <utility>

#include <calpe/result.hpp>

#include "base/text.hpp"

namespace calpe::python {

namespace py = pybind11;

// Becomes the exception of calpe._errors that belongs to the code.
struct Failure : std::exception {
  explicit Failure(Error error_) : error(std::move(error_)) {}
  const char* what() const noexcept override { return error.message.c_str(); }
  Error error;
};

template <class T>
T value_of(Result<T> result) {
  if (!result) throw Failure(std::move(result).error());
  return *std::move(result);
}

template <class... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
  throw Failure(invalid(parts...));
}

// Other Python threads run meanwhile: `work` must not touch Python's objects.
template <class Work>
auto without_lock(const Work& work) {
  const py::gil_scoped_release released;
  return work();
}

void translate_failures();

}  // namespace calpe::python
