// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/roof.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace calpe::bench {

namespace {

using Sources = std::span<const std::byte* const>;
using Outputs = std::span<std::byte* const>;

// Compiler vectors, for CPUs without one of the kernels below.
template <RoofStores stores>
void roof_portable(Sources sources, Outputs outputs, std::size_t bytes) {
  constexpr std::size_t step = 64;
  for (std::size_t at = 0; at < bytes; at += step) {
    std::uint64_t sum[8] = {};
    for (const std::byte* source : sources) {
      std::uint64_t word[8];
      std::memcpy(word, source + at, step);
      for (int i = 0; i < 8; ++i)
        sum[i] ^= word[i];
    }
    for (std::byte* output : outputs)
      std::memcpy(output + at, sum, step);
  }
}

#if defined(__x86_64__)

#define CALPE_TARGET_AVX512 __attribute__((target("avx512f")))
#define CALPE_TARGET_AVX2 __attribute__((target("avx2")))

// Reads `width` vectors of each source before the next source.
template <RoofStores stores, int width>
CALPE_TARGET_AVX512 void roof_avx512(Sources sources, Outputs outputs, std::size_t bytes) {
  constexpr std::size_t step = std::size_t{64} * width;
  constexpr int xor3 = 0x96;  // truth table of a ^ b ^ c
  for (std::size_t at = 0; at < bytes; at += step) {
    __m512i sum[width];
#pragma GCC unroll 16
    for (int i = 0; i < width; ++i) {
      sum[i] = sources.empty() ? _mm512_setzero_si512()
                               : _mm512_loadu_si512(sources.front() + at + 64 * i);
    }
    std::size_t next = 1;
    for (; next + 1 < sources.size(); next += 2) {
      const std::byte* const first = sources[next] + at;
      const std::byte* const second = sources[next + 1] + at;
#pragma GCC unroll 16
      for (int i = 0; i < width; ++i) {
        sum[i] = _mm512_ternarylogic_epi64(sum[i], _mm512_loadu_si512(first + 64 * i),
                                           _mm512_loadu_si512(second + 64 * i), xor3);
      }
    }
    if (next < sources.size()) {
      const std::byte* const last = sources[next] + at;
#pragma GCC unroll 16
      for (int i = 0; i < width; ++i)
        sum[i] = _mm512_xor_si512(sum[i], _mm512_loadu_si512(last + 64 * i));
    }
    for (std::byte* output : outputs) {
#pragma GCC unroll 16
      for (int i = 0; i < width; ++i) {
        auto* const target = reinterpret_cast<__m512i*>(output + at + 64 * i);
        if constexpr (stores == RoofStores::plain) {
          _mm512_storeu_si512(target, sum[i]);
        } else {
          _mm512_stream_si512(target, sum[i]);
        }
      }
    }
  }
  if constexpr (stores == RoofStores::non_temporal) _mm_sfence();
}

template <RoofStores stores, int width>
CALPE_TARGET_AVX2 void roof_avx2(Sources sources, Outputs outputs, std::size_t bytes) {
  constexpr std::size_t step = std::size_t{32} * width;
  for (std::size_t at = 0; at < bytes; at += step) {
    __m256i sum[width];
#pragma GCC unroll 16
    for (int i = 0; i < width; ++i)
      sum[i] = _mm256_setzero_si256();
    for (const std::byte* source : sources) {
#pragma GCC unroll 16
      for (int i = 0; i < width; ++i) {
        const auto* const from = reinterpret_cast<const __m256i*>(source + at + 32 * i);
        sum[i] = _mm256_xor_si256(sum[i], _mm256_loadu_si256(from));
      }
    }
    for (std::byte* output : outputs) {
#pragma GCC unroll 16
      for (int i = 0; i < width; ++i) {
        auto* const target = reinterpret_cast<__m256i*>(output + at + 32 * i);
        if constexpr (stores == RoofStores::plain) {
          _mm256_storeu_si256(target, sum[i]);
        } else {
          _mm256_stream_si256(target, sum[i]);
        }
      }
    }
  }
  if constexpr (stores == RoofStores::non_temporal) _mm_sfence();
}

// Processes a few sources at a time over one page, with the sum in L1, because prefetchers follow
// only a few streams.
template <RoofKernel partial, RoofKernel last>
void roof_grouped(Sources sources, Outputs outputs, std::size_t bytes) {
  constexpr std::size_t group = 8;
  constexpr std::size_t page = 4096;
  alignas(64) std::byte sum[page];
  std::byte* const sums[1] = {sum};
  const std::byte* from[group + 1] = {};
  std::vector<std::byte*> to(outputs.size());
  for (std::size_t at = 0; at < bytes; at += page) {
    const std::size_t length = std::min(page, bytes - at);
    for (std::size_t first = 0; first < sources.size(); first += group) {
      std::size_t count = 0;
      if (first != 0) from[count++] = sum;
      for (std::size_t i = first; i < std::min(first + group, sources.size()); ++i)
        from[count++] = sources[i] + at;
      if (first + group < sources.size()) {
        partial(Sources(from, count), Outputs(sums), length);
        continue;
      }
      for (std::size_t i = 0; i < outputs.size(); ++i)
        to[i] = outputs[i] + at;
      last(Sources(from, count), to, length);
    }
  }
}

#endif

template <RoofStores stores>
RoofKernel choose(std::size_t source_count, std::size_t bytes) noexcept {
#if defined(__x86_64__)
  constexpr std::size_t kib = 1024;
  // 8 vectors are 10 % faster than 4 in L1; for a medium number of streams 4 are best.
  const bool is_short = bytes <= 16 * kib;
  // Short sources that do not fit into L2 are read once from end to end, not 512 bytes of each.
  const bool is_beyond_l2 = source_count * bytes > 2048 * kib;
  const bool is_wide = source_count > 64 && (!is_short || is_beyond_l2);
  if (__builtin_cpu_supports("avx512f")) {
    if (is_wide) return roof_grouped<roof_avx512<RoofStores::plain, 4>, roof_avx512<stores, 4>>;
    return is_short ? roof_avx512<stores, 8> : roof_avx512<stores, 4>;
  }
  if (__builtin_cpu_supports("avx2")) {
    if (is_wide) return roof_grouped<roof_avx2<RoofStores::plain, 4>, roof_avx2<stores, 4>>;
    return roof_avx2<stores, 4>;
  }
#else
  static_cast<void>(source_count);
  static_cast<void>(bytes);
#endif
  return roof_portable<stores>;
}

}  // namespace

RoofKernel roof_kernel(RoofStores stores, std::size_t source_count, std::size_t bytes) noexcept {
  return stores == RoofStores::plain ? choose<RoofStores::plain>(source_count, bytes)
                                     : choose<RoofStores::non_temporal>(source_count, bytes);
}

std::string_view roof_instructions() noexcept {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return "AVX-512";
  if (__builtin_cpu_supports("avx2")) return "AVX2";
#endif
  return "portable";
}

}  // namespace calpe::bench
