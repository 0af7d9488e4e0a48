// SPDX-License-Identifier: Apache-2.0
// Compares every kernel of every path of this CPU with a multiplication written here.
#include "backend/cpu/cpu_kernels.hpp"

#include <array>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "backend/cpu/coefficient_tables.hpp"
#include "gf/field.hpp"
#include "support/cpu_paths.hpp"

namespace calpe::backend::cpu {
namespace {

using Bytes = std::vector<std::byte>;

std::uint8_t slow_product(unsigned a, unsigned b) {
  unsigned product = 0;
  for (; b != 0; b >>= 1, a = a << 1 ^ ((a & 0x80) != 0 ? 0x11DU : 0U)) {
    if ((b & 1) != 0) product ^= a;
  }
  return static_cast<std::uint8_t>(product);
}

const std::array<std::array<std::uint8_t, 256>, 256>& products() {
  static const auto table = [] {
    std::array<std::array<std::uint8_t, 256>, 256> rows = {};
    for (unsigned a = 0; a < 256; ++a) {
      for (unsigned b = 0; b < 256; ++b) {
        rows[a][b] = slow_product(a, b);
      }
    }
    return rows;
  }();
  return table;
}

// Random bytes; only `bytes` of them count, at `offset` in a buffer with a border on both sides.
class Buffer {
 public:
  Buffer(std::mt19937& random, std::size_t offset, std::size_t bytes)
      : offset_(border + offset), bytes_(bytes), memory_(2 * border + offset + bytes) {
    for (std::byte& byte : memory_)
      byte = static_cast<std::byte>(random());
    original_ = memory_;
  }
  std::byte* data() { return memory_.data() + offset_; }
  std::span<const std::byte> now() const { return std::span(memory_).subspan(offset_, bytes_); }
  std::span<const std::byte> before() const {
    return std::span(original_).subspan(offset_, bytes_);
  }
  bool is_unchanged() const { return memory_ == original_; }
  bool is_border_unchanged() const {
    Bytes restored = memory_;
    std::ranges::copy(before(), restored.begin() + static_cast<std::ptrdiff_t>(offset_));
    return restored == original_;
  }

 private:
  static constexpr std::size_t border = 64;
  std::size_t offset_;
  std::size_t bytes_;
  Bytes memory_;
  Bytes original_;
};

std::vector<Buffer> make_buffers(std::mt19937& random, std::size_t count, std::size_t bytes) {
  std::vector<Buffer> buffers;
  for (std::size_t i = 0; i < count; ++i)
    buffers.emplace_back(random, random() % 64, bytes);
  return buffers;
}

template <class Byte>
std::vector<Byte*> pointers(std::vector<Buffer>& buffers) {
  std::vector<Byte*> result;
  for (Buffer& buffer : buffers)
    result.push_back(buffer.data());
  return result;
}

// The first row: coefficients, the sum of `summed` inputs, or the sum of those and the other rows.
enum class FirstRow { product, sum, sum_with_rows };

struct Shape {
  std::size_t rows = 1;
  std::size_t inputs = 1;
  std::size_t bytes = 0;
  std::size_t begin = 0;
  bool accumulate = false;
  FirstRow first_row = FirstRow::product;
  std::size_t summed = 0;
  bool is_few = false;  // use the kernel for exactly this number of inputs
};

// The first row as the kernels see it, as coefficients.
void describe_first_row(std::vector<std::uint8_t>& coefficients, const Shape& shape) {
  if (shape.first_row == FirstRow::product) return;
  for (std::size_t i = 0; i < shape.inputs; ++i) {
    std::uint8_t sum = i < shape.summed ? 1 : 0;
    for (std::size_t r = 1; shape.first_row == FirstRow::sum_with_rows && r < shape.rows; ++r)
      sum ^= coefficients[i * shape.rows + r];
    coefficients[i * shape.rows] = sum;
  }
}

std::string describe(const CpuKernels& kernels, const Shape& s) {
  return std::string(kernels.name) + ": " + std::to_string(s.rows) + " rows, " +
         std::to_string(s.inputs) + " inputs, bytes " + std::to_string(s.begin) + ".." +
         std::to_string(s.bytes) + (s.accumulate ? ", accumulated" : "") + ", first row " +
         std::to_string(static_cast<int>(s.first_row)) + " of " + std::to_string(s.summed);
}

// The compare kernel accepts what was written, finds one changed byte in its range, and ignores one
// before.
bool compares(const CpuKernels& kernels, const MatrixPart& part, const Shape& shape,
              const std::vector<const std::byte*>& inputs, const std::vector<std::byte*>& outputs,
              std::mt19937& random) {
  if (shape.rows > compare_rows_max || shape.inputs == 0) return true;
  const bool has_sum = shape.first_row != FirstRow::product;
  if (has_sum && part.summed < shape.inputs) return true;
  const CompareKernel kernel = shape.is_few ? kernels.compare_few[shape.inputs][shape.rows - 1]
                               : has_sum    ? kernels.compare_sum[shape.rows]
                                            : kernels.compare[shape.rows];
  const std::vector<const std::byte*> stored(outputs.begin(), outputs.end());
  const auto is_same = [&] {
    return kernel(part, inputs.data(), stored.data(), shape.begin, shape.bytes);
  };
  if (!is_same()) return false;
  std::byte* const row = outputs[random() % shape.rows];
  if (shape.begin > 0) {
    row[shape.begin - 1] ^= std::byte{1};
    const bool ignores = is_same();
    row[shape.begin - 1] ^= std::byte{1};
    if (!ignores) return false;
  }
  if (shape.begin == shape.bytes) return true;
  const std::size_t at = shape.begin + random() % (shape.bytes - shape.begin);
  const auto bit = static_cast<std::byte>(1U << random() % 8);
  row[at] ^= bit;
  const bool finds = !is_same();
  row[at] ^= bit;
  return finds;
}

// Runs [begin, bytes) of buffers of `bytes` and compares all of them.
testing::AssertionResult multiplies(const CpuKernels& kernels, const CoefficientTables& tables,
                                    std::mt19937& random, const Shape& shape) {
  std::vector<Buffer> inputs = make_buffers(random, shape.inputs, shape.bytes);
  std::vector<Buffer> outputs = make_buffers(random, shape.rows, shape.bytes);
  std::vector<std::uint8_t> coefficients(shape.rows * shape.inputs);
  for (std::uint8_t& c : coefficients)
    c = static_cast<std::uint8_t>(random());
  describe_first_row(coefficients, shape);
  Bytes entries(coefficients.size() * table_entry_bytes(kernels.table_kind));
  tables.gather(coefficients, entries.data());

  const bool has_sum = shape.first_row != FirstRow::product;
  const MatrixKernels& variants =
      (has_sum ? kernels.sum_and_products : kernels.products)[shape.rows];
  const auto input_pointers = pointers<const std::byte>(inputs);
  const auto output_pointers = pointers<std::byte>(outputs);
  const bool takes = shape.first_row == FirstRow::sum_with_rows;
  const MatrixKernel kernel = shape.is_few
                                  ? kernels.few[shape.inputs][shape.rows - 1][takes ? 1 : 0]
                              : shape.accumulate ? variants.add
                                                 : variants.over;
  kernel({.tables = entries.data(),
          .input_count = shape.inputs,
          .summed = shape.summed,
          .sum_takes_rows = takes},
         input_pointers.data(), output_pointers.data(), shape.begin, shape.bytes);
  if (!shape.accumulate && !takes) {
    const MatrixPart part{
        .tables = entries.data(), .input_count = shape.inputs, .summed = shape.summed};
    if (!compares(kernels, part, shape, input_pointers, output_pointers, random)) {
      return testing::AssertionFailure()
             << "compare kernel of " << shape.rows << " rows, " << shape.bytes << " bytes";
    }
  }

  for (std::size_t r = 0; r < shape.rows; ++r) {
    if (!outputs[r].is_border_unchanged()) {
      return testing::AssertionFailure() << "writes outside: " << describe(kernels, shape);
    }
    for (std::size_t at = 0; at < shape.bytes; ++at) {
      const bool is_inside = at >= shape.begin;
      auto expected = is_inside && !shape.accumulate ? std::byte{0} : outputs[r].before()[at];
      for (std::size_t i = 0; is_inside && i < shape.inputs; ++i) {
        const auto x = std::to_integer<std::size_t>(inputs[i].before()[at]);
        expected ^= std::byte{products()[coefficients[i * shape.rows + r]][x]};
      }
      if (outputs[r].now()[at] != expected) {
        return testing::AssertionFailure()
               << describe(kernels, shape) << ": row " << r << " differs at " << at;
      }
    }
  }
  for (const Buffer& input : inputs) {
    if (!input.is_unchanged()) return testing::AssertionFailure() << "writes an input";
  }
  return testing::AssertionSuccess();
}

class CpuKernelsOf : public testing::TestWithParam<const CpuKernels*> {
 protected:
  const CpuKernels& kernels() const { return *GetParam(); }
  const gf::FieldRef field_ = *gf::Field::create(8, 0x11D);
  const CoefficientTables tables_ = CoefficientTables(*field_, GetParam()->table_kind);
  std::mt19937 random_{20240607};
};

INSTANTIATE_TEST_SUITE_P(paths, CpuKernelsOf, testing::ValuesIn(usable_paths()),
                         [](const auto& path) { return test_name_of(path.param); });

TEST_P(CpuKernelsOf, rows_and_inputs) {
  for (const bool accumulate : {false, true}) {
    for (std::size_t rows = 1; rows <= kernels().rows_max; ++rows) {
      for (std::size_t inputs = 0; inputs <= 20; ++inputs) {
        for (const std::size_t bytes : {1UL, 333UL}) {
          ASSERT_TRUE(multiplies(
              kernels(), tables_, random_,
              {.rows = rows, .inputs = inputs, .bytes = bytes, .accumulate = accumulate}));
        }
      }
    }
  }
}

TEST_P(CpuKernelsOf, sum_in_the_first_row) {
  for (std::size_t rows = 1; rows <= kernels().rows_max; ++rows) {
    for (std::size_t inputs = 1; inputs <= 10; ++inputs) {
      for (std::size_t summed = 1; summed <= inputs; ++summed) {
        for (const std::size_t bytes : {1UL, 333UL}) {
          Shape shape{.rows = rows, .inputs = inputs, .bytes = bytes, .summed = summed};
          shape.first_row = FirstRow::sum;
          ASSERT_TRUE(multiplies(kernels(), tables_, random_, shape));
          shape.first_row = FirstRow::sum_with_rows;
          ASSERT_TRUE(multiplies(kernels(), tables_, random_, shape));
          shape = {.rows = rows, .inputs = inputs, .bytes = bytes, .accumulate = true};
          shape.first_row = FirstRow::sum;
          shape.summed = summed - 1;  // a later turn may have none left
          ASSERT_TRUE(multiplies(kernels(), tables_, random_, shape));
        }
      }
    }
  }
}

// Streaming and then fencing equals storing. Only the aligned kernels can be called here.
TEST_P(CpuKernelsOf, streams_what_it_stores) {
  if (kernels().fence == nullptr) GTEST_SKIP() << kernels().name << " has no streaming stores";
  for (std::size_t rows = 1; rows <= kernels().rows_max; ++rows) {
    for (const bool has_sum : {false, true}) {
      const MatrixKernels& variants =
          (has_sum ? kernels().sum_and_products : kernels().products)[rows];
      for (const std::size_t bytes : {64UL, 100UL, 1000UL}) {
        std::vector<Buffer> inputs = make_buffers(random_, 5, bytes);
        std::vector<std::uint8_t> coefficients(5 * rows);
        for (std::uint8_t& c : coefficients)
          c = static_cast<std::uint8_t>(random_());
        Bytes entries(coefficients.size() * table_entry_bytes(kernels().table_kind));
        tables_.gather(coefficients, entries.data());
        const std::size_t stride = 1024;
        std::vector<std::byte> memory(2 * rows * stride + 64);
        const std::size_t skip = 64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64;
        std::vector<std::byte*> outputs(2 * rows);
        for (std::size_t r = 0; r < outputs.size(); ++r)
          outputs[r] = memory.data() + skip + r * stride;
        const auto input_pointers = pointers<const std::byte>(inputs);
        const MatrixPart part{.tables = entries.data(), .input_count = 5, .summed = 5};
        variants.over(part, input_pointers.data(), outputs.data(), 0, bytes);
        variants.stream(part, input_pointers.data(), outputs.data() + rows, 0, bytes);
        kernels().fence();
        for (std::size_t r = 0; r < rows; ++r) {
          ASSERT_TRUE(std::ranges::equal(std::span(outputs[r], stride - 64),
                                         std::span(outputs[rows + r], stride - 64)))
              << "row " << r << " of " << rows << ", " << bytes << " bytes";
        }
      }
    }
  }
}

TEST_P(CpuKernelsOf, adds_a_change) {
  for (const std::size_t count : {1UL, 2UL}) {
    for (std::size_t rows = 1; rows <= change_rows_max; ++rows) {
      for (const std::size_t bytes : {0UL, 1UL, 64UL, 333UL, 1000UL}) {
        std::vector<Buffer> inputs = make_buffers(random_, count, bytes);
        std::vector<Buffer> outputs = make_buffers(random_, rows, bytes);
        std::vector<std::uint8_t> coefficients(rows);
        for (std::uint8_t& c : coefficients)
          c = static_cast<std::uint8_t>(random_());
        Bytes entries(rows * table_entry_bytes(kernels().table_kind));
        tables_.gather(coefficients, entries.data());
        const auto input_pointers = pointers<const std::byte>(inputs);
        const auto output_pointers = pointers<std::byte>(outputs);
        kernels().change[count][rows]({.tables = entries.data(), .input_count = count},
                                      input_pointers.data(), output_pointers.data(), 0, bytes);
        for (std::size_t r = 0; r < rows; ++r) {
          ASSERT_TRUE(outputs[r].is_border_unchanged());
          for (std::size_t at = 0; at < bytes; ++at) {
            std::byte change = inputs[0].before()[at];
            if (count == 2) change ^= inputs[1].before()[at];
            const auto x = std::to_integer<std::size_t>(change);
            ASSERT_EQ(outputs[r].now()[at],
                      outputs[r].before()[at] ^ std::byte{products()[coefficients[r]][x]});
          }
        }
      }
    }
  }
}

TEST_P(CpuKernelsOf, few_inputs) {
  if (kernels().few[2][0][0] == nullptr) GTEST_SKIP() << kernels().name << " has few registers";
  for (std::size_t count = 2; count <= few_inputs_max; ++count) {
    for (std::size_t rows = 1; rows <= few_products_max + 1; ++rows) {
      for (const bool takes : {false, true}) {
        if (kernels().few[count][rows - 1][takes ? 1 : 0] == nullptr) continue;
        for (const std::size_t bytes : {0UL, 1UL, 64UL, 100UL, 256UL, 333UL, 1000UL}) {
          Shape shape{.rows = rows, .inputs = count, .bytes = bytes, .begin = bytes % 3};
          shape.first_row = takes ? FirstRow::sum_with_rows : FirstRow::sum;
          shape.summed = takes ? count - rows + 1 : count;
          shape.is_few = true;
          ASSERT_TRUE(multiplies(kernels(), tables_, random_, shape));
        }
      }
    }
  }
}

TEST_P(CpuKernelsOf, lengths_and_alignments) {
  std::vector<std::size_t> lengths(301);
  std::iota(lengths.begin(), lengths.end(), 0);
  lengths.insert(lengths.end(), {511, 512, 1024, 1500, 4095, 4096, 4097, 65599});
  for (const std::size_t bytes : lengths) {
    for (std::size_t rows = 1; rows <= kernels().rows_max; ++rows) {
      if (bytes > 4096 && rows % 3 != 1) continue;
      ASSERT_TRUE(multiplies(
          kernels(), tables_, random_,
          {.rows = rows, .inputs = 1 + bytes % 4, .bytes = bytes, .accumulate = bytes % 5 == 0}));
    }
  }
}

TEST_P(CpuKernelsOf, ranges_leave_the_rest_alone) {
  for (std::size_t begin = 0; begin <= 130; ++begin) {
    const std::size_t rows = 1 + begin % kernels().rows_max;
    for (const std::size_t end : {begin, begin + 1, begin + 64, begin + 200}) {
      ASSERT_TRUE(multiplies(kernels(), tables_, random_,
                             {.rows = rows, .inputs = 3, .bytes = end, .begin = begin}));
    }
  }
}

TEST_P(CpuKernelsOf, every_product) {
  Bytes all(256);
  for (std::size_t x = 0; x < 256; ++x)
    all[x] = static_cast<std::byte>(x);
  const std::byte* input = all.data();
  for (unsigned c = 0; c < 256; ++c) {
    Bytes entry(table_entry_bytes(kernels().table_kind));
    tables_.gather(std::array{static_cast<std::uint8_t>(c)}, entry.data());
    Bytes result(256);
    std::byte* output = result.data();
    kernels().products[1].over({.tables = entry.data(), .input_count = 1}, &input, &output, 0, 256);
    for (std::size_t x = 0; x < 256; ++x)
      ASSERT_EQ(std::to_integer<unsigned>(result[x]), products()[c][x]) << c << " * " << x;
  }
}

TEST_P(CpuKernelsOf, xor_of_sources) {
  for (const bool adds : {false, true}) {
    for (std::size_t count = 0; count <= 20; ++count) {
      for (const std::size_t bytes : {0UL, 1UL, 7UL, 8UL, 63UL, 64UL, 65UL, 255UL, 1000UL}) {
        std::vector<Buffer> sources = make_buffers(random_, count, bytes);
        Buffer target(random_, random_() % 64, bytes);
        const auto source_pointers = pointers<const std::byte>(sources);
        (adds ? kernels().xor_add : kernels().xor_into)(source_pointers.data(), count,
                                                        target.data(), bytes);
        ASSERT_TRUE(target.is_border_unchanged());
        for (std::size_t at = 0; at < bytes; ++at) {
          std::byte expected = adds ? target.before()[at] : std::byte{0};
          for (const Buffer& source : sources)
            expected ^= source.before()[at];
          ASSERT_EQ(target.now()[at], expected) << count << " sources, byte " << at;
        }
        for (const Buffer& source : sources)
          ASSERT_TRUE(source.is_unchanged());
      }
    }
  }
}

TEST_P(CpuKernelsOf, target_may_be_a_source) {
  for (std::size_t bytes = 0; bytes <= 600; ++bytes) {
    Buffer target(random_, bytes % 64, bytes);
    Buffer other(random_, 0, bytes);
    const std::array<const std::byte*, 2> sources = {target.data(), other.data()};
    kernels().xor_into(sources.data(), sources.size(), target.data(), bytes);
    for (std::size_t at = 0; at < bytes; ++at)
      ASSERT_EQ(target.now()[at], target.before()[at] ^ other.before()[at]);
  }
}

TEST(CoefficientTables, follow_the_polynomial) {
  const gf::FieldRef aes = *gf::Field::create(8, 0x11B);
  const CoefficientTables tables(*aes, TableKind::nibbles);
  Bytes entry(32);
  tables.gather(std::array<std::uint8_t, 1>{0x57}, entry.data());
  // 0x57 * 0x83 = 0xC1: the example of FIPS 197, section 4.2.
  EXPECT_EQ(entry[0x3] ^ entry[16 + 0x8], std::byte{0xC1});
}

TEST(CoefficientTables, are_shared_by_polynomial) {
  CoefficientTableCache cache(TableKind::affine);
  const gf::FieldRef usual = *gf::Field::create(8, 0x11D);
  const gf::FieldRef again = *gf::Field::create(8, 0);
  const gf::FieldRef aes = *gf::Field::create(8, 0x11B);
  EXPECT_EQ(cache.get(*usual), cache.get(*again));
  EXPECT_NE(cache.get(*usual), cache.get(*aes));
}

}  // namespace
}  // namespace calpe::backend::cpu
