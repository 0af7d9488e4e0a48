// SPDX-License-Identifier: Apache-2.0
// The Jerasure functions used by the harness, shared by both techniques.
#pragma once
#include <cstdlib>
#include <memory>
#include <vector>

#include "bench/harness/coder.hpp"
#include "bench/harness/shared_library.hpp"

namespace calpe::bench {

// Declared from jerasure.h, reed_sol.h and cauchy.h of Jerasure 2.0.
struct JerasureFunctions {
  int* (*reed_sol_vandermonde_coding_matrix)(int k, int m, int w) = nullptr;
  void (*jerasure_matrix_encode)(int k, int m, int w, int* matrix, char** data, char** coding,
                                 int size) = nullptr;
  int (*jerasure_make_decoding_matrix)(int k, int m, int w, int* matrix, int* erased,
                                       int* decoding_matrix, int* dm_ids) = nullptr;
  int* (*cauchy_original_coding_matrix)(int k, int m, int w) = nullptr;
  int* (*cauchy_good_general_coding_matrix)(int k, int m, int w) = nullptr;
  int* (*jerasure_matrix_to_bitmatrix)(int k, int m, int w, int* matrix) = nullptr;
  int** (*jerasure_smart_bitmatrix_to_schedule)(int k, int m, int w, int* bitmatrix) = nullptr;
  void (*jerasure_schedule_encode)(int k, int m, int w, int** schedule, char** data, char** coding,
                                   int size, int packetsize) = nullptr;
  int (*jerasure_make_decoding_bitmatrix)(int k, int m, int w, int* bitmatrix, int* erased,
                                          int* decoding_matrix, int* dm_ids) = nullptr;
  void (*jerasure_free_schedule)(int** schedule) = nullptr;
};

// Fails with invalid_argument if `library` is not Jerasure.
Result<JerasureFunctions> find_jerasure(const SharedLibrary& library);

struct FreeDeleter {
  void operator()(void* memory) const noexcept { std::free(memory); }
};
using JerasureMatrix = std::unique_ptr<int[], FreeDeleter>;  // Jerasure returns malloc'ed memory

// Pointers of one call in Jerasure's type.
struct JerasurePointers {
  std::vector<char*> sources;
  std::vector<char*> outputs;
};

inline char* as_chars(std::byte* pointer) {
  return reinterpret_cast<char*>(pointer);
}

inline PerStripe<JerasurePointers> encode_pointers(const StripeBuffers& stripes) {
  return {stripes, [](const StripeView& stripe) {
            JerasurePointers pointers;
            for (std::byte* shard : stripe.data())
              pointers.sources.push_back(as_chars(shard));
            for (std::byte* shard : stripe.parity())
              pointers.outputs.push_back(as_chars(shard));
            return pointers;
          }};
}

// `ids` are the survivors chosen by Jerasure.
inline PerStripe<JerasurePointers> decode_pointers(const StripeBuffers& stripes,
                                                   const std::vector<int>& ids,
                                                   std::size_t lost_count) {
  return {stripes, [&](const StripeView& stripe) {
            JerasurePointers pointers;
            for (const int id : ids)
              pointers.sources.push_back(as_chars(stripe.shards[static_cast<std::size_t>(id)]));
            for (std::byte* shard : stripe.rebuilt.first(lost_count))
              pointers.outputs.push_back(as_chars(shard));
            return pointers;
          }};
}

// One flag per shard, as jerasure_make_decoding_matrix expects.
inline std::vector<int> erased_flags(Shape shape, std::span<const ShardIndex> lost) {
  std::vector<int> erased(std::size_t{shape.data_shards} + shape.parity_shards, 0);
  for (const ShardIndex shard : lost)
    erased[shard] = 1;
  return erased;
}

std::unique_ptr<Coder> make_jerasure_vandermonde(const JerasureFunctions& functions,
                                                 const CoderRequest& request);
// Null if Jerasure has no such code or would need minutes to make its schedule.
std::unique_ptr<Coder> make_jerasure_cauchy(const JerasureFunctions& functions,
                                            const CoderRequest& request);

enum class JerasureCauchy : std::uint8_t { original, good };
// A given matrix and packet size with w = 8, instead of the fastest. Null as above, and if the
// shard length is not a multiple of a packet group.
std::unique_ptr<Coder> make_jerasure_cauchy_as(const JerasureFunctions& functions,
                                               const CoderRequest& request, JerasureCauchy matrix,
                                               std::size_t packet_bytes);

}  // namespace calpe::bench
