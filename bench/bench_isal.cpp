// SPDX-License-Identifier: Apache-2.0
// Compares our libisal.so.2 with another one as liberasurecode uses it: tables built in every call.
//   bench_isal OURS THEIRS [aligned|malloc] [ROUNDS]
// Prints the ratio of best rounds, interleaved. `aligned`: shards at multiples of 64 bytes.
// `malloc`: each shard from malloc, after an 80-byte header, as in liberasurecode.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "bench/harness/clock.hpp"
#include "bench/harness/shared_library.hpp"

namespace {

using calpe::bench::Clock;
using calpe::bench::seconds_now;
using calpe::bench::SharedLibrary;
using Byte = unsigned char;

struct Isal {
  void (*ec_init_tables)(int k, int rows, Byte* matrix, Byte* tables) = nullptr;
  void (*ec_encode_data)(int len, int k, int rows, Byte* tables, Byte** data,
                         Byte** coding) = nullptr;
  void (*gf_gen_rs_matrix)(Byte* matrix, int rows, int k) = nullptr;
  void (*gf_gen_cauchy1_matrix)(Byte* matrix, int rows, int k) = nullptr;
  int (*gf_invert_matrix)(Byte* in, Byte* out, int size) = nullptr;

  bool find(const SharedLibrary& library) {
    return library.find("ec_init_tables", ec_init_tables) &&
           library.find("ec_encode_data", ec_encode_data) &&
           library.find("gf_gen_rs_matrix", gf_gen_rs_matrix) &&
           library.find("gf_gen_cauchy1_matrix", gf_gen_cauchy1_matrix) &&
           library.find("gf_invert_matrix", gf_invert_matrix);
  }
};

struct Cell {
  const char* code;
  const char* operation;
  std::size_t k;
  std::size_t m;
  std::size_t bytes;
  std::vector<Byte> rows;  // m x k
};

// Inputs and outputs. Both libraries write to the same outputs, because placement affects speed.
class Memory {
 public:
  Memory(const Cell& cell, bool is_aligned) : bytes_(cell.bytes), inputs_(cell.k), rows_(cell.m) {
    const std::size_t count = cell.k + cell.m;
    const std::size_t stride = bytes_ + 64;  // no two start at the same page offset
    if (is_aligned) {
      Byte* const all = allocate(count * stride + 64);
      const std::size_t skipped = 64 - reinterpret_cast<std::uintptr_t>(all) % 64;
      for (std::size_t i = 0; i < count; ++i)
        shards_.push_back(all + skipped + i * stride);
    } else {
      for (std::size_t i = 0; i < count; ++i)
        shards_.push_back(allocate(header_bytes + bytes_) + header_bytes);
    }
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t b = 0; b < bytes_; ++b)
        shards_[i][b] = static_cast<Byte>((b + i * bytes_) * 2654435761U >> 13);
    }
  }
  ~Memory() {
    for (Byte* one : allocated_)
      std::free(one);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  std::vector<Byte*> inputs() const { return list(0, inputs_); }
  std::vector<Byte*> outputs() const { return list(inputs_, rows_); }
  std::vector<Byte> content() const {
    std::vector<Byte> all;
    for (const Byte* output : outputs())
      all.insert(all.end(), output, output + bytes_);
    return all;
  }

 private:
  static constexpr std::size_t header_bytes = 80;

  Byte* allocate(std::size_t bytes) {
    allocated_.push_back(static_cast<Byte*>(std::malloc(bytes)));
    if (allocated_.back() == nullptr) std::abort();
    return allocated_.back();
  }
  std::vector<Byte*> list(std::size_t first, std::size_t count) const {
    const auto begin = shards_.begin() + static_cast<std::ptrdiff_t>(first);
    return {begin, begin + static_cast<std::ptrdiff_t>(count)};
  }
  std::size_t bytes_, inputs_, rows_;
  std::vector<Byte*> allocated_;
  std::vector<Byte*> shards_;
};

// Seconds for `count` calls, including table setup.
double seconds_of(const Isal& isal, Cell& cell, std::vector<Byte>& tables,
                  std::vector<Byte*>& inputs, std::vector<Byte*>& outputs, int count) {
  const auto k = static_cast<int>(cell.k);
  const auto m = static_cast<int>(cell.m);
  const double start = seconds_now(Clock::thread_cpu);
  for (int i = 0; i < count; ++i) {
    isal.ec_init_tables(k, m, cell.rows.data(), tables.data());
    isal.ec_encode_data(static_cast<int>(cell.bytes), k, m, tables.data(), inputs.data(),
                        outputs.data());
  }
  return seconds_now(Clock::thread_cpu) - start;
}

struct Outcome {
  double best[2] = {1e9, 1e9};  // seconds per call
  bool agree = false;
};

Outcome measure(const Isal (&libraries)[2], Cell& cell, bool is_aligned, int rounds) {
  const Memory memory(cell, is_aligned);
  std::vector<Byte> tables(32 * cell.k * cell.m);
  std::vector<Byte*> inputs = memory.inputs();
  std::vector<Byte*> outputs = memory.outputs();
  seconds_of(libraries[0], cell, tables, inputs, outputs, 1);
  const std::vector<Byte> written = memory.content();
  const double once = seconds_of(libraries[1], cell, tables, inputs, outputs, 1) + 1e-7;
  Outcome outcome;
  outcome.agree = written == memory.content();
  const int calls = std::clamp(static_cast<int>(1e-3 / once), 1, 2000);
  for (int round = 0; round < rounds; ++round) {
    for (int turn = 0; turn < 2; ++turn) {
      const int which = (round + turn) % 2;
      const double seconds =
          seconds_of(libraries[which], cell, tables, inputs, outputs, calls) / calls;
      outcome.best[which] = std::min(outcome.best[which], seconds);
    }
  }
  return outcome;
}

// Parity rows, or rows that rebuild the first m data shards from the remaining ones.
std::vector<Byte> rows_of(const Isal& isal, const Cell& cell) {
  const std::size_t n = cell.k + cell.m;
  std::vector<Byte> all(n * cell.k);
  const bool is_cauchy = std::strcmp(cell.code, "cauchy") == 0;
  (is_cauchy ? isal.gf_gen_cauchy1_matrix : isal.gf_gen_rs_matrix)(all.data(), static_cast<int>(n),
                                                                   static_cast<int>(cell.k));
  const auto at = [&](std::size_t row) {
    return all.begin() + static_cast<std::ptrdiff_t>(row * cell.k);
  };
  if (std::strcmp(cell.operation, "encode") == 0) return {at(cell.k), all.end()};
  std::vector<Byte> survivors(at(cell.m), all.end());
  std::vector<Byte> inverse(cell.k * cell.k);
  if (isal.gf_invert_matrix(survivors.data(), inverse.data(), static_cast<int>(cell.k)) != 0)
    std::abort();
  inverse.resize(cell.m * cell.k);
  return inverse;
}

int compare(const Isal (&libraries)[2], bool is_aligned, int rounds) {
  int behind = 0;
  std::printf("code    operation  shape     bytes     ours   theirs  ratio\n");
  for (const char* code : {"vand", "cauchy"}) {
    for (const char* operation : {"encode", "decode"}) {
      for (const auto& [k, m] : {std::pair<std::size_t, std::size_t>{4, 2}, {10, 4}}) {
        for (std::size_t bytes = 4096; bytes <= 1U << 20; bytes *= 4) {
          Cell cell{code, operation, k, m, bytes, {}};
          cell.rows = rows_of(libraries[1], cell);
          const Outcome outcome = measure(libraries, cell, is_aligned, rounds);
          if (!outcome.agree) {
            std::printf("bytes differ\n");
            return 2;
          }
          const double gigabytes = 1e-9 * static_cast<double>(k * bytes);
          const double ratio = outcome.best[1] / outcome.best[0];
          behind += ratio < 1 ? 1 : 0;
          std::printf("%-7s %-9s  %2zu+%zu  %8zu  %7.2f  %7.2f  %5.2f\n", code, operation, k, m,
                      bytes, gigabytes / outcome.best[0], gigabytes / outcome.best[1], ratio);
        }
      }
    }
  }
  std::printf("%d cells below 1.00; GB/s of data, including table setup\n", behind);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string layout = argc > 3 ? argv[3] : "aligned";
  const int rounds = argc > 4 ? std::atoi(argv[4]) : 60;
  if (argc < 3 || argc > 5 || (layout != "aligned" && layout != "malloc") || rounds < 1) {
    std::fprintf(stderr, "usage: bench_isal OURS THEIRS [aligned|malloc] [ROUNDS]\n");
    return 1;
  }
  Isal libraries[2];
  std::vector<SharedLibrary> open;
  open.reserve(2);
  for (int i = 0; i < 2; ++i) {
    auto library = SharedLibrary::open(argv[1 + i]);
    if (!library || !libraries[i].find(*library)) {
      std::fprintf(stderr, "%s: %s\n", argv[1 + i],
                   library ? "lacks functions" : library.error().message.c_str());
      return 1;
    }
    std::printf("%s: %s\n", i == 0 ? "ours" : "theirs", library->path().c_str());
    open.push_back(*std::move(library));
  }
  if (open[0].path() == open[1].path()) {
    std::fprintf(stderr, "both are %s\n", open[0].path().c_str());
    return 1;
  }
  return compare(libraries, layout == "aligned", rounds);
}
