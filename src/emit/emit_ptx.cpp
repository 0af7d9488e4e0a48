// SPDX-License-Identifier: Apache-2.0
// PTX, written directly: the driver needs no CUDA compiler for it, and it has three-input XORs.
// Every driver of the last ten years understands ISA 6.0 for sm_50. Registers have the names of the
// equations: u0.. units, t0.. temporaries.
#include <algorithm>
#include <deque>

#include "base/text.hpp"
#include "emit/equations.hpp"
#include "emit/sources.hpp"

namespace calpe::emit {

namespace {

// Inputs kept in registers for their next use; the least recently used is loaded again. 96 plus the
// sums stay below the 255 registers of a thread.
constexpr std::size_t kept_inputs_max = 96;

// An offset in an address is a signed 32-bit number.
constexpr std::size_t offset_max = 0x7FFFFFFF;

struct PtxKernel {
  std::string_view suffix;
  std::string_view type;  // for loads and stores; registers have 32 bits
  unsigned word_shift = 0;
  bool has_first = false;
};

class PtxWriter {
 public:
  PtxWriter(const ir::Program& program, const Options& options, const PtxKernel& kernel)
      : program_(program), options_(options), kernel_(kernel), needs_(program) {}

  std::string write() {
    write_head();
    for (const ir::Instruction& instruction : program_.instructions()) {
      if (needs_.is_needed[instruction.target]) write_sum(instruction);
    }
    return out_ + "done:\n  ret;\n}\n\n";
  }

 private:
  bool is_baked() const { return options_.unit_bytes != 0; }

  void line(const auto&... parts) { out_ += text("  ", parts..., ";\n"); }

  void write_head() {
    out_ += text(".visible .entry ", options_.name, kernel_.suffix,
                 "(\n  .param .u64 n_param, .param .u64 r_param");
    if (kernel_.has_first) out_ += ", .param .u64 first_param";
    if (!is_baked()) out_ += ",\n  .param .u64 unit_bytes_param, .param .u64 unit_stride_param";
    out_ += ")\n{\n";
    line(".reg .pred outside");
    line(".reg .b32 block, blocks, thread");
    line(".reg .b64 n, r, i, end, address");
    if (!is_baked()) line(".reg .b64 unit_bytes, unit_stride");
    line(".reg .b32 u<", program_.inputs() + program_.outputs(), ">");
    if (program_.temporaries() != 0) line(".reg .b32 t<", program_.temporaries(), ">");
    line("mov.u32 block, %ctaid.x");
    line("mov.u32 blocks, %ntid.x");
    line("mov.u32 thread, %tid.x");
    line("mul.wide.u32 i, block, blocks");
    line("cvt.u64.u32 end, thread");
    line("add.u64 i, i, end");
    if (kernel_.word_shift != 0) line("shl.b64 i, i, ", kernel_.word_shift);
    if (kernel_.has_first) {
      line("ld.param.u64 address, [first_param]");
      line("add.u64 i, i, address");
    }
    line("add.u64 end, i, ", 1U << kernel_.word_shift);
    if (is_baked()) {
      line("setp.gt.u64 outside, end, ", options_.unit_bytes);
    } else {
      line("ld.param.u64 unit_bytes, [unit_bytes_param]");
      line("ld.param.u64 unit_stride, [unit_stride_param]");
      line("setp.gt.u64 outside, end, unit_bytes");
    }
    line("@outside bra done");
    for (const std::string_view side : {"n", "r"}) {
      line("ld.param.u64 ", side, ", [", side, "_param]");
      line("cvta.to.global.u64 ", side, ", ", side);
      line("add.u64 ", side, ", ", side, ", i");
    }
  }

  // Returns the address of unit `index` of a side, computed by an instruction if needed.
  std::string unit_address(std::string_view side, std::size_t index) {
    if (index == 0) return text("[", side, "]");
    if (!is_baked()) {
      line("mad.lo.u64 address, unit_stride, ", index, ", ", side);
      return "[address]";
    }
    const std::size_t offset = index * options_.unit_bytes;
    if (offset <= offset_max) return text("[", side, "+", offset, "]");
    line("add.u64 address, ", side, ", ", offset);
    return "[address]";
  }

  std::string register_of(ir::Value v) const {
    const ir::Value units = program_.inputs() + program_.outputs();
    return v < units ? text("u", v) : text("t", v - units);
  }

  // Returns the register of the value, and loads it if it is an input that is not kept.
  std::string operand(ir::Value v) {
    if (!program_.is_input(v)) return register_of(v);
    const auto found = std::find(kept_.begin(), kept_.end(), v);
    if (found != kept_.end()) {
      kept_.erase(found);
    } else {
      const std::string address = unit_address("n", v);
      line("ld.global.nc.", kernel_.type, " ", register_of(v), ", ", address);
    }
    kept_.push_front(v);
    if (kept_.size() > kept_inputs_max) kept_.pop_back();
    return register_of(v);
  }

  void write_sum(const ir::Instruction& instruction) {
    const auto terms = program_.terms(instruction);
    const std::string target = register_of(instruction.target);
    std::size_t done = 1;
    if (terms.empty()) {
      line("mov.b32 ", target, ", 0");
    } else if (terms.size() == 1) {
      line("mov.b32 ", target, ", ", operand(terms[0].value));
    } else {
      std::string sum = operand(terms[0].value);
      for (; done + 1 < terms.size(); done += 2) {
        const std::string a = operand(terms[done].value);
        const std::string b = operand(terms[done + 1].value);
        line("lop3.b32 ", target, ", ", sum, ", ", a, ", ", b, ", 0x96");
        sum = target;
      }
      if (done < terms.size()) {
        const std::string a = operand(terms[done].value);
        line("xor.b32 ", target, ", ", sum, ", ", a);
      }
    }
    if (!program_.is_output(instruction.target)) return;
    const std::string address = unit_address("r", instruction.target - program_.inputs());
    line("st.global.", kernel_.type, " ", address, ", ", target);
  }

  const ir::Program& program_;
  const Options& options_;
  const PtxKernel& kernel_;
  Needs needs_;
  std::deque<ir::Value> kept_;  // most recently used first
  std::string out_;
};

}  // namespace

std::string emit_ptx(const ir::Program& program, const Options& options) {
  const PtxKernel bytes = {.suffix = "", .type = "u8", .word_shift = 0, .has_first = true};
  const PtxKernel words = {.suffix = "_4", .type = "u32", .word_shift = 2, .has_first = false};
  return text(heading(program, options.title), ".version 6.0\n.target sm_50\n.address_size 64\n\n",
              PtxWriter(program, options, bytes).write(),
              PtxWriter(program, options, words).write());
}

}  // namespace calpe::emit
