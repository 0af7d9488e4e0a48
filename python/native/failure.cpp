// SPDX-License-Identifier: Apache-2.0
#include "native/failure.hpp"

namespace calpe::python {

void translate_failures() {
  py::register_local_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Failure& failure) {
      const py::object made =
          py::module_::import("calpe._errors")
              .attr("error_of")(static_cast<int>(failure.error.code), failure.error.message);
      PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
    }
  });
}

}  // namespace calpe::python
