// SPDX-License-Identifier: Apache-2.0
#include "native/tensor_bytes.hpp"

#include <vector>

#include "native/bindings.hpp"
#include "native/dlpack.hpp"

namespace calpe::python {

namespace {

// Owns one exported tensor. The deleter may need the interpreter lock, which Python holds when it
// destroys an object.
class TensorBytes {
 public:
  TensorBytes(py::object capsule, const std::string& operand) { take(capsule.ptr(), operand); }
  ~TensorBytes() {
    if (managed_ != nullptr && managed_->deleter != nullptr) managed_->deleter(managed_);
    if (versioned_ != nullptr && versioned_->deleter != nullptr) versioned_->deleter(versioned_);
  }
  TensorBytes(const TensorBytes&) = delete;
  TensorBytes& operator=(const TensorBytes&) = delete;

  bool is_read_only() const noexcept {
    return versioned_ != nullptr &&
           (versioned_->flags & (dlpack::flag_read_only | dlpack::flag_copied)) != 0;
  }
  const dlpack::Tensor& tensor() const noexcept {
    return versioned_ != nullptr ? versioned_->tensor : managed_->tensor;
  }

  py::buffer_info bytes() const;

 private:
  // Renames the capsule, which tells the exporter that the tensor has a new owner.
  void take(PyObject* capsule, const std::string& operand) {
    if (PyCapsule_IsValid(capsule, "dltensor_versioned") != 0) {
      auto* const found =
          static_cast<dlpack::Versioned*>(PyCapsule_GetPointer(capsule, "dltensor_versioned"));
      if (found->major != dlpack::major_known) {
        refuse(operand, " exports DLPack version ", found->major, ".", found->minor,
               "; expected 1.x or an unversioned tensor");
      }
      versioned_ = found;
      PyCapsule_SetName(capsule, "used_dltensor_versioned");
    } else if (PyCapsule_IsValid(capsule, "dltensor") != 0) {
      managed_ = static_cast<dlpack::Managed*>(PyCapsule_GetPointer(capsule, "dltensor"));
      PyCapsule_SetName(capsule, "used_dltensor");
    } else {
      refuse(operand, ": __dlpack__ returned no DLPack capsule");
    }
  }

  dlpack::Managed* managed_ = nullptr;
  dlpack::Versioned* versioned_ = nullptr;
};

std::size_t item_bytes(const dlpack::DataType& type) {
  return std::size_t{type.bits} * type.lanes / 8;
}

// Merges the bytes of an item into the last dimension. If that has gaps, its stride stays longer
// than its items, and the shard is refused as not contiguous.
py::buffer_info TensorBytes::bytes() const {
  const dlpack::Tensor& from = tensor();
  if (from.dimensions < 0) refuse("the tensor has ", from.dimensions, " dimensions");
  const auto item = static_cast<py::ssize_t>(item_bytes(from.type));
  const auto count = static_cast<std::size_t>(from.dimensions);
  std::vector<py::ssize_t> shape(from.shape, from.shape + count);
  std::vector<py::ssize_t> strides(count);
  py::ssize_t next = item;
  for (std::size_t i = count; i-- > 0;) {
    strides[i] = from.strides == nullptr ? next : static_cast<py::ssize_t>(from.strides[i]) * item;
    next *= shape[i];
  }
  if (count == 0) {
    shape.push_back(item);
    strides.push_back(1);
  } else if (strides.back() == item || shape.back() <= 1) {
    shape.back() *= item;
    strides.back() = 1;
  }
  auto* const start = static_cast<std::byte*>(from.data) + from.byte_offset;
  const auto dimensions = static_cast<py::ssize_t>(shape.size());
  return {start, 1, "B", dimensions, std::move(shape), std::move(strides), is_read_only()};
}

// Without the traceback that error.what() adds.
[[noreturn]] void refuse_export(const py::error_already_set& error, const std::string& operand) {
  refuse(operand, " cannot be exported by DLPack: ", py::str(error.value()).cast<std::string>());
}

// Version 1 can say that memory is read-only. Older exporters do not know the arguments.
py::object exported(py::handle tensor, const std::string& operand) {
  const auto method = tensor.attr("__dlpack__");
  try {
    return method(py::arg("max_version") = py::make_tuple(dlpack::major_known, 0),
                  py::arg("copy") = false);
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_TypeError)) refuse_export(error, operand);
  }
  try {
    return method();
  } catch (const py::error_already_set& error) {
    refuse_export(error, operand);
  }
}

}  // namespace

bool is_tensor(py::handle object) {
  return py::hasattr(object, "__dlpack__") && py::hasattr(object, "__dlpack_device__");
}

py::object tensor_buffer(py::handle tensor, const std::string& operand) {
  const py::tuple device = tensor.attr("__dlpack_device__")();
  const auto type = py::int_(device[0]).cast<std::int32_t>();
  if (type != dlpack::cpu && type != dlpack::cuda_host && type != dlpack::rocm_host) {
    refuse(operand, " (", Py_TYPE(tensor.ptr())->tp_name, ") is on DLPack device type ", type,
           "; expected CPU memory");
  }
  auto owned = std::make_unique<TensorBytes>(exported(tensor, operand), operand);
  const dlpack::DataType& items = owned->tensor().type;
  if (items.bits % 8 != 0 || items.bits == 0) {
    refuse(operand, " has items of ", int{items.bits}, " bits; expected whole bytes");
  }
  return py::cast(std::move(owned));
}

void bind_tensor_bytes(py::module_& module) {
  py::class_<TensorBytes>(module, "_TensorBytes", py::buffer_protocol())
      .def_buffer(&TensorBytes::bytes);
}

}  // namespace calpe::python
