// SPDX-License-Identifier: Apache-2.0
// Rebuild, copy and scrub of a 4+2 array on modelled disks, and the work that may not grow with the
// size of the members. Times of disks are computed, so a busy machine gives the same figures.
//
//   build/dev/bench/array_disks [--member-bytes 268435456]
//
// A disk has a bandwidth, a time to reach a position that does not follow the last one, and a time
// for a flush. A batch takes as long as its slowest disk. Writes through a cache take their time
// with the next flush. The figure of a row is the time that the bytes of one member need at full
// bandwidth, divided by the time that was needed. "rewritten": every stripe was written again, in
// random order, before.
//
// Targets: 0.9 for rebuild, copy and scrub, and 0.5 when rewritten. Exit code: 0 all met, 1 missed.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <numeric>
#include <random>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "array/array.hpp"

namespace {

using namespace calpe::array;

struct Model {
  const char* name;
  double bytes_per_second;
  double seek_seconds;
  double flush_seconds;
};

constexpr std::array models = {
    Model{"SATA SSD", 500e6, 1e-4, 2e-3},
    Model{"NVMe with PLP", 3e9, 8e-5, 2e-5},
    Model{"HDD", 200e6, 8e-3, 8e-3},
};
constexpr unsigned data = 4;
constexpr unsigned parity = 2;
constexpr unsigned roles = data + parity;
constexpr std::uint64_t chunk = 65536;
constexpr std::uint64_t stripe = data * chunk;
constexpr std::uint64_t step_bytes = std::uint64_t{16} << 20U;  // as the server does

class ModelledDisks final : public Members {
 public:
  ModelledDisks(unsigned disks, std::uint64_t bytes, const Model& model)
      : model_(model), disks_(disks), bytes_(bytes) {}

  unsigned count() const override { return static_cast<unsigned>(disks_.size()); }
  std::uint64_t bytes(unsigned /*member*/) const override { return bytes_; }
  void run(std::span<MemberRequest> batch) override {
    std::vector<double> needed(disks_.size());
    for (MemberRequest& request : batch) {
      request.error.reset();
      Disk& disk = disks_[request.member];
      needed[request.member] += time_of(request, disk);
      if (request.call != MemberCall::flush) transfer(request, disk);
    }
    seconds += *std::max_element(needed.begin(), needed.end());
  }

  double seconds = 0;
  std::uint64_t written = 0;

 private:
  using Page = std::array<std::byte, block_bytes>;
  struct Disk {
    std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages;  // not zeros
    std::uint64_t head = 0;
    double cached_bytes = 0;
  };

  double time_of(const MemberRequest& request, Disk& disk) const {
    const auto length = static_cast<double>(request.bytes.size());
    if (request.call == MemberCall::flush) {
      const double cached = disk.cached_bytes;
      disk.cached_bytes = 0;
      if (cached == 0) return model_.flush_seconds;
      disk.head = ~std::uint64_t{0};
      return model_.flush_seconds + model_.seek_seconds + cached / model_.bytes_per_second;
    }
    const bool is_cached =
        request.call == MemberCall::write && !request.is_durable && !request.is_past_cache;
    if (is_cached) {
      disk.cached_bytes += length;
      return 0;
    }
    double needed = length / model_.bytes_per_second;
    if (disk.head != request.offset) needed += model_.seek_seconds;
    if (request.is_durable) needed += model_.flush_seconds;
    disk.head = request.offset + request.bytes.size();
    return needed;
  }
  void transfer(const MemberRequest& request, Disk& disk) {
    for (std::size_t at = 0; at < request.bytes.size(); at += block_bytes) {
      const std::uint64_t number = (request.offset + at) / block_bytes;
      std::byte* const bytes = request.bytes.data() + at;
      if (request.call == MemberCall::read) {
        const auto found = disk.pages.find(number);
        if (found == disk.pages.end()) {
          std::memset(bytes, 0, block_bytes);
        } else {
          std::memcpy(bytes, found->second->data(), block_bytes);
        }
        continue;
      }
      written += block_bytes;
      const bool is_zeros = std::all_of(bytes, bytes + block_bytes,
                                        [](std::byte one) { return one == std::byte{0}; });
      if (is_zeros) {
        disk.pages.erase(number);
        continue;
      }
      std::unique_ptr<Page>& page = disk.pages[number];
      if (page == nullptr) page = std::make_unique<Page>();
      std::memcpy(page->data(), bytes, block_bytes);
    }
  }

  Model model_;
  std::vector<Disk> disks_;
  std::uint64_t bytes_;
};

template <class Result>
auto must(Result result, const char* what) {
  if (result) return result;
  std::fprintf(stderr, "array_disks: %s: %s\n", what, result.error().message.c_str());
  std::exit(2);
}

void need(const calpe::Status& status, const char* what) {
  static_cast<void>(must(status, what));
}

double cpu_seconds() {
  timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

Settings settings_4_2() {
  Settings settings;
  settings.spec.data_shards = data;
  settings.spec.parity_shards = parity;
  settings.chunk_bytes = chunk;
  return settings;
}

// One array that is filled, and what happens to it.
class Trial {
 public:
  Trial(const Model& model, std::uint64_t member_bytes, bool is_rewritten)
      : model_(model), disks_(roles + 1, member_bytes, model), is_rewritten_(is_rewritten) {
    need(create(disks_, settings_4_2(), calpe::Uuid{std::byte{1}}), "create");
    array_ = *must(Array::open(disks_), "open");
    std::vector<std::uint64_t> order(array_->bytes() / stripe);
    std::iota(order.begin(), order.end(), std::uint64_t{0});
    fill(order);
    std::shuffle(order.begin(), order.end(), random_);
    if (is_rewritten) fill(order);
    need(array_->checkpoint(), "checkpoint");
    member_seconds_ = static_cast<double>(order.size() * chunk) / model.bytes_per_second;
  }
  bool run() {
    bool is_met = report("scrub", [&] {
      for (std::uint64_t at = 0; at < array_->bytes();)
        at = must(array_->scrub_step(at, step_bytes), "scrub")->next;
    });
    need(array_->replace(1, roles), "replace");
    is_met = report("copy", [&] { rebuild(); }) && is_met;
    need(array_->fail(2), "fail");
    need(array_->replace(2, 2), "replace");
    return report("rebuild", [&] { rebuild(); }) && is_met;
  }

 private:
  void fill(const std::vector<std::uint64_t>& order) {
    std::vector<std::byte> bytes(stripe);
    for (const std::uint64_t one : order) {
      for (std::size_t i = 0; i < bytes.size(); i += 512)
        bytes[i] = static_cast<std::byte>(random_());
      bytes[8] = std::byte{1};
      need(array_->write(one * stripe, bytes, Durability::cached), "write");
    }
    need(array_->flush(), "flush");
  }
  void rebuild() {
    while (!must(array_->rebuild_step(step_bytes), "rebuild")->is_complete)
      continue;
  }
  template <class Work>
  bool report(const char* what, const Work& work) {
    disks_.seconds = 0;
    const double cpu = cpu_seconds();
    work();
    const double share = member_seconds_ / disks_.seconds;
    const double target = is_rewritten_ ? 0.5 : 0.9;
    std::printf("%-14s %-10s %-8s %.3f of a disk's bandwidth, target %.1f %s; CPU %.2f s\n",
                model_.name, is_rewritten_ ? "rewritten" : "fresh", what, share, target,
                share >= target ? "met" : "MISSED", cpu_seconds() - cpu);
    std::fflush(stdout);
    return share >= target;
  }

  Model model_;
  ModelledDisks disks_;
  bool is_rewritten_;
  std::unique_ptr<Array> array_;
  std::mt19937_64 random_{1};
  double member_seconds_ = 0;
};

// Opening, checkpoint and status of a sparse array.
void scale(std::uint64_t member_bytes) {
  ModelledDisks disks(roles, member_bytes, {"", 1e12, 0, 0});
  need(create(disks, settings_4_2(), calpe::Uuid{std::byte{1}}), "create");
  const std::vector<std::byte> block(block_bytes, std::byte{7});
  for (const char* const what : {"first opening", "after a close"}) {
    double cpu = cpu_seconds();
    disks.written = 0;
    const auto array = *must(Array::open(disks), "open");
    const double open = cpu_seconds() - cpu;
    const std::uint64_t open_bytes = disks.written;
    disks.written = 0;
    cpu = cpu_seconds();
    constexpr int turns = 10;
    for (int i = 0; i < turns; ++i) {
      need(array->write(std::uint64_t(i) << 20U, block, Durability::durable), "write");
      need(array->checkpoint(), "checkpoint");
      static_cast<void>(array->status());
    }
    std::printf(
        "members of %6.0f GB, %s: open %.2f s of CPU, %.1f MB written; write, checkpoint "
        "and status %.2f ms of CPU, %.2f MB written\n",
        static_cast<double>(member_bytes) / 1e9, what, open, static_cast<double>(open_bytes) / 1e6,
        (cpu_seconds() - cpu) / turns * 1e3, static_cast<double>(disks.written) / turns / 1e6);
    std::fflush(stdout);
    need(array->close(), "close");
  }
}

}  // namespace

int main(int count, char** arguments) {
  std::uint64_t member_bytes = std::uint64_t{256} << 20U;
  if (count == 3 && std::string_view(arguments[1]) == "--member-bytes") {
    member_bytes = std::strtoull(arguments[2], nullptr, 10);
  } else if (count != 1) {
    std::fprintf(stderr, "usage: array_disks [--member-bytes N]\n");
    return 2;
  }
  bool is_met = true;
  for (const Model& model : models) {
    for (const bool is_rewritten : {false, true})
      is_met = Trial(model, member_bytes, is_rewritten).run() && is_met;
  }
  for (const std::uint64_t gigabytes : {1, 100, 1000})
    scale(gigabytes * 1'000'000'000 / chunk * chunk);
  return is_met ? 0 : 1;
}
