// SPDX-License-Identifier: Apache-2.0
// Compares every instruction of the PTX interpreter with an independent formula. The interpreter
// tests our kernels, so it must be tested itself.
#include <array>
#include <functional>
#include <random>

#include "base/text.hpp"
#include "unit/backend/cuda_bench.hpp"

namespace calpe::backend::cuda {
namespace {

constexpr std::size_t lanes = 96;

struct Values {
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::uint64_t c = 0;
};
using Formula = std::function<std::uint64_t(const Values&)>;

class CudaInstructionsTest : public CudaBench {
 protected:
  void SetUp() override {
    CudaBench::SetUp();
    calpe_ptx_delay(0, 0);
    std::mt19937_64 random(7);
    const std::array<std::uint64_t, 8> edges = {
        0, 1, 0x80, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x8000000000000000, ~std::uint64_t{0}};
    for (std::size_t i = 0; i < lanes; ++i) {
      const auto draw = [&](std::size_t turn) {
        return i < 64 && turn < 2 ? edges[turn == 0 ? i / 8 : i % 8] : random();
      };
      values_.push_back({draw(0), draw(1), i % 3 == 0 ? i : draw(2)});
    }
  }

  // Registers a, b, c hold 64 bits; a32, ... and a16, ... their lower bits; p is bit 0 of c. `body`
  // writes d, d32 or d16, which must equal the formula (zeros above).
  void expect(const std::string& body, unsigned bits, const Formula& formula) {
    SCOPED_TRACE(body);
    std::string full =
        ".reg .b64 a, b, c, d;\n.reg .b32 a32, b32, c32, d32;\n.reg .b16 a16, b16, c16, d16;\n"
        ".reg .pred p, q;\n"
        "mad.lo.u64 n, i, 24, n;\nshl.b64 i, i, 3;\nadd.u64 r, r, i;\n"
        "ld.global.u64 a, [n];\nld.global.u64 b, [n+8];\nld.global.u64 c, [n+16];\n";
    for (const char* name : {"a", "b", "c"}) {
      full +=
          text("cvt.u32.u64 ", name, "32, ", name, ";\ncvt.u16.u64 ", name, "16, ", name, ";\n");
    }
    full += "and.b32 d32, c32, 1;\nsetp.ne.u32 p, d32, 0;\n";
    full += body + "\n";
    if (bits != 64) full += text("cvt.u64.u", bits, " d, d", bits, ";\n");
    full += "st.global.u64 [r], d;\n";
    const auto module = build(kernel_text(full), {"k"}, lanes);
    ASSERT_TRUE(module) << module.error().message;
    const gpu::Place n = put(std::span<const Values>(values_));
    const gpu::Place r = put(std::span<const std::uint64_t>(std::vector<std::uint64_t>(lanes)));
    const Status launched = queue_->launch(**module, launch_of(n, r, lanes));
    ASSERT_TRUE(launched) << launched.error().message;
    const auto got = get<std::uint64_t>(r, lanes);
    const std::uint64_t mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
    for (std::size_t i = 0; i < lanes; ++i) {
      const Values& v = values_[i];
      ASSERT_EQ(got[i], formula(v) & mask)
          << "lane " << i << ": a " << v.a << " b " << v.b << " c " << v.c;
    }
  }

  std::vector<Values> values_;
};

std::uint32_t low(std::uint64_t v) {
  return static_cast<std::uint32_t>(v);
}
std::int64_t sign(std::uint64_t v) {
  return static_cast<std::int32_t>(v);
}
bool bit(std::uint64_t v, unsigned i) {
  return i < 64 && (v >> i & 1) != 0;
}

TEST_F(CudaInstructionsTest, AddsAndMultiplies) {
  expect("add.u32 d32, a32, b32;", 32, [](const Values& v) { return v.a + v.b; });
  expect("add.s64 d, a, b;", 64, [](const Values& v) { return v.a + v.b; });
  expect("add.u16 d16, a16, 77;", 16, [](const Values& v) { return v.a + 77; });
  expect("add.s32 d32, a32, -5;", 32, [](const Values& v) { return v.a - 5; });
  expect("sub.u64 d, a, b;", 64, [](const Values& v) { return v.a - v.b; });
  expect("neg.s32 d32, a32;", 32, [](const Values& v) { return 0 - v.a; });
  expect("mul.lo.u32 d32, a32, b32;", 32, [](const Values& v) { return v.a * v.b; });
  expect("mul.lo.s64 d, a, b;", 64, [](const Values& v) { return v.a * v.b; });
  expect("mul.hi.u32 d32, a32, b32;", 32,
         [](const Values& v) { return std::uint64_t{low(v.a)} * low(v.b) >> 32; });
  expect("mul.wide.u32 d, a32, b32;", 64,
         [](const Values& v) { return std::uint64_t{low(v.a)} * low(v.b); });
  expect("mul.wide.s32 d, a32, b32;", 64,
         [](const Values& v) { return static_cast<std::uint64_t>(sign(v.a) * sign(v.b)); });
  expect("mul.wide.u16 d32, a16, b16;", 32,
         [](const Values& v) { return (v.a & 0xFFFF) * (v.b & 0xFFFF); });
  expect("mad.lo.u32 d32, a32, b32, c32;", 32, [](const Values& v) { return v.a * v.b + v.c; });
  expect("mad.lo.u64 d, a, 11, c;", 64, [](const Values& v) { return v.a * 11 + v.c; });
  expect("mad.wide.u32 d, a32, b32, c;", 64,
         [](const Values& v) { return std::uint64_t{low(v.a)} * low(v.b) + v.c; });
  expect("mad.wide.s32 d, a32, b32, c;", 64,
         [](const Values& v) { return static_cast<std::uint64_t>(sign(v.a) * sign(v.b)) + v.c; });
  expect("div.u32 d32, a32, 10;", 32, [](const Values& v) { return low(v.a) / 10; });
  expect("rem.u64 d, a, 1000;", 64, [](const Values& v) { return v.a % 1000; });
  expect("min.u32 d32, a32, b32;", 32,
         [](const Values& v) { return low(v.a) < low(v.b) ? v.a : v.b; });
  expect("max.s32 d32, a32, b32;", 32,
         [](const Values& v) { return sign(v.a) > sign(v.b) ? v.a : v.b; });
}

TEST_F(CudaInstructionsTest, CombinesBits) {
  expect("and.b32 d32, a32, b32;", 32, [](const Values& v) { return v.a & v.b; });
  expect("or.b64 d, a, b;", 64, [](const Values& v) { return v.a | v.b; });
  expect("xor.b32 d32, a32, 0x1d1d1d1d;", 32, [](const Values& v) { return v.a ^ 0x1D1D1D1D; });
  expect("xor.b16 d16, a16, b16;", 16, [](const Values& v) { return v.a ^ v.b; });
  expect("not.b64 d, a;", 64, [](const Values& v) { return ~v.a; });
  expect("mov.b32 d32, a32;", 32, [](const Values& v) { return v.a; });
  expect("mov.u64 d, 0x123456789abcdefU;", 64, [](const Values&) { return 0x123456789ABCDEF; });
  expect("popc.b32 d32, a32;", 32, [](const Values& v) {
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < 32; ++i)
      sum += bit(v.a, i) ? 1 : 0;
    return sum;
  });
  expect("brev.b32 d32, a32;", 32, [](const Values& v) {
    std::uint64_t out = 0;
    for (unsigned i = 0; i < 32; ++i)
      out |= std::uint64_t{bit(v.a, i)} << (31 - i);
    return out;
  });
}

// The table is f(0xF0, 0xCC, 0xAA), as in the description of the ISA.
TEST_F(CudaInstructionsTest, SupportsEveryTableOfLop3) {
  for (unsigned table = 0; table < 256; ++table) {
    expect(text("lop3.b32 d32, a32, b32, c32, ", table, ";"), 32, [table](const Values& v) {
      std::uint64_t out = 0;
      for (unsigned i = 0; i < 32; ++i) {
        const unsigned index =
            (bit(v.a, i) ? 4U : 0) + (bit(v.b, i) ? 2U : 0) + (bit(v.c, i) ? 1U : 0);
        out |= std::uint64_t{(table >> index & 1) != 0} << i;
      }
      return out;
    });
  }
  expect("lop3.b32 d32, a32, b32, c32, 0x96;", 32, [](const Values& v) { return v.a ^ v.b ^ v.c; });
  expect("lop3.b32 d32, a32, b32, c32, 0xe8;", 32,
         [](const Values& v) { return (v.a & v.b) | (v.a & v.c) | (v.b & v.c); });
  expect("lop3.b32 d32, a32, b32, c32, 0x78;", 32,
         [](const Values& v) { return v.a ^ (v.b & v.c); });
}

TEST_F(CudaInstructionsTest, PermutesBytes) {
  const auto permute = [](const Values& v, std::uint64_t selector) {
    std::array<std::uint8_t, 8> bytes = {};
    const std::uint64_t both = std::uint64_t{low(v.b)} << 32 | low(v.a);
    std::memcpy(bytes.data(), &both, 8);
    std::uint64_t out = 0;
    for (unsigned t = 0; t < 4; ++t) {
      const unsigned nibble = selector >> (4 * t) & 0xF;
      std::uint8_t byte = bytes[nibble % 8];
      if (nibble >= 8) byte = byte >= 0x80 ? 0xFF : 0x00;
      out |= std::uint64_t{byte} << (8 * t);
    }
    return out;
  };
  for (const unsigned selector : {0x3210U, 0x0123U, 0x7654U, 0x5140U, 0xBA98U, 0xFEDCU, 0xF8B3U}) {
    expect(text("prmt.b32 d32, a32, b32, ", selector, ";"), 32,
           [=](const Values& v) { return permute(v, selector); });
  }
  expect("prmt.b32 d32, a32, b32, c32;", 32, [=](const Values& v) { return permute(v, v.c); });
  // In place: source and target are the same lanes.
  expect("mov.b32 d32, a32;\nprmt.b32 d32, d32, d32, 0xba98;", 32, [=](const Values& v) {
    return permute({v.a, v.a, 0}, 0xBA98);
  });
}

TEST_F(CudaInstructionsTest, Shifts) {
  for (const unsigned count : {0U, 1U, 7U, 31U, 32U, 40U}) {
    expect(text("shl.b32 d32, a32, ", count, ";"), 32,
           [=](const Values& v) { return count > 31 ? 0 : std::uint64_t{low(v.a)} << count; });
    expect(text("shr.u32 d32, a32, ", count, ";"), 32,
           [=](const Values& v) { return count > 31 ? 0 : low(v.a) >> count; });
    expect(text("shr.s32 d32, a32, ", count, ";"), 32, [=](const Values& v) {
      return static_cast<std::uint64_t>(sign(v.a) >> std::min(count, 31U));
    });
  }
  expect("shl.b64 d, a, c32;", 64,
         [](const Values& v) { return low(v.c) > 63 ? 0 : v.a << low(v.c); });
  expect("shr.b64 d, a, 33;", 64, [](const Values& v) { return v.a >> 33; });
  expect("shf.l.wrap.b32 d32, a32, b32, c32;", 32, [](const Values& v) {
    const unsigned count = v.c % 32;
    return count == 0 ? v.b : (v.b << count) | (low(v.a) >> (32 - count));
  });
  expect("shf.r.clamp.b32 d32, a32, b32, 32;", 32, [](const Values& v) { return v.b; });
}

TEST_F(CudaInstructionsTest, ExtractsFields) {
  const auto field = [](std::uint64_t a, unsigned position, unsigned length, bool is_signed) {
    std::uint64_t out = 0;
    const unsigned top = position + length - 1 > 31 ? 31 : position + length - 1;
    for (unsigned i = 0; i < 32; ++i) {
      const bool inside = i < length && position + i < 32;
      const bool value = inside ? bit(a, position + i) : is_signed && length > 0 && bit(a, top);
      out |= std::uint64_t{value} << i;
    }
    return out;
  };
  struct Field {
    unsigned position;
    unsigned length;
  };
  for (const Field f : {Field{0, 8}, Field{8, 8}, Field{31, 1}, Field{28, 9}, Field{3, 0}}) {
    const unsigned position = f.position;
    const unsigned length = f.length;
    const std::string rest = text(" d32, a32, ", position, ", ", length, ";");
    expect("bfe.u32" + rest, 32,
           [=](const Values& v) { return field(v.a, position, length, false); });
    expect("bfe.s32" + rest, 32,
           [=](const Values& v) { return field(v.a, position, length, true); });
  }
  expect("bfi.b32 d32, a32, b32, 4, 8;", 32,
         [](const Values& v) { return (v.b & ~0xFF0ULL) | (v.a & 0xFF) << 4; });
}

TEST_F(CudaInstructionsTest, ComparesAndChooses) {
  const auto choose = [](bool holds) { return std::uint64_t{holds ? 1U : 2U}; };
  const std::string then = "\nselp.b32 d32, 1, 2, q;";
  expect("setp.lt.u32 q, a32, b32;" + then, 32,
         [=](const Values& v) { return choose(low(v.a) < low(v.b)); });
  expect("setp.lt.s32 q, a32, b32;" + then, 32,
         [=](const Values& v) { return choose(sign(v.a) < sign(v.b)); });
  expect("setp.ge.u64 q, a, b;" + then, 32, [=](const Values& v) { return choose(v.a >= v.b); });
  expect("setp.gt.s64 q, a, b;" + then, 32, [=](const Values& v) {
    return choose(static_cast<std::int64_t>(v.a) > static_cast<std::int64_t>(v.b));
  });
  expect("setp.le.u16 q, a16, b16;" + then, 32,
         [=](const Values& v) { return choose((v.a & 0xFFFF) <= (v.b & 0xFFFF)); });
  expect("setp.eq.b32 q, a32, b32;" + then, 32,
         [=](const Values& v) { return choose(low(v.a) == low(v.b)); });
  expect("setp.ne.b64 q, a, b;" + then, 32, [=](const Values& v) { return choose(v.a != v.b); });
  expect("setp.ne.b64 q, a, b;\nnot.pred q, q;\nand.pred q, q, p;" + then, 32,
         [=](const Values& v) { return choose(v.a == v.b && (v.c & 1) != 0); });
  expect("mov.pred q, p;\nxor.pred q, q, p;" + then, 32, [=](const Values&) { return 2; });
  expect("selp.b64 d, a, b, p;", 64, [](const Values& v) { return (v.c & 1) != 0 ? v.a : v.b; });
}

TEST_F(CudaInstructionsTest, ConvertsWidths) {
  expect("cvt.u64.u8 d, a32;", 64, [](const Values& v) { return v.a & 0xFF; });
  expect("cvt.s64.s32 d, a32;", 64,
         [](const Values& v) { return static_cast<std::uint64_t>(sign(v.a)); });
  expect("cvt.s32.s8 d32, a32;", 32, [](const Values& v) {
    return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int8_t>(v.a)});
  });
  expect("cvt.u8.u32 d32, a32;", 32, [](const Values& v) { return v.a & 0xFF; });
  expect("cvt.u32.u16 d32, a16;", 32, [](const Values& v) { return v.a & 0xFFFF; });
}

TEST_F(CudaInstructionsTest, LoadsAndStores) {
  expect("ld.global.u8 d32, [n];", 32, [](const Values& v) { return v.a & 0xFF; });
  expect("ld.global.s8 d32, [n];", 32, [](const Values& v) {
    return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int8_t>(v.a)});
  });
  expect("ld.global.nc.u16 d32, [n+10];", 32, [](const Values& v) { return v.b >> 16 & 0xFFFF; });
  expect("ld.global.nc.v2.u32 {a32, d32}, [n+8];", 32, [](const Values& v) { return v.b >> 32; });
  expect("sub.u64 b, n, -8;\nld.global.u32 d32, [b+-8];", 32, [](const Values& v) { return v.a; });
  // Guarded, with lanes that keep their value.
  expect("mov.u64 d, 5;\n@p ld.global.u64 d, [n];", 64,
         [](const Values& v) { return (v.c & 1) != 0 ? v.a : 5; });
  expect("mov.u64 d, 5;\n@!p xor.b64 d, a, b;", 64,
         [](const Values& v) { return (v.c & 1) != 0 ? 5 : v.a ^ v.b; });
}

TEST_F(CudaInstructionsTest, LoadsVectorsOfFour) {
  const std::vector<std::uint32_t> data = [] {
    std::vector<std::uint32_t> made(4 * lanes);
    for (std::size_t i = 0; i < made.size(); ++i)
      made[i] = low(i * 0x9E3779B1U);
    return made;
  }();
  const auto module =
      build(kernel_text(".reg .b32 v<4>;\nshl.b64 i, i, 4;\nadd.u64 n, n, i;\n"
                        "add.u64 r, r, i;\nld.global.nc.v4.u32 {v0, v1, v2, v3}, [n];\n"
                        "st.global.v4.u32 [r], {v3, v2, v1, v0};"),
            {"k"}, lanes);
  ASSERT_TRUE(module) << module.error().message;
  const gpu::Place n = put(std::span<const std::uint32_t>(data));
  const gpu::Place r = put(std::span<const std::uint32_t>(data));
  ASSERT_TRUE(queue_->launch(**module, launch_of(n, r, lanes)));
  const auto got = get<std::uint32_t>(r, data.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_EQ(got[i], data[i ^ 3]);
}

// Threads diverge at the branch, loop by their number, and meet again.
TEST_F(CudaInstructionsTest, FollowsBranches) {
  expect(
      "and.b32 a32, c32, 7;\nmov.b32 d32, 0;\nagain:\nsetp.eq.u32 q, a32, 0;\n@q bra out;\n"
      "add.u32 d32, d32, a32;\nsub.u32 a32, a32, 1;\nbra again;\nout:\nadd.u32 d32, d32, 100;",
      32, [](const Values& v) {
        const std::uint64_t n = v.c & 7;
        return n * (n + 1) / 2 + 100;
      });
}

}  // namespace
}  // namespace calpe::backend::cuda
