// SPDX-License-Identifier: Apache-2.0
#include "backend/jit/assembler.hpp"

#include <array>
#include <asmjit/x86.h>
#include <cstring>
#include <string_view>

#include "base/assert.hpp"
#include "base/text.hpp"

namespace calpe::backend::jit {

namespace {

namespace x86 = asmjit::x86;
using ir::Place;
using ir::Register;
using ir::RegisterPlan;
using ir::Step;

constexpr int xor_of_three = 0x96;  // truth table of a ^ b ^ c
constexpr int slots_offset = sizeof(ScratchHead);

// Arguments, in System V ABI order.
const x86::Gp inputs = x86::rdi;
const x86::Gp outputs = x86::rsi;
const x86::Gp offset = x86::rdx;
const x86::Gp count = x86::rcx;
const x86::Gp scratch = x86::r8;
// For strided loops: 1, 3, 5 and 7 strides. x86 addressing scales the first two by 2 and 4.
const x86::Gp stride = x86::r10;
const x86::Gp stride_3 = x86::r11;
const x86::Gp stride_5 = x86::r9;
const x86::Gp stride_7 = x86::rcx;

// AsmJit continues after an instruction that it cannot encode, so keep the first error.
class FirstError : public asmjit::ErrorHandler {
 public:
  void handleError(asmjit::Error error, const char* message, asmjit::BaseEmitter*) override {
    if (error_ != asmjit::kErrorOk) return;
    error_ = error;
    std::strncpy(message_.data(), message, message_.size() - 1);
  }
  asmjit::Error error() const { return error_; }
  std::string_view message() const { return message_.data(); }

 private:
  asmjit::Error error_ = asmjit::kErrorOk;
  std::array<char, 200> message_ = {};
};

// Registers that hold shard addresses. With few shards, each has a register for the whole loop;
// otherwise the least recently used one is reloaded.
class Bases {
 public:
  Bases(x86::Assembler& out, std::vector<x86::Gp> registers)
      : out_(out), held_(registers.size()), registers_(std::move(registers)) {}

  // Before the loop, loads all addresses if they fit, even into the registers of the two tables,
  // which are read last.
  void load_all(std::uint32_t input_shards, std::uint32_t output_shards) {
    if (input_shards == 0 || output_shards == 0) return;
    if (input_shards + output_shards > registers_.size() + 2) return;
    for (std::uint32_t shard = 1; shard < input_shards; ++shard)
      load({.space = Place::Space::input, .shard = shard}, shard - 1);
    for (std::uint32_t shard = 1; shard < output_shards; ++shard)
      load({.space = Place::Space::output, .shard = shard}, input_shards + shard - 2);
    out_.mov(inputs, x86::qword_ptr(inputs));
    out_.mov(outputs, x86::qword_ptr(outputs));
    holds_all_ = true;
  }

  const x86::Gp& of(const Place& place) {
    if (holds_all_ && place.shard == 0) {
      return place.space == Place::Space::input ? inputs : outputs;
    }
    std::size_t oldest = 0;
    for (std::size_t i = 0; i < registers_.size(); ++i) {
      if (held_[i].used_at != 0 && held_[i].space == place.space && held_[i].shard == place.shard) {
        held_[i].used_at = ++clock_;
        return registers_[i];
      }
      if (held_[i].used_at < held_[oldest].used_at) oldest = i;
    }
    load(place, oldest);
    return registers_[oldest];
  }

 private:
  struct Held {
    Place::Space space = Place::Space::input;
    std::uint32_t shard = 0;
    std::uint32_t used_at = 0;  // 0: unused
  };

  void load(const Place& place, std::size_t into) {
    const x86::Gp& table = place.space == Place::Space::input ? inputs : outputs;
    out_.mov(registers_[into],
             x86::qword_ptr(table, static_cast<int>(place.shard * sizeof(void*))));
    held_[into] = {.space = place.space, .shard = place.shard, .used_at = ++clock_};
  }

  x86::Assembler& out_;
  std::vector<Held> held_;
  std::vector<x86::Gp> registers_;
  std::uint32_t clock_ = 0;
  bool holds_all_ = false;
};

std::vector<x86::Gp> base_registers(const Loop& loop, const RegisterPlan& plan) {
  if (loop.is_strided) return {};  // see strided_base
  std::vector<x86::Gp> registers = {x86::rax, x86::r9, x86::r10, x86::r11};
  if (plan.slots == 0) registers.push_back(scratch);
  return registers;
}

class LoopWriter {
 public:
  LoopWriter(x86::Assembler& out, InstructionSet set, const Loop& loop, const RegisterPlan& plan)
      : out_(out), set_(set), loop_(loop), plan_(plan), bases_(out, base_registers(loop, plan)) {}

  void write(const ir::Program::Shape& shape) {
    if (loop_.is_strided) {
      begin_strided();
    } else {
      bases_.load_all(shape.inputs / shape.unit_count, shape.outputs / shape.unit_count);
    }
    const asmjit::Label again = out_.newLabel();
    out_.align(asmjit::AlignMode::kCode, 32);
    out_.bind(again);
    for (displacement_ = 0; displacement_ < static_cast<int>(block_bytes);
         displacement_ += vector_bytes()) {
      for (const Step& step : plan_.steps)
        write_step(step);
    }
    if (loop_.is_strided) {
      out_.add(offset, static_cast<int>(block_bytes));
      out_.dec(x86::qword_ptr(scratch, offsetof(ScratchHead, count)));
    } else {
      out_.add(offset, static_cast<int>(shape.unit_count * block_bytes));
      out_.dec(count);
    }
    out_.jnz(again);
    if (loop_.streams) out_.sfence();
    out_.vzeroupper();
    out_.ret();
  }

 private:
  int vector_bytes() const { return set_ == InstructionSet::avx512 ? 64 : 32; }

  void begin_strided() {
    out_.mov(x86::qword_ptr(scratch, offsetof(ScratchHead, count)), count);
    out_.mov(stride, x86::qword_ptr(scratch, offsetof(ScratchHead, unit_stride)));
    out_.lea(stride_3, x86::ptr(stride, stride, 1));
    out_.lea(stride_5, x86::ptr(stride, stride, 2));
    out_.lea(stride_7, x86::ptr(stride_3, stride, 2));
  }

  x86::Vec vector(Register r) const {
    return set_ == InstructionSet::avx512 ? x86::Vec(x86::zmm(r)) : x86::Vec(x86::ymm(r));
  }

  // The strides replace an index, so the offset is part of the base.
  const x86::Gp& strided_base(const Place& place) {
    if (!has_base_ || based_.space != place.space || based_.shard != place.shard) {
      const x86::Gp& table = place.space == Place::Space::input ? inputs : outputs;
      out_.mov(x86::rax, x86::qword_ptr(table, static_cast<int>(place.shard * sizeof(void*))));
      out_.add(x86::rax, offset);
      has_base_ = true;
      based_ = place;
    }
    return x86::rax;
  }

  x86::Mem memory(const Place& place) {
    const auto bytes = static_cast<std::uint32_t>(vector_bytes());
    if (place.space == Place::Space::scratch) {
      return x86::ptr(scratch, slots_offset + static_cast<int>(place.shard * block_bytes), bytes);
    }
    if (!loop_.is_strided) {
      return x86::ptr(bases_.of(place), offset, 0,
                      static_cast<int>(place.unit * block_bytes) + displacement_, bytes);
    }
    const x86::Gp& base = strided_base(place);
    switch (place.unit) {
      case 0:
        return x86::ptr(base, displacement_, bytes);
      case 1:
        return x86::ptr(base, stride, 0, displacement_, bytes);
      case 2:
        return x86::ptr(base, stride, 1, displacement_, bytes);
      case 3:
        return x86::ptr(base, stride_3, 0, displacement_, bytes);
      case 4:
        return x86::ptr(base, stride, 2, displacement_, bytes);
      case 5:
        return x86::ptr(base, stride_5, 0, displacement_, bytes);
      case 6:
        return x86::ptr(base, stride_3, 1, displacement_, bytes);
      default:
        return x86::ptr(base, stride_7, 0, displacement_, bytes);
    }
  }

  template <class Operand>
  void write_xor(Register target, Register first, const Operand& second) {
    if (set_ == InstructionSet::avx512) {
      out_.vpxorq(vector(target), vector(first), second);
    } else {
      out_.vpxor(vector(target), vector(first), second);
    }
  }
  void write_load(Register target, const x86::Mem& from) {
    if (set_ == InstructionSet::avx512) {
      out_.vmovdqu64(vector(target), from);
    } else {
      out_.vmovdqu(vector(target), from);
    }
  }
  void write_store(Register from, const Place& place) {
    const x86::Mem to = memory(place);
    if (loop_.accumulates && place.space == Place::Space::output) {
      // Keep the sum itself: a later step may read it.
      write_xor(spare_register(), from, to);
      from = spare_register();
    }
    if (loop_.streams && place.space == Place::Space::output) {
      out_.vmovntdq(to, vector(from));
    } else if (set_ == InstructionSet::avx512) {
      out_.vmovdqu64(to, vector(from));
    } else {
      out_.vmovdqu(to, vector(from));
    }
  }
  Register spare_register() const { return set_ == InstructionSet::avx512 ? 31 : 15; }

  void write_step(const Step& step) {
    switch (step.kind) {
      case Step::Kind::zero:
        // The short form clears the whole register in both instruction sets.
        write_xor(step.target, step.target, vector(step.target));
        break;
      case Step::Kind::load:
        write_load(step.target, memory(step.place));
        break;
      case Step::Kind::copy:
        if (set_ == InstructionSet::avx512) {
          out_.vmovdqa64(vector(step.target), vector(step.first));
        } else {
          out_.vmovdqa(vector(step.target), vector(step.first));
        }
        break;
      case Step::Kind::add:
        write_xor(step.target, step.first, vector(step.second));
        break;
      case Step::Kind::add_place:
        write_xor(step.target, step.first, memory(step.place));
        break;
      case Step::Kind::add_two:
        out_.vpternlogq(vector(step.target), vector(step.first), vector(step.second), xor_of_three);
        break;
      case Step::Kind::add_one_each:
        out_.vpternlogq(vector(step.target), vector(step.first), memory(step.place), xor_of_three);
        break;
      case Step::Kind::store:
        write_store(step.target, step.place);
        break;
    }
  }

  x86::Assembler& out_;
  const InstructionSet set_;
  const Loop loop_;
  const RegisterPlan& plan_;
  Bases bases_;           // not used in strided loops
  int displacement_ = 0;  // within the block; AVX2 needs two vectors
  bool has_base_ = false;
  Place based_ = {};  // shard that rax points into, in strided loops
};

}  // namespace

Result<Assembly> assemble(const ir::Program::Shape& shape, const ir::RegisterPlan& plan,
                          InstructionSet set, const std::vector<Loop>& loops,
                          std::string* listing) {
  asmjit::CodeHolder holder;
  holder.init(asmjit::Environment::host());
  asmjit::StringLogger logger;
  if (listing != nullptr) {
    logger.addFlags(asmjit::FormatFlags::kMachineCode);
    holder.setLogger(&logger);
  }
  FirstError first_error;
  holder.setErrorHandler(&first_error);
  x86::Assembler out(&holder);
  Assembly result;
  for (const Loop& loop : loops) {
    out.align(asmjit::AlignMode::kCode, 64);
    result.entries.push_back(out.offset());
    LoopWriter(out, set, loop, plan).write(shape);
  }
  holder.flatten();
  holder.resolveUnresolvedLinks();
  result.code.resize(holder.codeSize());
  const asmjit::Error error = holder.copyFlattenedData(result.code.data(), result.code.size());
  if (error != asmjit::kErrorOk || first_error.error() != asmjit::kErrorOk) {
    return make_error(ErrorCode::compile_failed, "AsmJit: ",
                      first_error.error() != asmjit::kErrorOk
                          ? first_error.message()
                          : std::string_view(asmjit::DebugUtils::errorAsString(error)));
  }
  if (listing != nullptr) *listing = logger.data();
  return result;
}

}  // namespace calpe::backend::jit
