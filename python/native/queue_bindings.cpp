// SPDX-License-Identifier: Apache-2.0
// Plans in a stream or queue of the caller. Handles and addresses are ints, as other packages have
// them: torch.cuda.Stream.cuda_stream, Tensor.data_ptr().
#include <cstdint>
#include <vector>

#include <calpe/device_memory.hpp>
#include <calpe/device_queue.hpp>

#include "native/bindings.hpp"
#include "native/codec_work.hpp"
#include "native/numbers.hpp"

namespace calpe::python {

namespace {

struct Queued {
  QueuePlan plan;
  std::size_t reads;
  std::size_t writes;
};

Queued prepare_queue(const Codec& codec, const Plan& plan, py::handle shard_bytes,
                     bool accumulate) {
  const auto bytes = number_of<std::size_t>(shard_bytes, "shard_bytes");
  return {value_of(without_lock(
              [&] { return QueuePlan::create(codec, plan, bytes, {.accumulate = accumulate}); })),
          plan.reads().size(), plan.writes().size()};
}

std::byte* address_of(py::handle object, std::string_view name) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address from the caller's driver
  return reinterpret_cast<std::byte*>(number_of<std::uintptr_t>(object, name));
}

std::vector<std::byte*> addresses_of(py::handle list, const char* name) {
  std::vector<std::byte*> all;
  for (const py::handle entry : py::iter(list))
    all.push_back(address_of(entry, text(name, "[", all.size(), "]")));
  return all;
}

struct Operands {
  std::vector<std::byte*> inputs;
  std::vector<std::byte*> outputs;
  Shard workspace;
  std::size_t stripes = 0;

  Operands(const Queued& plan, py::handle inputs_given, py::handle outputs_given,
           py::handle workspace_given, py::handle workspace_bytes)
      : inputs(addresses_of(inputs_given, "inputs")),
        outputs(addresses_of(outputs_given, "outputs")),
        workspace(address_of(workspace_given, "workspace"),
                  number_of<std::size_t>(workspace_bytes, "workspace_bytes")) {
    if (plan.writes == 0) return;
    stripes = outputs.size() / plan.writes;
    if (outputs.size() % plan.writes != 0) {
      refuse("outputs has ", outputs.size(), " addresses; expected a multiple of ", plan.writes);
    }
    if (inputs.size() != stripes * plan.reads) {
      refuse("inputs has ", inputs.size(), " addresses; expected ", stripes * plan.reads, " for ",
             stripes, " stripes");
    }
  }
};

void enqueue_cuda(const Queued& self, py::handle stream, py::handle inputs, py::handle outputs,
                  py::handle workspace, py::handle workspace_bytes) {
  void* const handle = address_of(stream, "stream");
  const Operands all(self, inputs, outputs, workspace, workspace_bytes);
  value_of(without_lock([&] {
    return self.plan.enqueue_cuda(handle, all.stripes, all.inputs.data(), all.outputs.data(),
                                  all.workspace);
  }));
}

void enqueue_opencl(const Queued& self, py::handle queue, py::handle inputs, py::handle outputs,
                    py::handle workspace, py::handle workspace_bytes) {
  void* const handle = address_of(queue, "queue");
  const Operands all(self, inputs, outputs, workspace, workspace_bytes);
  value_of(without_lock([&] {
    return self.plan.enqueue_opencl(handle, all.stripes, all.inputs.data(), all.outputs.data(),
                                    all.workspace);
  }));
}

}  // namespace

void bind_queue_plan(py::module_& module) {
  py::class_<Queued> queued(
      module, "QueuePlan",
      "A plan for shards of one length, for a CUDA stream or OpenCL queue of the caller. Made by\n"
      "Codec.prepare_queue.\n\n"
      "Enqueued work begins after all that the queue holds, and what the queue gets later finds\n"
      "its results. No call waits for the device. Keep the plan until the work is done, and as\n"
      "long as a CUDA graph that captured it can be launched.");
  queued.attr("__module__") = "calpe";
  queued.def_property_readonly(
      "shard_bytes", [](const Queued& self) { return self.plan.shard_bytes(); },
      "The length of every shard.");
  queued.def(
      "workspace_bytes",
      [](const Queued& self, py::handle stripe_count) {
        return self.plan.workspace_bytes(number_of<std::size_t>(stripe_count, "stripe_count"));
      },
      py::arg("stripe_count") = 1, "Returns the length of the workspace for stripe_count stripes.");
  queued.def(
      "enqueue_cuda", &enqueue_cuda, py::arg("stream"), py::arg("inputs"), py::arg("outputs"),
      py::arg("workspace"), py::arg("workspace_bytes"),
      "Applies the plan in a CUDA stream, whose handle is an int; 0 is the default stream.\n\n"
      "`inputs` and `outputs` are addresses of shards on the device, stripe after stripe;\n"
      "`workspace` is the address of device memory that the work uses until it is done.");
  queued.def("enqueue_opencl", &enqueue_opencl, py::arg("queue"), py::arg("inputs"),
             py::arg("outputs"), py::arg("workspace"), py::arg("workspace_bytes"),
             "The same in an OpenCL queue, whose handle is the cl_command_queue as an int.");
  module.def("prepare_queue", &prepare_queue);
  module.def("native_context", [](const Codec& codec) {
    return reinterpret_cast<std::uintptr_t>(DeviceMemory::native_context(codec));
  });
}

}  // namespace calpe::python
