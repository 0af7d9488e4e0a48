// SPDX-License-Identifier: Apache-2.0
// Compares the checksums of our libisal.so.2 with those of another one.
//   bench_isal_checksums OURS THEIRS [ROUNDS]
// Prints GB/s of the best rounds, interleaved, for messages in the caches.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "bench/harness/clock.hpp"
#include "bench/harness/shared_library.hpp"

namespace {

using calpe::bench::Clock;
using calpe::bench::seconds_now;
using calpe::bench::SharedLibrary;
using Byte = unsigned char;

struct Checksums {
  std::uint32_t (*crc32_gzip_refl)(std::uint32_t, const Byte*, std::uint64_t) = nullptr;
  unsigned (*crc32_iscsi)(Byte*, int, unsigned) = nullptr;
  std::uint64_t (*crc64_ecma_refl)(std::uint64_t, const Byte*, std::uint64_t) = nullptr;
  std::uint16_t (*crc16_t10dif)(std::uint16_t, const Byte*, std::uint64_t) = nullptr;
  std::uint32_t (*isal_adler32)(std::uint32_t, const Byte*, std::uint64_t) = nullptr;

  bool find(const SharedLibrary& library) {
    return library.find("crc32_gzip_refl", crc32_gzip_refl) &&
           library.find("crc32_iscsi", crc32_iscsi) &&
           library.find("crc64_ecma_refl", crc64_ecma_refl) &&
           library.find("crc16_t10dif", crc16_t10dif) && library.find("isal_adler32", isal_adler32);
  }
};

constexpr std::array names = {"crc32_gzip_refl", "crc32_iscsi", "crc64_ecma_refl", "crc16_t10dif",
                              "isal_adler32"};

std::uint64_t call(const Checksums& library, std::size_t which, std::uint64_t init,
                   std::vector<Byte>& message) {
  const auto word = static_cast<std::uint32_t>(init);
  switch (which) {
    case 0:
      return library.crc32_gzip_refl(word, message.data(), message.size());
    case 1:
      return library.crc32_iscsi(message.data(), static_cast<int>(message.size()), word);
    case 2:
      return library.crc64_ecma_refl(init, message.data(), message.size());
    case 3:
      return library.crc16_t10dif(static_cast<std::uint16_t>(init), message.data(), message.size());
    default:
      return library.isal_adler32(word, message.data(), message.size());
  }
}

// Seconds of one call in the best of the rounds. Each call starts with the result of the last one.
struct Outcome {
  std::array<double, 2> best = {1e9, 1e9};
  std::array<std::uint64_t, 2> last = {};
};

Outcome measure(const std::array<Checksums, 2>& libraries, std::size_t which, std::size_t bytes,
                int rounds) {
  std::vector<Byte> message(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    message[i] = static_cast<Byte>(i * 2654435761U >> 13);
  const std::size_t calls = std::max<std::size_t>(1, (std::size_t{1} << 22) / (bytes + 256));
  Outcome outcome;
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t turn = 0; turn < 2; ++turn) {
      const std::size_t side = (static_cast<std::size_t>(round) + turn) % 2;
      const double start = seconds_now(Clock::thread_cpu);
      for (std::size_t i = 0; i < calls; ++i)
        outcome.last[side] = call(libraries[side], which, outcome.last[side], message);
      const double seconds = seconds_now(Clock::thread_cpu) - start;
      outcome.best[side] = std::min(outcome.best[side], seconds / static_cast<double>(calls));
    }
  }
  return outcome;
}

int compare(const std::array<Checksums, 2>& libraries, int rounds) {
  std::printf("function             bytes     ours   theirs  ratio\n");
  for (std::size_t which = 0; which < names.size(); ++which) {
    for (const std::size_t bytes : {64U, 512U, 4096U, 65536U, 1U << 20}) {
      const Outcome outcome = measure(libraries, which, bytes, rounds);
      if (outcome.last[0] != outcome.last[1]) {
        std::printf("%s of %zu bytes differs\n", names[which], bytes);
        return 2;
      }
      const double gigabytes = 1e-9 * static_cast<double>(bytes);
      std::printf("%-16s  %8zu  %7.2f  %7.2f  %5.2f\n", names[which], bytes,
                  gigabytes / outcome.best[0], gigabytes / outcome.best[1],
                  outcome.best[1] / outcome.best[0]);
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 60;
  if (argc < 3 || argc > 4 || rounds < 1) {
    std::fprintf(stderr, "usage: bench_isal_checksums OURS THEIRS [ROUNDS]\n");
    return 1;
  }
  std::array<Checksums, 2> libraries;
  std::vector<SharedLibrary> open;
  open.reserve(2);
  for (std::size_t i = 0; i < 2; ++i) {
    auto library = SharedLibrary::open(argv[1 + i]);
    if (!library || !libraries[i].find(*library)) {
      std::fprintf(stderr, "%s: %s\n", argv[1 + i],
                   library ? "lacks functions" : library.error().message.c_str());
      return 1;
    }
    open.push_back(*std::move(library));
  }
  if (open[0].path() == open[1].path()) {
    std::fprintf(stderr, "both are %s; expected two libraries\n", open[0].path().c_str());
    return 1;
  }
  return compare(libraries, rounds);
}
