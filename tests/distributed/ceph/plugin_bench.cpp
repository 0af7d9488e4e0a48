// SPDX-License-Identifier: Apache-2.0
// Measures plugins in one process, called as by daemons: one stripe per call.
//
//   calpe_ceph_bench [ROUNDS [MILLISECONDS [WORKING_SET_MIB [BAR [SHAPE...]]]]]
//
// Plugins take turns within a round, so that what else the machine does hits all alike; medians of
// the rounds are compared. Next to them runs the codec alone, on the same bytes without a single
// buffer list: "gap" is how far below it a plugin is, and so the share of calpe's time that goes
// into buffers, maps and plan lookups. Exit 1 when calpe at 4 KiB is not BAR times as fast as isa.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>

#include <calpe/calpe.h>

#include "distributed/ceph/plugin_host.hpp"

namespace {

using ceph_host::Profile;

struct Shape {
  unsigned data, parity;
};

struct Settings {
  int rounds = 9;
  double seconds = 0.02;
  std::size_t working_set = std::size_t{8} << 20;
  double bar = 0;
  std::vector<Shape> shapes = {{4, 2}, {8, 3}, {10, 4}};
};

// One line of the table: plugin, and GB/s of data in every round.
struct Candidate {
  std::string name;
  std::function<void(std::size_t stripe)> encode, decode;
  std::vector<double> encode_rates = {}, decode_rates = {};
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// CPU time of this thread, which does all the work.
double thread_seconds() {
  std::timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

class Case {
 public:
  Case(const Settings& settings, const Shape& shape, unsigned chunk_bytes)
      : settings_(settings), shape_(shape), chunk_bytes_(chunk_bytes) {
    stripe_bytes_ = chunk_bytes * shape.data;
    stripe_count_ = std::max<std::size_t>(settings.working_set / stripe_bytes_, 2);
    const std::string bytes = ceph_host::random_bytes(stripe_bytes_ * stripe_count_, 1);
    object_ =
        ceph::bufferptr(ceph::buffer::create_aligned(static_cast<unsigned>(bytes.size()), 4096));
    std::memcpy(object_.c_str(), bytes.data(), bytes.size());
    for (unsigned i = 0; i < shape.data + shape.parity; ++i)
      all_.insert(static_cast<int>(i));
  }

  // The smaller ratio of calpe to isa, of encode and decode.
  double run() {
    add_plugin("calpe", {});
    add_plugin("isa", {{"technique", "cauchy"}});
    add_plugin("jerasure", {{"technique", "reed_sol_van"}});
    add_codec();
    for (int round = 0; round < settings_.rounds; ++round) {
      for (Candidate& candidate : candidates_)
        candidate.encode_rates.push_back(rate(candidate.encode));
      for (Candidate& candidate : candidates_)
        candidate.decode_rates.push_back(rate(candidate.decode));
    }
    print();
    return std::min(median(candidates_[0].encode_rates) / median(candidates_[1].encode_rates),
                    median(candidates_[0].decode_rates) / median(candidates_[1].decode_rates));
  }

 private:
  ceph::bufferlist stripe(std::size_t index) const {
    ceph::bufferlist list;
    list.push_back(ceph::bufferptr(object_, static_cast<unsigned>(index * stripe_bytes_),
                                   static_cast<unsigned>(stripe_bytes_)));
    return list;
  }

  [[noreturn]] static void fail(const std::string& what) {
    std::fprintf(stderr, "%s\n", what.c_str());
    std::exit(1);
  }

  // Keeps every stripe encoded, with m lost data chunks.
  void add_plugin(const std::string& name, Profile profile) {
    profile["plugin"] = name;
    profile["k"] = std::to_string(shape_.data);
    profile["m"] = std::to_string(shape_.parity);
    const ceph_host::Made made = ceph_host::make_code(profile);
    if (made.status != 0) fail(name + ": " + made.message);
    const ceph::ErasureCodeInterfaceRef code = made.code;
    if (code->get_chunk_size(static_cast<unsigned>(stripe_bytes_)) != chunk_bytes_) {
      fail(name + " has other chunks");
    }
    auto survivors = std::make_shared<std::vector<ceph::Chunks>>(stripe_count_);
    for (std::size_t i = 0; i < stripe_count_; ++i) {
      ceph::Chunks& chunks = (*survivors)[i];
      if (code->encode(all_, stripe(i), &chunks) != 0) fail(name + " does not encode");
      for (unsigned lost = 0; lost < shape_.parity; ++lost)
        chunks.erase(static_cast<int>(lost));
      ceph::bufferlist whole;
      if (code->decode_concat(chunks, &whole) != 0 ||
          ceph_host::bytes_of(whole) != ceph_host::bytes_of(stripe(i))) {
        fail(name + " decodes other bytes");
      }
    }
    candidates_.push_back({name,
                           [this, code](std::size_t i) {
                             ceph::Chunks encoded;
                             if (code->encode(all_, stripe(i), &encoded) != 0) fail("encode");
                           },
                           [survivors, code](std::size_t i) {
                             ceph::bufferlist whole;
                             if (code->decode_concat((*survivors)[i], &whole) != 0) fail("decode");
                           }});
  }

  // Outputs go to cached memory, as with freed and reallocated buffers.
  void add_codec() {
    calpe_spec spec = {};
    spec.struct_size = sizeof spec;
    spec.data_shards = shape_.data;
    spec.parity_shards = shape_.parity;
    calpe_codec* codec = nullptr;
    if (calpe_codec_create(&spec, nullptr, &codec, nullptr) != CALPE_OK) fail("no codec");
    auto scratch = std::make_shared<std::vector<char>>(chunk_bytes_ * shape_.parity + 64);
    auto outputs = std::make_shared<std::vector<void*>>();
    const std::size_t skip = -reinterpret_cast<std::uintptr_t>(scratch->data()) % 64;
    for (std::size_t i = 0; i < shape_.parity; ++i)
      outputs->push_back(scratch->data() + skip + i * chunk_bytes_);
    std::vector<std::uint16_t> available, lost;
    for (std::uint16_t i = 0; i < shape_.data + shape_.parity; ++i)
      (i < shape_.parity ? lost : available).push_back(i);
    calpe_plan* plan = nullptr;
    if (calpe_plan_decode(codec, available.data(), available.size(), lost.data(), lost.size(),
                          nullptr, &plan, nullptr) != CALPE_OK) {
      fail("no plan");
    }
    const auto inputs = [this](std::size_t i, std::array<const void*, 32>& pointers) {
      for (std::size_t shard = 0; shard < shape_.data; ++shard)
        pointers[shard] = object_.c_str() + i * stripe_bytes_ + shard * chunk_bytes_;
    };
    candidates_.push_back({"codec alone",
                           [this, codec, inputs, scratch, outputs](std::size_t i) {
                             std::array<const void*, 32> from{};
                             inputs(i, from);
                             if (calpe_encode(codec, from.data(), outputs->data(), chunk_bytes_,
                                              nullptr) != CALPE_OK) {
                               fail("encode");
                             }
                           },
                           [this, codec, plan, inputs, scratch, outputs](std::size_t i) {
                             std::array<const void*, 32> from{};
                             inputs(i, from);
                             if (calpe_run(codec, plan, from.data(), outputs->data(), chunk_bytes_,
                                           CALPE_RUN_CACHED, nullptr) != CALPE_OK) {
                               fail("decode");
                             }
                           }});
  }

  double rate(const std::function<void(std::size_t)>& work) {
    const double start = thread_seconds();
    std::size_t stripes = 0;
    double seconds = 0;
    do {
      for (int i = 0; i < 16; ++i)
        work(stripes++ % stripe_count_);
      seconds = thread_seconds() - start;
    } while (seconds < settings_.seconds);
    return static_cast<double>(stripes * stripe_bytes_) / seconds / 1e9;
  }

  void print() const {
    const double encode_limit = median(candidates_.back().encode_rates);
    const double decode_limit = median(candidates_.back().decode_rates);
    const double isa_encode = median(candidates_[1].encode_rates);
    const double isa_decode = median(candidates_[1].decode_rates);
    for (const Candidate& candidate : candidates_) {
      const double encode = median(candidate.encode_rates);
      const double decode = median(candidate.decode_rates);
      std::printf("%2u+%u %6u  %-12s %7.2f %6.2fx %5.0f%%   %7.2f %6.2fx %5.0f%%\n", shape_.data,
                  shape_.parity, chunk_bytes_, candidate.name.c_str(), encode, encode / isa_encode,
                  100 * (1 - encode / encode_limit), decode, decode / isa_decode,
                  100 * (1 - decode / decode_limit));
    }
    std::fflush(stdout);
  }

  Settings settings_;
  Shape shape_;
  unsigned chunk_bytes_;
  std::size_t stripe_bytes_ = 0, stripe_count_ = 0;
  ceph::bufferptr object_;
  std::set<int> all_;
  std::vector<Candidate> candidates_;
};

Settings read_arguments(int count, char** arguments) {
  Settings settings;
  if (count > 1) settings.rounds = std::max(1, std::atoi(arguments[1]));
  if (count > 2) settings.seconds = std::atof(arguments[2]) / 1e3;
  if (count > 3) settings.working_set = std::strtoul(arguments[3], nullptr, 10) << 20;
  if (count > 4) settings.bar = std::atof(arguments[4]);
  if (count > 5) settings.shapes.clear();
  for (int i = 5; i < count; ++i) {
    Shape shape = {};
    if (std::sscanf(arguments[i], "%u+%u", &shape.data, &shape.parity) == 2) {
      settings.shapes.push_back(shape);
    }
  }
  return settings;
}

}  // namespace

int main(int count, char** arguments) {
  const Settings settings = read_arguments(count, arguments);
  std::printf(
      "GB/s of data, medians of %d rounds; decode: m data chunks are lost\n"
      "k+m   chunk  plugin        encode  /isa    gap    decode  /isa    gap\n",
      settings.rounds);
  int below_bar = 0;
  for (const unsigned chunk_bytes : {4096u, 16384u, 65536u}) {
    for (const Shape& shape : settings.shapes) {
      const double ratio = Case(settings, shape, chunk_bytes).run();
      if (chunk_bytes == 4096 && ratio < settings.bar) {
        std::printf("calpe is %.2f times as fast as isa; the target is %.2f\n", ratio,
                    settings.bar);
        below_bar = 1;
      }
    }
  }
  return below_bar;
}
