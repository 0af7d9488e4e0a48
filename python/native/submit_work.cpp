// SPDX-License-Identifier: Apache-2.0
#include "native/submit_work.hpp"

#include <string>

#include "native/bindings.hpp"
#include "native/codec_work.hpp"

namespace calpe::python {

HeldBatch::HeldBatch(py::handle stripes) {
  for (const py::handle item : py::iter(stripes)) {
    const std::string name = text("stripes[", stripes_.size(), "]");
    const auto pair = py::reinterpret_steal<py::object>(PySequence_Tuple(item.ptr()));
    if (!pair) throw py::error_already_set();
    if (PyTuple_GET_SIZE(pair.ptr()) != 2) {
      refuse(name, " has ", PyTuple_GET_SIZE(pair.ptr()), " parts; expected (inputs, outputs)");
    }
    inputs_.emplace_back(PyTuple_GET_ITEM(pair.ptr(), 0), name + ".inputs");
    outputs_.emplace_back(PyTuple_GET_ITEM(pair.ptr(), 1), name + ".outputs");
    stripes_.push_back({inputs_.back().get(), outputs_.back().get()});
  }
}

BackgroundWork::BackgroundWork(const Codec& codec, const Plan& plan, py::handle stripes,
                               RunOptions options)
    : batch_(std::in_place, stripes) {
  pending_ = value_of(without_lock([&] { return codec.submit(plan, batch_->get(), options); }));
}

BackgroundWork::~BackgroundWork() {
  (void)wait_without_lock();
}

Status BackgroundWork::wait_without_lock() {
  return without_lock([&] {
    std::unique_lock lock(mutex_, std::defer_lock);
    if (getpid() == process_) lock.lock();
    return pending_->wait();
  });
}

void BackgroundWork::wait() {
  Status done = wait_without_lock();
  batch_.reset();
  value_of(std::move(done));
}

void bind_pending(py::module_& module) {
  py::class_<BackgroundWork> pending(
      module, "Pending",
      "Work that Codec.submit started.\n\n"
      "It holds the buffers of the stripes until wait() returns. Do not use them before. It may\n"
      "outlive the codec. Deleting it waits. As a context manager it waits at the end.");
  pending.attr("__module__") = "calpe";
  pending.def("wait", &BackgroundWork::wait,
              "Waits until all outputs are written. Raises the error if the work failed.");
  pending.def("__enter__", [](py::object self) { return self; });
  pending.def("__exit__", [](BackgroundWork& self, const py::args&) { self.wait(); });
}

}  // namespace calpe::python
