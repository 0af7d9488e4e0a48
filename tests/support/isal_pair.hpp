// SPDX-License-Identifier: Apache-2.0
// ISA-L and our libisal.so.2 in one process, to compare the same functions of both.
#pragma once
#include <cstddef>
#include <cstdint>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

#include "support/guarded_shard.hpp"

namespace calpe::tests {

// Declared from ISA-L's erasure_code.h, gf_vect_mul.h, raid.h, crc.h, crc64.h and igzip_lib.h.
struct IsalFunctions {
  using Byte = unsigned char;
  using Encode = void(int len, int k, int rows, Byte* tables, Byte** data, Byte** coding);
  using Update = void(int len, int k, int rows, int index, Byte* tables, Byte* data, Byte** coding);
  using DotProduct = void(int len, int count, Byte* tables, Byte** src, Byte* dest);
  using Mad = void(int len, int count, int index, Byte* tables, Byte* src, Byte* dest);
  using Generate = void(Byte* matrix, int rows, int k);
  using Raid = int(int count, int len, void** array);

  void (*ec_init_tables)(int k, int rows, Byte* matrix, Byte* tables) = nullptr;
  Encode* ec_encode_data = nullptr;
  Encode* ec_encode_data_base = nullptr;
  Update* ec_encode_data_update = nullptr;
  Update* ec_encode_data_update_base = nullptr;
  DotProduct* gf_vect_dot_prod = nullptr;
  DotProduct* gf_vect_dot_prod_base = nullptr;
  Mad* gf_vect_mad = nullptr;
  Mad* gf_vect_mad_base = nullptr;
  int (*gf_vect_mul)(int len, Byte* table, void* src, void* dest) = nullptr;
  void (*gf_vect_mul_base)(int len, Byte* table, Byte* src, Byte* dest) = nullptr;
  void (*gf_vect_mul_init)(Byte c, Byte* table) = nullptr;
  Byte (*gf_mul)(Byte a, Byte b) = nullptr;
  Byte (*gf_inv)(Byte a) = nullptr;
  Generate* gf_gen_rs_matrix = nullptr;
  Generate* gf_gen_cauchy1_matrix = nullptr;
  int (*gf_invert_matrix)(Byte* in, Byte* out, int size) = nullptr;
  Raid* xor_gen = nullptr;
  Raid* xor_gen_base = nullptr;
  Raid* xor_check = nullptr;
  Raid* xor_check_base = nullptr;
  Raid* pq_gen = nullptr;
  Raid* pq_gen_base = nullptr;
  Raid* pq_check = nullptr;
  Raid* pq_check_base = nullptr;
  std::uint32_t (*crc32_gzip_refl)(std::uint32_t init, const Byte* data,
                                   std::uint64_t len) = nullptr;
  unsigned (*crc32_iscsi)(Byte* data, int len, unsigned init) = nullptr;
  std::uint64_t (*crc64_ecma_refl)(std::uint64_t init, const Byte* data,
                                   std::uint64_t len) = nullptr;
  std::uint16_t (*crc16_t10dif)(std::uint16_t init, const Byte* data, std::uint64_t len) = nullptr;
  std::uint32_t (*isal_adler32)(std::uint32_t init, const Byte* data, std::uint64_t len) = nullptr;

  std::string file;   // real path of the library
  std::string error;  // empty if the library and all functions were found

  explicit IsalFunctions(const char* name) {
    void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);  // never closed
    if (library == nullptr) {
      error = dlerror();
      return;
    }
#define CALPE_FIND(function) find(library, #function, function)
    CALPE_FIND(ec_init_tables);
    CALPE_FIND(ec_encode_data);
    CALPE_FIND(ec_encode_data_base);
    CALPE_FIND(ec_encode_data_update);
    CALPE_FIND(ec_encode_data_update_base);
    CALPE_FIND(gf_vect_dot_prod);
    CALPE_FIND(gf_vect_dot_prod_base);
    CALPE_FIND(gf_vect_mad);
    CALPE_FIND(gf_vect_mad_base);
    CALPE_FIND(gf_vect_mul);
    CALPE_FIND(gf_vect_mul_base);
    CALPE_FIND(gf_vect_mul_init);
    CALPE_FIND(gf_mul);
    CALPE_FIND(gf_inv);
    CALPE_FIND(gf_gen_rs_matrix);
    CALPE_FIND(gf_gen_cauchy1_matrix);
    CALPE_FIND(gf_invert_matrix);
    CALPE_FIND(xor_gen);
    CALPE_FIND(xor_gen_base);
    CALPE_FIND(xor_check);
    CALPE_FIND(xor_check_base);
    CALPE_FIND(pq_gen);
    CALPE_FIND(pq_gen_base);
    CALPE_FIND(pq_check);
    CALPE_FIND(pq_check_base);
    CALPE_FIND(crc32_gzip_refl);
    CALPE_FIND(crc32_iscsi);
    CALPE_FIND(crc64_ecma_refl);
    CALPE_FIND(crc16_t10dif);
    CALPE_FIND(isal_adler32);
#undef CALPE_FIND
    Dl_info info{};
    if (dladdr(reinterpret_cast<void*>(ec_encode_data), &info) != 0) file = info.dli_fname;
  }

 private:
  template <class Function>
  void find(void* library, const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(library, name));
    if (function == nullptr) error.append("no symbol ").append(name).append("; ");
  }
};

// Skips if ISA-L is not installed; ours must exist.
class IsalPair : public testing::Test {
 protected:
  using Byte = unsigned char;

  void SetUp() override {
    if (!theirs.error.empty()) GTEST_SKIP() << theirs.error << ": apt install libisal2";
    ASSERT_EQ(ours.error, "");
    ASSERT_EQ(ours.file, CALPE_ISAL_LIBRARY);
    ASSERT_NE(theirs.file, ours.file);
  }

  std::size_t below(std::size_t bound) { return random_() % bound; }
  std::vector<Byte> random_bytes(std::size_t count) {
    std::vector<Byte> bytes(count);
    for (Byte& b : bytes)
      b = static_cast<Byte>(random_());
    return bytes;
  }

  // Load by soname before ours is loaded by path, because the loader reuses a loaded soname.
  const IsalFunctions theirs{"libisal.so.2"};
  const IsalFunctions ours{CALPE_ISAL_LIBRARY};

 private:
  std::mt19937 random_{20};
};

// Shards that end before, or begin after, an inaccessible page.
class GuardedShards {
 public:
  using Byte = unsigned char;

  GuardedShards(std::size_t count, std::size_t bytes_max) {
    for (std::size_t i = 0; i < count; ++i)
      memory_.push_back(std::make_unique<GuardedShard>(bytes_max));
  }

  // Shards of `bytes` bytes, all at the guard named by `placement`.
  std::vector<Byte*> place(const Placement& placement, std::size_t bytes) const {
    std::vector<Byte*> shards;
    for (const auto& one : memory_)
      shards.push_back(reinterpret_cast<Byte*>(one->place(placement, bytes).data()));
    return shards;
  }
  void allow_writes(bool allowed) {
    for (const auto& one : memory_)
      one->allow_writes(allowed);
  }

 private:
  std::vector<std::unique_ptr<GuardedShard>> memory_;
};

}  // namespace calpe::tests
