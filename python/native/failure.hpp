// SPDX-License-Identifier: Apache-2.0
// Converts errors to Python exceptions, and runs work without the interpreter lock.
#pragma once
#include <exception>
#include <pybind11/pybind11.h>
#include <span>
#include <utility>

#include <calpe/result.hpp>

#include "base/rename.hpp"
#include "base/text.hpp"

namespace calpe::python {

namespace py = pybind11;

// Becomes the exception of calpe._errors for its code.
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

// The same for a call whose operands have other names in Python.
template <class T>
T value_of(Result<T> result, std::span<const Rename> names) {
  if (result) return *std::move(result);
  Error error = std::move(result).error();
  error.message = renamed(error.message, names);
  throw Failure(std::move(error));
}

template <class... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
  throw Failure(invalid(parts...));
}

// Releases the interpreter lock, so `work` must not touch Python objects.
template <class Work>
auto without_lock(const Work& work) {
  const py::gil_scoped_release released;
  return work();
}

void translate_failures();

}  // namespace calpe::python
