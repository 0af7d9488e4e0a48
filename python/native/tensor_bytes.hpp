// SPDX-License-Identifier: Apache-2.0
// Tensors of other packages, such as PyTorch, through DLPack: the memory as a Python buffer,
// without a copy.
#pragma once
#include <string>

#include "native/failure.hpp"

namespace calpe::python {

// True if the object has __dlpack__ and __dlpack_device__.
bool is_tensor(py::handle object);

// Returns a buffer of bytes over the tensor's memory; it keeps the tensor alive. Tensors with wider
// items have a longer last dimension. Throws Failure (invalid_argument), which names `operand`, if
// the tensor is not in CPU memory, has items of less than a byte, or cannot be exported.
py::object tensor_buffer(py::handle tensor, const std::string& operand);

}  // namespace calpe::python
