// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/cuda_caller_stream.hpp"

#include "base/assert.hpp"
#include "base/try.hpp"

namespace calpe::backend::cuda {

emit::DeviceText NumberWriter::text() {
  emit::DeviceText made = {.text = ".version 6.0\n.target sm_50\n.address_size 64\n",
                           .entries = {}};
  std::string& out = made.text;
  for (const std::size_t size : sizes) {
    made.entries.push_back(calpe::text("calpe_write_", size));
    out += calpe::text(".visible .entry ", made.entries.back(), "(\n  .param .u64 to_param");
    for (std::size_t i = 0; i < size; ++i)
      out += calpe::text(",\n  .param .u64 n", i);
    out +=
        ")\n.maxntid 1, 1, 1\n{\n.reg .b64 to, v;\nld.param.u64 to, [to_param];\n"
        "cvta.to.global.u64 to, to;\n";
    for (std::size_t i = 0; i < size; ++i) {
      out += calpe::text("ld.param.u64 v, [n", i, "];\nst.global.u64 [to+",
                         i * sizeof(std::uint64_t), "], v;\n");
    }
    out += "ret;\n}\n";
  }
  return made;
}

Status NumberWriter::write(const CudaContext& context, CuStream stream, const gpu::Place& to,
                           std::span<const std::uint64_t> numbers) const {
  CALPE_ASSERT(numbers.size() % sizes.back() == 0);
  const auto& module = static_cast<const CudaModule&>(*module_);
  std::uint64_t address = to.at;
  for (std::size_t entry = 0; entry < sizes.size(); ++entry) {
    const std::size_t size = sizes[entry];
    for (; numbers.size() >= size; numbers = numbers.subspan(size)) {
      // The driver reads the arguments before the call returns, and does not write them.
      std::array<void*, 1 + sizes.front()> arguments = {&address};
      for (std::size_t i = 0; i < size; ++i)
        arguments[1 + i] = const_cast<std::uint64_t*>(&numbers[i]);
      CALPE_CHECK(context.call(context.api().launch_kernel, module.entry(entry), 1U, 1U, 1U, 1U, 1U,
                               1U, 0U, stream, arguments.data(), static_cast<void**>(nullptr)));
      address += size * sizeof(std::uint64_t);
    }
  }
  return Done{};
}

Status CudaCallerStream::check(const CudaContext& context, CuStream stream) {
  const auto& ask = context.api().stream_get_ctx;
  if (ask.address == nullptr) return Done{};  // the launch will fail instead
  CuContext owner = nullptr;
  CALPE_CHECK(context.call(ask, stream, &owner));
  if (owner == context.handle()) return Done{};
  return invalid("stream is not of the primary context of cuda:", context.device(),
                 "; create it in the context from native_context()");
}

}  // namespace calpe::backend::cuda
