// SPDX-License-Identifier: Apache-2.0
// Parsed PTX: instructions whose operands are positions in a register file. Immediates and special
// registers are registers as well, filled before a block runs, so that execution never checks the
// kind of an operand.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace calpe::ptx {

// Result codes of the driver.
enum Result : int {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  not_initialized = 3,
  invalid_device = 101,
  invalid_context = 201,
  invalid_ptx = 218,
  invalid_handle = 400,
  illegal_state = 401,
  not_found = 500,
  not_ready = 600,
  illegal_address = 700,
  launch_out_of_resources = 701,
  host_memory_already_registered = 712,
  host_memory_not_registered = 713,
  misaligned_address = 716,
  launch_failed = 719,
  stream_capture_unsupported = 900,
  stream_capture_invalidated = 901,
  stream_capture_unmatched = 903,
  stream_capture_unjoined = 904,
  stream_capture_isolation = 905,
  captured_event = 907,
  stream_capture_wrong_thread = 908,
};

struct PtxError : std::runtime_error {
  PtxError(Result result_in, const std::string& message)
      : std::runtime_error(message), result(result_in) {}
  Result result;
};

enum class Kind : std::uint8_t { bits, natural, integer, predicate };
struct Type {
  Kind kind = Kind::bits;
  std::uint8_t bytes = 4;
  bool operator==(const Type&) const = default;
};

enum class Opcode : std::uint8_t {
  mov,
  add,
  sub,
  mul_lo,
  mul_hi,
  mul_wide,
  mad_lo,
  mad_wide,
  div,
  rem,
  min,
  max,
  and_,
  or_,
  xor_,
  not_,
  neg,
  shl,
  shr,
  shf_l,
  shf_r,
  lop3,
  prmt,
  bfe,
  bfi,
  popc,
  brev,
  setp,
  selp,
  cvt,
  load,
  store,
  bra,
  ret,
  barrier,
};
enum class Compare : std::uint8_t { eq, ne, lt, le, gt, ge };
enum class Space : std::uint8_t { param, global, shared };

using RegisterId = std::uint32_t;
inline constexpr RegisterId no_register = 0xFFFFFFFF;

struct Instruction {
  Opcode opcode = Opcode::ret;
  Type type = {};
  Type from = {};  // cvt
  Compare compare = Compare::eq;
  Space space = Space::global;
  bool is_read_only = false;  // ld.global.nc
  std::uint8_t elements = 1;  // of a load or store
  std::uint8_t table = 0;     // lop3
  std::uint8_t target_count = 0;
  std::uint8_t source_count = 0;
  std::array<RegisterId, 4> targets = {};
  // A store's address comes first, then its elements.
  std::array<RegisterId, 5> sources = {};
  RegisterId guard = no_register;
  bool guard_is_negated = false;
  std::int64_t offset = 0;  // of an address
  std::uint32_t jump = 0;   // bra: index of the next instruction
  std::uint32_t line = 0;
  std::string name = {};  // "lop3.b32", for messages
};

struct Register {
  std::string name = {};
  Type type = {};
  // Bytes of all earlier registers: it starts at offset * lanes of the register file.
  std::uint32_t offset = 0;
};

enum class Special : std::uint8_t { tid, ntid, ctaid, nctaid };

struct Kernel {
  struct Constant {
    RegisterId id = 0;
    std::uint64_t value = 0;
  };
  struct SpecialRegister {
    RegisterId id = 0;
    Special special = Special::tid;
    unsigned axis = 0;
  };
  struct Parameter {
    std::string name = {};
    std::uint32_t offset = 0;
    std::uint32_t bytes = 0;
  };

  std::string name = {};
  std::vector<Parameter> parameters = {};
  std::uint32_t parameter_bytes = 0;
  std::vector<Instruction> code = {};
  std::vector<Register> registers = {};
  std::uint32_t lane_bytes = 0;  // of all registers
  std::vector<Constant> constants = {};
  std::vector<SpecialRegister> specials = {};
  std::uint32_t shared_bytes = 0;
  std::uint32_t threads_max = 1024;
  std::uint32_t threads_required = 0;  // 0: any
};

struct Module {
  std::map<std::string, Kernel> kernels = {};
};

// Throws PtxError with invalid_ptx, the line and what was not understood.
Module parse(const std::string& text);

// Throws PtxError if some path through the kernel reads an unwritten register.
void check_assigned(const Kernel& kernel);

}  // namespace calpe::ptx
