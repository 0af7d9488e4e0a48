// SPDX-License-Identifier: Apache-2.0
// SPIR-V, written directly: a program that uses it needs no compiler of shaders. The arguments of
// all kernels are push constants.

#include "emit/equations.hpp"
#include "emit/sources.hpp"
#include "emit/spirv_lines.hpp"

namespace calpe::emit {

namespace {

enum Argument : std::uint32_t { n_base, r_base, first, unit_bytes, unit_stride, argument_count };

class SpirvWriter {
 public:
  SpirvWriter(SpirvModule& module, const ir::Program& program, const Options& options,
              std::size_t word_bytes)
      : module_(module),
        lines_(module, word_bytes),
        program_(program),
        options_(options),
        needs_(program),
        values_(program.values()) {}

  void write(std::string_view name) {
    module_.open(name, spirv_group_items);
    write_head();
    for (const ir::Instruction& instruction : program_.instructions()) {
      if (needs_.is_needed[instruction.target]) write_sum(instruction);
    }
    module_.close();
  }

 private:
  bool is_baked() const { return options_.unit_bytes != 0; }

  void write_head() {
    SpirvId at = lines_.item_at(module_.built_in(SpirvBuiltIn::global_invocation_id, 0));
    if (lines_.word_bytes() == 1) at = lines_.add(at, module_.parameter(first));
    const SpirvId end = lines_.add(at, lines_.number64(lines_.word_bytes()));
    const SpirvId bytes =
        is_baked() ? lines_.number64(options_.unit_bytes) : module_.parameter(unit_bytes);
    stride_ = is_baked() ? bytes : module_.parameter(unit_stride);
    lines_.return_if(lines_.is(SpirvOp::u_greater_than, end, bytes));
    n_at_ = lines_.add(module_.parameter(n_base), at);
    r_at_ = lines_.add(module_.parameter(r_base), at);
  }

  SpirvId unit_at(SpirvId side, std::size_t unit) {
    if (unit == 0) return side;
    if (is_baked()) return lines_.add(side, lines_.number64(unit * options_.unit_bytes));
    return lines_.add(side, lines_.multiply(stride_, lines_.number64(unit)));
  }

  SpirvId value(ir::Value v) {
    if (values_[v] == 0) values_[v] = lines_.load(unit_at(n_at_, v));  // an input
    return values_[v];
  }

  void write_sum(const ir::Instruction& instruction) {
    SpirvId sum = 0;
    for (const ir::Term& term : program_.terms(instruction)) {
      const SpirvId added = value(term.value);
      sum = sum == 0 ? added : lines_.xor_of(sum, added);
    }
    if (sum == 0) sum = lines_.each(0);
    const ir::Value target = instruction.target;
    values_[target] = sum;
    if (program_.is_output(target)) lines_.store(unit_at(r_at_, target - program_.inputs()), sum);
  }

  SpirvModule& module_;
  SpirvLines lines_;
  const ir::Program& program_;
  const Options& options_;
  Needs needs_;
  std::vector<SpirvId> values_;  // by value; 0: not computed or loaded yet
  SpirvId n_at_ = 0;
  SpirvId r_at_ = 0;
  SpirvId stride_ = 0;
};

}  // namespace

std::string emit_spirv(const ir::Program& program, const Options& options) {
  SpirvModule module(argument_count);
  SpirvWriter(module, program, options, 1).write(options.name);
  SpirvWriter(module, program, options, 4).write(options.name + "_4");
  return module.bytes();
}

}  // namespace calpe::emit
