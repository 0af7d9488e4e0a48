// SPDX-License-Identifier: Apache-2.0
#include "backend/reference/reference_device.hpp"

#include <utility>

#include "base/text.hpp"
#include "ir/interpret.hpp"
#include "ir/verify.hpp"

namespace calpe::backend::reference {

namespace {

class ReferenceKernel : public Kernel {
 public:
  explicit ReferenceKernel(ir::Program program) : program_(std::move(program)) {}
  const ir::Program& program() const noexcept { return program_; }

 private:
  ir::Program program_;
};

// Start of the values of one group: unit u of shard s is value s * unit_count + u.
template <class Byte>
void locate_units(Byte* const* shards, std::size_t unit_count, std::size_t unit_stride,
                  std::size_t group_offset, std::span<Byte*> units) {
  for (std::size_t v = 0; v < units.size(); ++v) {
    units[v] = shards[v / unit_count] + group_offset + v % unit_count * unit_stride;
  }
}

class ReferenceDevice : public Device {
 public:
  std::string_view name() const override { return "reference"; }
  const ir::CostModel& cost_model() const override { return cost_model_; }
  bool codes_wide_symbols() const override { return true; }

  Result<KernelRef> compile(const ir::Program& program) override {
    if (const Status sound = ir::verify(program); !sound) {
      return make_error(ErrorCode::compile_failed, sound.error().message);
    }
    if (program.dialect() == ir::Dialect::gf && program.field().word_bits() != 8 &&
        program.field().word_bits() != 16) {
      return make_error(ErrorCode::compile_failed, "gf program has symbols of ",
                        program.field().word_bits(), " bits; expected 8 or 16");
    }
    return KernelRef(std::make_shared<ReferenceKernel>(program));
  }

  Completion submit(const Kernel& kernel, const Batch& batch) override {
    const ir::Program& program = static_cast<const ReferenceKernel&>(kernel).program();
    const Geometry& geometry = batch.geometry;
    std::vector<const std::byte*> inputs(program.inputs());
    std::vector<std::byte*> outputs(program.outputs());
    for (std::size_t stripe = 0; stripe < batch.stripe_count; ++stripe) {
      for (std::size_t group = 0; group < geometry.group_count; ++group) {
        const std::size_t group_offset = geometry.offset + group * geometry.group_stride;
        locate_units(batch.inputs + stripe * program.input_shards(), program.unit_count(),
                     geometry.unit_stride, group_offset, std::span(inputs));
        locate_units(batch.outputs + stripe * program.output_shards(), program.unit_count(),
                     geometry.unit_stride, group_offset, std::span(outputs));
        ir::interpret(program, inputs, outputs, geometry.unit_bytes, batch.accumulate,
                      geometry.unit_stride);
      }
    }
    return Status(Done{});
  }

 private:
  ir::CostModel cost_model_ = {};
};

}  // namespace

Result<std::unique_ptr<Device>> open_reference(std::string_view variant) {
  if (!variant.empty())
    return invalid("reference has no variant \"", variant, "\"; expected no variant");
  return std::unique_ptr<Device>(std::make_unique<ReferenceDevice>());
}

std::vector<BackendStatus> list_reference() {
  return {{.name = "reference",
           .description = "byte-by-byte interpreter; the others are tested against it",
           .available = true,
           .reason = {}}};
}

}  // namespace calpe::backend::reference
