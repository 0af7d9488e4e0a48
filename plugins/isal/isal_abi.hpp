// SPDX-License-Identifier: Apache-2.0
// The interface of libisal.so.2 for erasure codes, RAID and checksums, as programs compiled with
// ISA-L's headers expect it. Lengths are in bytes. A negative length or count means nothing to do.
#pragma once
#include <cstdint>

#define CALPE_ISAL_API extern "C" __attribute__((visibility("default")))

namespace calpe_isal {
using Byte = unsigned char;
}

// --- erasure codes: GF(2^8) with polynomial 0x11D. `tables` holds 32 bytes for each coefficient,
// row by row. Shards may have any length and alignment.

// Fills the tables for the rows x k coefficients in `matrix`.
CALPE_ISAL_API void ec_init_tables(int k, int rows, unsigned char* matrix, unsigned char* tables);
// coding[r] = sum of coefficient (r, i) * data[i]
CALPE_ISAL_API void ec_encode_data(int len, int k, int rows, unsigned char* tables,
                                   unsigned char** data, unsigned char** coding);
// coding[r] += coefficient (r, index) * data
CALPE_ISAL_API void ec_encode_data_update(int len, int k, int rows, int index,
                                          unsigned char* tables, unsigned char* data,
                                          unsigned char** coding);
// dest = sum of coefficient i * src[i]
CALPE_ISAL_API void gf_vect_dot_prod(int len, int count, unsigned char* tables, unsigned char** src,
                                     unsigned char* dest);
// dest += coefficient `index` * src
CALPE_ISAL_API void gf_vect_mad(int len, int count, int index, unsigned char* tables,
                                unsigned char* src, unsigned char* dest);
// dest = coefficient * src; src may equal dest. Returns 1 if len is not a multiple of 32.
CALPE_ISAL_API int gf_vect_mul(int len, unsigned char* table, void* src, void* dest);
// c * x for x = 0..15, then for x = 0x00, 0x10 .. 0xF0
CALPE_ISAL_API void gf_vect_mul_init(unsigned char c, unsigned char* table);

CALPE_ISAL_API void ec_encode_data_base(int len, int k, int rows, unsigned char* tables,
                                        unsigned char** data, unsigned char** coding);
CALPE_ISAL_API void ec_encode_data_update_base(int len, int k, int rows, int index,
                                               unsigned char* tables, unsigned char* data,
                                               unsigned char** coding);
CALPE_ISAL_API void gf_vect_dot_prod_base(int len, int count, unsigned char* tables,
                                          unsigned char** src, unsigned char* dest);
CALPE_ISAL_API void gf_vect_mad_base(int len, int count, int index, unsigned char* tables,
                                     unsigned char* src, unsigned char* dest);
CALPE_ISAL_API void gf_vect_mul_base(int len, unsigned char* table, unsigned char* src,
                                     unsigned char* dest);

// --- matrices. `rows` counts all shards, k + m.

CALPE_ISAL_API unsigned char gf_mul(unsigned char a, unsigned char b);
CALPE_ISAL_API unsigned char gf_inv(unsigned char a);  // 0 for 0
CALPE_ISAL_API void gf_gen_rs_matrix(unsigned char* matrix, int rows, int k);
CALPE_ISAL_API void gf_gen_cauchy1_matrix(unsigned char* matrix, int rows, int k);
// Returns -1 if `in` is singular. Overwrites `in`.
CALPE_ISAL_API int gf_invert_matrix(unsigned char* in, unsigned char* out, int size);

// --- RAID. Returns 0 on success. `array` ends with the parity: one shard for xor, P and Q for pq.

CALPE_ISAL_API int xor_gen(int count, int len, void** array);    // count >= 3
CALPE_ISAL_API int xor_check(int count, int len, void** array);  // count >= 2
// Q = sum of 2^i * array[i]
CALPE_ISAL_API int pq_gen(int count, int len, void** array);    // count >= 4, len multiple of 32
CALPE_ISAL_API int pq_check(int count, int len, void** array);  // count >= 4, len multiple of 16

CALPE_ISAL_API int xor_gen_base(int count, int len, void** array);
CALPE_ISAL_API int xor_check_base(int count, int len, void** array);
CALPE_ISAL_API int pq_gen_base(int count, int len, void** array);
CALPE_ISAL_API int pq_check_base(int count, int len, void** array);

// --- checksums. For a message in parts, pass the checksum of the earlier parts as `init`.

// CRC-32 of gzip, equal to crc32() of zlib. Starts with 0.
CALPE_ISAL_API std::uint32_t crc32_gzip_refl(std::uint32_t init, const unsigned char* data,
                                             std::uint64_t bytes);
// CRC-32C without the inversions that iSCSI does before and after.
CALPE_ISAL_API unsigned int crc32_iscsi(unsigned char* data, int bytes, unsigned int init);
// CRC-64/XZ, with the polynomial of ECMA-182. Starts with 0.
CALPE_ISAL_API std::uint64_t crc64_ecma_refl(std::uint64_t init, const unsigned char* data,
                                             std::uint64_t bytes);
// CRC-16 of T10 DIF, not reflected. Starts with 0.
CALPE_ISAL_API std::uint16_t crc16_t10dif(std::uint16_t init, const unsigned char* data,
                                          std::uint64_t bytes);
// Adler-32, equal to adler32() of zlib. Starts with 1.
CALPE_ISAL_API std::uint32_t isal_adler32(std::uint32_t init, const unsigned char* data,
                                          std::uint64_t bytes);
