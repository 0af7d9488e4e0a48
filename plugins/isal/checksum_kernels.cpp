// SPDX-License-Identifier: Apache-2.0
#include "isal/checksum_kernels.hpp"

#include <string>
#include <string_view>

#include <calpe/calpe.h>

namespace calpe_isal {

namespace {

#if defined(__x86_64__)

// Name of the CPU path that Calpe uses here, such as "avx2"; empty if CALPE_CPU names none. The
// smallest codec knows it.
std::string path_name() {
  calpe_spec spec = CALPE_SPEC_INIT;
  spec.data_shards = 1;
  spec.parity_shards = 1;
  calpe_options options = CALPE_OPTIONS_INIT;
  options.backend = "cpu";
  calpe_codec* codec = nullptr;
  if (calpe_codec_create(&spec, &options, &codec, nullptr) != CALPE_OK) return {};
  const std::string_view backend = calpe_codec_backend(codec);
  std::string name(backend.substr(backend.find(':') + 1));
  calpe_codec_destroy(codec);
  return name;
}

// Calpe's paths include what the operating system must save for AVX2 and AVX-512.
ChecksumKernels choose() {
  const std::string path = path_name();
  const bool has_avx512 = path.starts_with("avx512");
  const bool has_avx2 = has_avx512 || path.starts_with("avx2");
  const bool has_ssse3 = has_avx2 || path.starts_with("ssse3");
  ChecksumKernels kernels;
  if (has_avx2) kernels.adler = adler_avx2;
  if (!has_ssse3 || __builtin_cpu_supports("pclmul") == 0) return kernels;
  kernels.fold = fold_pclmul;
  kernels.fold_long =
      has_avx512 && __builtin_cpu_supports("vpclmulqdq") != 0 ? fold_vpclmul : fold_pclmul;
  return kernels;
}

#else

ChecksumKernels choose() {
  return {};
}

#endif

}  // namespace

const ChecksumKernels& checksum_kernels() {
  static const ChecksumKernels chosen = choose();
  return chosen;
}

}  // namespace calpe_isal
