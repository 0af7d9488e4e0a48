// SPDX-License-Identifier: Apache-2.0
#include "native/buffers.hpp"

#include <span>
#include <string>

#include "native/tensor_bytes.hpp"

namespace calpe::python {

namespace {

std::string type_name(py::handle object) {
  return Py_TYPE(object.ptr())->tp_name;
}

std::string element(std::string_view name, std::size_t index) {
  return text(name, "[", index, "]");
}

[[noreturn]] void throw_not_a_buffer(py::handle object, const std::string& operand) {
  throw py::type_error(text(operand, " is ", type_name(object),
                            "; expected an object with the buffer protocol, such as bytearray, "
                            "memoryview or a NumPy array, or a CPU tensor with __dlpack__"));
}

std::string tuple_text(const Py_ssize_t* numbers, int count) {
  return text("(", join(std::span<const Py_ssize_t>(numbers, static_cast<std::size_t>(count))),
              ")");
}

[[noreturn]] void refuse_gaps(const Py_buffer& view, const std::string& operand) {
  refuse(operand, " is not contiguous: shape ", tuple_text(view.shape, view.ndim), ", strides ",
         tuple_text(view.strides, view.ndim),
         "; expected bytes without gaps, such as those of numpy.ascontiguousarray()");
}

// Checks for Python objects (code O) in a format, which may have field names between colons.
bool holds_objects(const char* format) {
  bool in_name = false;
  for (; format != nullptr && *format != '\0'; ++format) {
    if (*format == ':') in_name = !in_name;
    if (*format == 'O' && !in_name) return true;
  }
  return false;
}

// Returns the bytes of the dimensions starting at `from`; refuses gaps. ctypes has no strides.
std::size_t contiguous_bytes(const Py_buffer& view, int from, const std::string& operand) {
  Py_ssize_t bytes = view.itemsize;
  for (int dimension = view.ndim - 1; dimension >= from; --dimension) {
    const Py_ssize_t count = view.shape[dimension];
    if (view.strides != nullptr && view.len != 0 && count > 1 && view.strides[dimension] != bytes)
      refuse_gaps(view, operand);
    bytes *= count;
  }
  return static_cast<std::size_t>(bytes);
}

}  // namespace

template <class View>
HeldShards<View>::HeldShards(py::handle shards, std::string_view name) : HeldShards() {
  take(shards, name, false);
}

template <class View>
HeldShards<View> HeldShards<View>::with_missing(py::handle shards, std::string_view name) {
  HeldShards held;
  held.take(shards, name, true);
  return held;
}

template <class View>
HeldShards<View> HeldShards<View>::one(py::handle buffer, std::string_view name) {
  HeldShards held;
  held.held_.reserve(1);
  held.take_one(buffer, std::string(name));
  return held;
}

// Also runs if the constructor throws, because that delegates to a completed constructor.
template <class View>
HeldShards<View>::~HeldShards() {
  for (Py_buffer& view : held_)
    PyBuffer_Release(&view);
}

template <class View>
const Py_buffer& HeldShards<View>::hold(py::handle object, const std::string& operand) {
  const py::object source = buffer_source(object, operand);
  Py_buffer& view = held_.emplace_back();
  if (PyObject_GetBuffer(source.ptr(), &view, is_written ? PyBUF_RECORDS : PyBUF_RECORDS_RO) != 0) {
    held_.pop_back();
    const py::error_already_set reason;
    Py_buffer readable;
    if (is_written && PyObject_GetBuffer(source.ptr(), &readable, PyBUF_RECORDS_RO) == 0) {
      PyBuffer_Release(&readable);
      refuse(operand, " is read-only (", type_name(object), "); expected a writable buffer");
    }
    PyErr_Clear();
    refuse(operand, " (", type_name(object), ") provides no buffer: ", reason.what());
  }
  if (holds_objects(view.format))
    refuse(operand, " holds Python objects (format ", view.format, "); expected plain bytes");
  return view;
}

template <class View>
void HeldShards<View>::take(py::handle shards, std::string_view name, bool may_miss) {
  const bool is_list = PyList_Check(shards.ptr()) != 0 || PyTuple_Check(shards.ptr()) != 0;
  if (!is_list && (PyObject_CheckBuffer(shards.ptr()) != 0 || is_tensor(shards))) {
    take_rows(shards, std::string(name));
  } else {
    take_each(shards, name, may_miss);
  }
}

template <class View>
void HeldShards<View>::take_one(py::handle object, const std::string& operand) {
  const Py_buffer& view = hold(object, operand);
  const std::size_t bytes = contiguous_bytes(view, 0, operand);
  shards_.emplace_back(static_cast<typename View::element_type*>(view.buf), bytes);
}

template <class View>
void HeldShards<View>::take_rows(py::handle object, const std::string& operand) {
  held_.reserve(1);
  const Py_buffer& view = hold(object, operand);
  if (view.ndim < 2) {
    refuse(operand, " is one buffer of ", view.ndim, view.ndim == 1 ? " dimension" : " dimensions",
           "; expected a sequence of shards, or a buffer of 2 dimensions whose rows are shards");
  }
  const std::size_t bytes = contiguous_bytes(view, 1, operand);
  const auto stride = view.strides == nullptr ? static_cast<Py_ssize_t>(bytes) : view.strides[0];
  shards_.reserve(static_cast<std::size_t>(view.shape[0]));
  for (Py_ssize_t row = 0; row < view.shape[0]; ++row) {
    auto* const at = static_cast<typename View::element_type*>(view.buf) + row * stride;
    shards_.emplace_back(at, bytes);
  }
}

template <class View>
void HeldShards<View>::take_each(py::handle sequence, std::string_view name, bool may_miss) {
  // Copy the references, because the buffer protocol may run code that changes the sequence.
  const auto objects = py::reinterpret_steal<py::object>(PySequence_Tuple(sequence.ptr()));
  if (!objects) {
    if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw py::error_already_set();
    PyErr_Clear();
    throw py::type_error(text(name, " is ", type_name(sequence),
                              "; expected a sequence of shards, or a buffer of 2 dimensions"));
  }
  const auto count = static_cast<std::size_t>(PyTuple_GET_SIZE(objects.ptr()));
  held_.reserve(count);
  shards_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const py::handle object = PyTuple_GET_ITEM(objects.ptr(), static_cast<Py_ssize_t>(i));
    if (may_miss && object.is_none()) {
      shards_.emplace_back();
      missing_.push_back(static_cast<ShardIndex>(i));
    } else {
      take_one(object, element(name, i));
    }
  }
}

template class HeldShards<ConstShard>;
template class HeldShards<Shard>;

py::object buffer_source(py::handle object, const std::string& operand) {
  if (PyObject_CheckBuffer(object.ptr()) != 0) return py::reinterpret_borrow<py::object>(object);
  if (!is_tensor(object)) throw_not_a_buffer(object, operand);
  return tensor_buffer(object, operand);
}

py::object new_shard(std::size_t bytes) {
  auto made = py::reinterpret_steal<py::object>(
      PyByteArray_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(bytes)));
  if (!made) throw py::error_already_set();
  return made;
}

py::list new_shards(std::size_t count, std::size_t bytes) {
  py::list made(count);
  for (std::size_t i = 0; i < count; ++i)
    made[i] = new_shard(bytes);
  return made;
}

}  // namespace calpe::python
