// SPDX-License-Identifier: Apache-2.0
// Measures what Ceph 20 calls in optimised pools, calpe and the shipped isa in one process.
//
//   calpe_ceph_shards_bench [ROUNDS [MILLISECONDS [WORKING_SET_KIB [DELTA_BAR CODE_BAR]]]]
//
// A delta write is encode_delta and apply_delta for one data chunk. Both plugins take turns within
// a round. Prints the best round of each, the ratio of the best, and the median of the ratios of
// the rounds. A working set of 0 uses the same stripe again and again, so that it stays in the
// caches. Exit 1 if a ratio is below its bar. DELTA_BAR is for chunks of 4 KiB; with longer ones
// both plugins wait for the caches.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>

#include "distributed/ceph/plugin_host.hpp"

namespace {

using ceph::bufferptr;
using ceph::ShardBuffers;

struct Settings {
  int rounds = 15;
  double seconds = 0.01;
  std::size_t working_set = 0;
  double delta_bar = 0, code_bar = 0;
};

struct Shape {
  unsigned data, parity;
};

// CPU time of this thread, which does all the work.
double thread_seconds() {
  std::timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// One stripe with the maps that daemons pass.
struct Stripe {
  ShardBuffers data, parity, deltas, survivors, lost;
  bufferptr after, delta;

  Stripe(const Shape& shape, unsigned bytes, unsigned seed)
      : data(shape.data + shape.parity),
        parity(shape.data + shape.parity),
        deltas(shape.data + shape.parity),
        survivors(shape.data + shape.parity),
        lost(shape.data + shape.parity) {
    const auto page_buffer = [&](unsigned number) {
      bufferptr buffer(ceph::buffer::create_aligned(bytes, 4096));
      const std::string random = ceph_host::random_bytes(bytes, seed * 64 + number);
      std::memcpy(buffer.c_str(), random.data(), bytes);
      return buffer;
    };
    for (unsigned shard = 0; shard < shape.data + shape.parity; ++shard) {
      const bufferptr buffer = page_buffer(shard);
      (shard < shape.data ? data : parity).put(shard) = buffer;
      (shard < shape.parity ? lost : survivors).put(shard) = buffer;
    }
    after = page_buffer(62);
    delta = page_buffer(63);
    deltas.put(1) = delta;
  }
};

class Case {
 public:
  Case(const Settings& settings, const Shape& shape, unsigned chunk_bytes)
      : settings_(settings), shape_(shape), chunk_bytes_(chunk_bytes) {
    const std::size_t stripe_bytes = std::size_t{chunk_bytes} * (shape.data + shape.parity);
    const std::size_t count = std::max<std::size_t>(settings.working_set / stripe_bytes, 1);
    for (std::size_t i = 0; i < count; ++i)
      stripes_.push_back(std::make_unique<Stripe>(shape, chunk_bytes, static_cast<unsigned>(i)));
    for (unsigned shard = 0; shard < shape.parity; ++shard)
      want_.insert(shard);
  }

  // Returns 1 if a ratio is below its bar.
  int run() {
    const std::array codes = {code("calpe"), code("isa")};
    int below = 0;
    below |= compare("delta write", chunk_bytes_ == 4096 ? settings_.delta_bar : 0, chunk_bytes_,
                     [&](int who, Stripe& s) {
                       codes[who]->encode_delta(s.data.at(1), s.after, &s.delta);
                       codes[who]->apply_delta(s.deltas, s.parity);
                     });
    compare("encode_delta", 0, chunk_bytes_,
            [&](int who, Stripe& s) { codes[who]->encode_delta(s.data.at(1), s.after, &s.delta); });
    compare("apply_delta", 0, chunk_bytes_,
            [&](int who, Stripe& s) { codes[who]->apply_delta(s.deltas, s.parity); });
    const double stripe_bytes = static_cast<double>(chunk_bytes_) * shape_.data;
    below |= compare("encode", settings_.code_bar, stripe_bytes, [&](int who, Stripe& s) {
      if (codes[who]->encode_chunks(s.data, s.parity) != 0) fail("encode_chunks");
    });
    below |= compare("decode", settings_.code_bar, stripe_bytes, [&](int who, Stripe& s) {
      if (codes[who]->decode_chunks(want_, s.survivors, s.lost) != 0) fail("decode_chunks");
    });
    return below;
  }

 private:
  [[noreturn]] static void fail(const std::string& what) {
    std::fprintf(stderr, "%s\n", what.c_str());
    std::exit(1);
  }

  ceph::ErasureCodeInterfaceRef code(const char* plugin) const {
    ceph_host::Profile profile = {{"plugin", plugin},
                                  {"k", std::to_string(shape_.data)},
                                  {"m", std::to_string(shape_.parity)}};
    const ceph_host::Made made = ceph_host::make_code(profile);
    if (made.status != 0) fail(made.message);
    return made.code;
  }

  int compare(const char* name, double bar, double bytes,
              const std::function<void(int, Stripe&)>& work) {
    std::array<std::vector<double>, 2> rates;
    std::vector<double> ratios;
    for (int round = 0; round < settings_.rounds; ++round) {
      for (const int who : {0, 1})
        rates[static_cast<std::size_t>(who)].push_back(rate(bytes, who, work));
      ratios.push_back(rates[0].back() / rates[1].back());
    }
    std::sort(ratios.begin(), ratios.end());
    const double ours = *std::max_element(rates[0].begin(), rates[0].end());
    const double theirs = *std::max_element(rates[1].begin(), rates[1].end());
    const bool is_below = ours / theirs < bar;
    std::printf("%2u+%u %6u  %-12s %8.2f %8.2f %7.2f %7.2f%s\n", shape_.data, shape_.parity,
                chunk_bytes_, name, ours, theirs, ours / theirs, ratios[ratios.size() / 2],
                is_below ? "  below the bar" : "");
    std::fflush(stdout);
    return is_below ? 1 : 0;
  }

  double rate(double bytes, int who, const std::function<void(int, Stripe&)>& work) {
    std::size_t calls = 0;
    double seconds = 0;
    const double start = thread_seconds();
    do {
      for (int i = 0; i < 64; ++i)
        work(who, *stripes_[calls++ % stripes_.size()]);
      seconds = thread_seconds() - start;
    } while (seconds < settings_.seconds);
    return static_cast<double>(calls) * bytes / seconds / 1e9;
  }

  Settings settings_;
  Shape shape_;
  unsigned chunk_bytes_;
  std::vector<std::unique_ptr<Stripe>> stripes_;
  shard_id_set want_;
};

Settings read_arguments(int count, char** arguments) {
  Settings settings;
  if (count > 1) settings.rounds = std::max(1, std::atoi(arguments[1]));
  if (count > 2) settings.seconds = std::atof(arguments[2]) / 1e3;
  if (count > 3) settings.working_set = std::strtoul(arguments[3], nullptr, 10) << 10;
  if (count > 5) {
    settings.delta_bar = std::atof(arguments[4]);
    settings.code_bar = std::atof(arguments[5]);
  }
  return settings;
}

}  // namespace

int main(int count, char** arguments) {
  const Settings settings = read_arguments(count, arguments);
  std::printf(
      "GB/s of data, best of %d rounds; a delta write changes one chunk; decode: m data chunks are "
      "lost\n"
      "k+m   chunk  call            calpe      isa  best/best  median\n",
      settings.rounds);
  int below = 0;
  for (const unsigned chunk_bytes : {4096u, 16384u, 65536u}) {
    for (const Shape& shape : {Shape{4, 2}, Shape{8, 3}, Shape{10, 4}})
      below |= Case(settings, shape, chunk_bytes).run();
  }
  return below;
}
