// SPDX-License-Identifier: Apache-2.0
// Our libisal.so.2 writes the bytes of ISA-L: products with random matrices, for every length up to
// slightly more than a page, between guard pages, with read-only inputs.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "support/isal_pair.hpp"

namespace calpe::tests {
namespace {

constexpr std::size_t bytes_max = 4100;
constexpr std::size_t columns_max = 20;
constexpr std::size_t rows_max = 14;
constexpr std::size_t table_bytes = 32;

struct Lists {
  std::vector<unsigned char*> data, coding;
};

class IsalEncode : public IsalPair {
 protected:
  using Byte = unsigned char;

  void fill(const std::vector<Byte*>& shards, std::size_t bytes) {
    for (Byte* shard : shards) {
      const std::vector<Byte> content = random_bytes(bytes);
      std::copy(content.begin(), content.end(), shard);
    }
  }

  static std::vector<Byte> content(const std::vector<Byte*>& shards, std::size_t bytes) {
    std::vector<Byte> all;
    for (const Byte* shard : shards)
      all.insert(all.end(), shard, shard + bytes);
    return all;
  }

  // New data and coding, at one of the guards.
  Lists place(std::size_t columns, std::size_t rows, std::size_t bytes) {
    const Placement placement{.guard = below(2) == 0 ? Guard::leading : Guard::trailing,
                              .gap = below(3) == 0 ? below(64) : 0};
    Lists lists{data_.place(placement, bytes), coding_.place(placement, bytes)};
    lists.data.resize(columns);
    lists.coding.resize(rows);
    data_.allow_writes(true);
    fill(lists.data, bytes);
    data_.allow_writes(false);
    fill(lists.coding, bytes);
    return lists;
  }

  // `work` with each library, on the same content.
  template <class Work>
  void compare(const Lists& lists, std::size_t bytes, const Work& work) {
    const std::vector<Byte> before = content(lists.coding, bytes);
    work(theirs);
    const std::vector<Byte> expected = content(lists.coding, bytes);
    for (std::size_t r = 0; r < lists.coding.size(); ++r)
      std::copy_n(before.begin() + static_cast<std::ptrdiff_t>(r * bytes), bytes, lists.coding[r]);
    work(ours);
    ASSERT_EQ(content(lists.coding, bytes), expected);
    ++compared_;
  }

  GuardedShards data_{columns_max, bytes_max + 64};
  GuardedShards coding_{rows_max, bytes_max + 64};
  std::size_t compared_ = 0;
};

TEST_F(IsalEncode, TablesAreTheDocumentedOnes) {
  std::array<Byte, table_bytes> expected;
  std::array<Byte, table_bytes> got;
  for (unsigned c = 0; c < 256; ++c) {
    theirs.gf_vect_mul_init(static_cast<Byte>(c), expected.data());
    ours.gf_vect_mul_init(static_cast<Byte>(c), got.data());
    ASSERT_EQ(got, expected) << c;
  }
  const auto made = [](const IsalFunctions& isal, std::vector<Byte> matrix) {
    std::vector<Byte> tables(matrix.size() * table_bytes + 1, 0xEE);
    isal.ec_init_tables(4, 3, matrix.data(), tables.data());
    return tables;
  };
  const std::vector<Byte> matrix = random_bytes(12);
  EXPECT_EQ(made(ours, matrix), made(theirs, matrix));
}

TEST_F(IsalEncode, EveryLengthWithRandomMatrices) {
  for (std::size_t bytes = 0; bytes <= bytes_max; ++bytes) {
    const std::size_t columns = 1 + below(columns_max);
    const std::size_t rows = 1 + below(rows_max);
    const auto len = static_cast<int>(bytes);
    const auto k = static_cast<int>(columns);
    const auto r = static_cast<int>(rows);
    std::vector<Byte> matrix = random_bytes(columns * rows);
    if (below(3) == 0) std::fill_n(matrix.begin(), columns, Byte{1});  // a row of ones is a sum
    const Lists lists = place(columns, rows, bytes);
    Byte** const data = const_cast<Byte**>(lists.data.data());
    Byte** const coding = const_cast<Byte**>(lists.coding.data());
    const auto index = static_cast<int>(below(columns));
    const auto tables = [&](const IsalFunctions& isal) {
      std::vector<Byte> made(columns * rows * table_bytes);
      isal.ec_init_tables(k, r, matrix.data(), made.data());
      return made;
    };
    SCOPED_TRACE(testing::Message() << columns << "+" << rows << ", " << bytes << " bytes");
    ASSERT_NO_FATAL_FAILURE(compare(lists, bytes, [&](const IsalFunctions& isal) {
      isal.ec_encode_data(len, k, r, tables(isal).data(), data, coding);
    }));
    ASSERT_NO_FATAL_FAILURE(compare(lists, bytes, [&](const IsalFunctions& isal) {
      isal.ec_encode_data_update(len, k, r, index, tables(isal).data(), data[index], coding);
    }));
  }
  EXPECT_EQ(compared_, 2 * (bytes_max + 1));
}

// ISA-L needs at least 64 bytes for some of these, depending on the instruction set.
TEST_F(IsalEncode, FunctionsOfOneOutput) {
  for (std::size_t bytes = 64; bytes <= 1100; bytes += 1 + below(5)) {
    const std::size_t columns = 1 + below(columns_max);
    const auto len = static_cast<int>(bytes);
    const auto k = static_cast<int>(columns);
    const auto index = static_cast<int>(below(columns));
    std::vector<Byte> row = random_bytes(columns);
    std::vector<Byte> tables(columns * table_bytes);
    theirs.ec_init_tables(k, 1, row.data(), tables.data());
    const Lists lists = place(columns, 1, bytes);
    Byte** const data = const_cast<Byte**>(lists.data.data());
    Byte* const dest = lists.coding[0];
    SCOPED_TRACE(testing::Message() << columns << " inputs, " << bytes << " bytes");
    ASSERT_NO_FATAL_FAILURE(compare(lists, bytes, [&](const IsalFunctions& isal) {
      isal.gf_vect_dot_prod(len, k, tables.data(), data, dest);
    }));
    ASSERT_NO_FATAL_FAILURE(compare(lists, bytes, [&](const IsalFunctions& isal) {
      isal.gf_vect_mad(len, k, index, tables.data(), data[index], dest);
    }));
  }
  EXPECT_GT(compared_, 400U);
}

TEST_F(IsalEncode, BaseFunctions) {
  for (std::size_t bytes = 0; bytes <= 70; ++bytes) {
    const auto len = static_cast<int>(bytes);
    std::vector<Byte> matrix = random_bytes(15);
    std::vector<Byte> tables(15 * table_bytes);
    ours.ec_init_tables(5, 3, matrix.data(), tables.data());
    const Lists lists = place(5, 3, bytes);
    Byte** const data = const_cast<Byte**>(lists.data.data());
    Byte** const coding = const_cast<Byte**>(lists.coding.data());
    Byte* const t = tables.data();
    ASSERT_NO_FATAL_FAILURE(compare(lists, bytes, [&](const IsalFunctions& isal) {
      isal.ec_encode_data_base(len, 5, 3, t, data, coding);
    }));
    ASSERT_NO_FATAL_FAILURE(compare(lists, bytes, [&](const IsalFunctions& isal) {
      isal.ec_encode_data_update_base(len, 5, 3, 2, t, data[2], coding);
    }));
    ASSERT_NO_FATAL_FAILURE(compare(lists, bytes, [&](const IsalFunctions& isal) {
      isal.gf_vect_dot_prod_base(len, 5, t, data, coding[1]);
    }));
    ASSERT_NO_FATAL_FAILURE(compare(lists, bytes, [&](const IsalFunctions& isal) {
      isal.gf_vect_mad_base(len, 5, 3, t, data[3], coding[2]);
    }));
    ASSERT_NO_FATAL_FAILURE(compare(lists, bytes, [&](const IsalFunctions& isal) {
      isal.gf_vect_mul_base(len, t, data[3], coding[0]);
    }));
  }
}

TEST_F(IsalEncode, MultiplicationByAConstant) {
  alignas(64) std::array<Byte, 512> from;
  alignas(64) std::array<Byte, 512> to;
  std::array<Byte, table_bytes> table;
  for (unsigned c = 0; c < 256; ++c) {
    const std::vector<Byte> bytes = random_bytes(from.size());
    std::copy(bytes.begin(), bytes.end(), from.begin());
    ours.gf_vect_mul_init(static_cast<Byte>(c), table.data());
    for (int len = 32; len <= 512; len += 32) {  // for 0 bytes ISA-L's writes some
      const auto multiplied = [&](const IsalFunctions& isal) {
        to.fill(0xEE);
        EXPECT_EQ(isal.gf_vect_mul(len, table.data(), from.data(), to.data()), 0);
        return to;
      };
      ASSERT_EQ(multiplied(ours), multiplied(theirs)) << c << ", " << len << " bytes";
    }
    const auto expected = to;
    ASSERT_EQ(ours.gf_vect_mul(512, table.data(), from.data(), from.data()), 0);
    ASSERT_EQ(from, expected) << "in place";
  }
  to.fill(0xEE);
  EXPECT_EQ(ours.gf_vect_mul(0, table.data(), from.data(), to.data()), 0);
  EXPECT_TRUE(std::ranges::all_of(to, [](Byte b) { return b == 0xEE; }));
  for (const int len : {1, 16, 31, 33, 48}) {
    to.fill(0xEE);
    EXPECT_NE(theirs.gf_vect_mul(len, table.data(), from.data(), to.data()), 0) << len;
    to.fill(0xEE);
    EXPECT_NE(ours.gf_vect_mul(len, table.data(), from.data(), to.data()), 0) << len;
    EXPECT_TRUE(std::ranges::all_of(to, [](Byte b) { return b == 0xEE; })) << len;
  }
}

// Some rows of a table, and tables made one by one, as programs use them.
TEST_F(IsalEncode, TablesMayBeCutAndBuiltByHand) {
  const Lists lists = place(6, 4, 1000);
  Byte** const data = const_cast<Byte**>(lists.data.data());
  Byte** const coding = const_cast<Byte**>(lists.coding.data());
  std::vector<Byte> matrix = random_bytes(24);
  std::vector<Byte> tables(24 * table_bytes);
  ours.ec_init_tables(6, 4, matrix.data(), tables.data());
  ours.ec_encode_data(1000, 6, 4, tables.data(), data, coding);
  const std::vector<Byte> whole = content(lists.coding, 1000);
  fill(lists.coding, 1000);
  for (std::size_t i = 0; i < 24; ++i)
    ours.gf_vect_mul_init(matrix[i], tables.data() + i * table_bytes);
  ours.ec_encode_data(1000, 6, 1, tables.data(), data, coding);
  ours.ec_encode_data(1000, 6, 2, tables.data() + 6 * table_bytes, data, coding + 1);
  ours.gf_vect_dot_prod(1000, 6, tables.data() + 18 * table_bytes, data, coding[3]);
  EXPECT_EQ(content(lists.coding, 1000), whole);
}

// More inputs and outputs than our tile, and than any kernel takes at once.
TEST_F(IsalEncode, LargeMatrices) {
  for (const auto& [columns, rows] : {std::pair<std::size_t, std::size_t>{200, 55}, {128, 20}}) {
    const std::size_t bytes = 4500;
    std::vector<std::vector<Byte>> shards;
    for (std::size_t i = 0; i < columns + rows; ++i)
      shards.push_back(random_bytes(bytes));
    std::vector<Byte*> pointers;
    for (std::vector<Byte>& shard : shards)
      pointers.push_back(shard.data());
    Lists lists;
    lists.coding.assign(pointers.begin() + static_cast<std::ptrdiff_t>(columns), pointers.end());
    std::vector<Byte> matrix = random_bytes(columns * rows);
    std::vector<Byte> tables(matrix.size() * table_bytes);
    const auto k = static_cast<int>(columns);
    const auto r = static_cast<int>(rows);
    theirs.ec_init_tables(k, r, matrix.data(), tables.data());
    ASSERT_NO_FATAL_FAILURE(compare(lists, bytes, [&](const IsalFunctions& isal) {
      isal.ec_encode_data(static_cast<int>(bytes), k, r, tables.data(), pointers.data(),
                          lists.coding.data());
    }));
  }
}

TEST_F(IsalEncode, NothingToDoIsNothingDone) {
  std::array<Byte, 64> shard;
  shard.fill(0xEE);
  std::array<Byte*, 1> list = {shard.data()};
  std::array<Byte, table_bytes> table{};
  for (const int len : {0, -1, -64}) {
    ours.ec_encode_data(len, 1, 1, table.data(), list.data(), list.data());
    ours.ec_encode_data_update(len, 1, 1, 0, table.data(), list[0], list.data());
    ours.gf_vect_dot_prod(len, 1, table.data(), list.data(), list[0]);
    ours.gf_vect_mad(len, 1, 0, table.data(), list[0], list[0]);
  }
  ours.ec_encode_data(64, 1, 0, table.data(), list.data(), list.data());
  EXPECT_TRUE(std::ranges::all_of(shard, [](Byte b) { return b == 0xEE; }));
}

}  // namespace
}  // namespace calpe::tests
