// SPDX-License-Identifier: Apache-2.0
// State and counters of the functions in ptx_interpreter.h.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <string>

#include "ptx_interpreter/ptx_interpreter.h"
#include "ptx_interpreter/work_meter.hpp"

namespace calpe::ptx {

// Fate of a launch.
struct LaunchFate {
  int code = 0;
  bool hangs = false;
  bool is_spoiled = false;
};

class Controls {
 public:
  struct Verdict {
    int code = 0;
    bool loses_device = false;
  };

  static Controls& instance();  // never destroyed: threads may outlive main()

  void reset();
  void fail(std::uint64_t index, int code, bool loses);
  void fail_function(const std::string& name, std::uint64_t index, int code);
  void only_device(int device);
  void fail_launch(std::uint64_t index, const LaunchFate& fate);
  void set_delay(unsigned least, unsigned most);
  void slow(int device, double factor);
  void set_local_bytes(int bytes);
  void set_cache(std::size_t bytes);

  // Counts a call and returns its fate.
  Verdict judge_call(const char* name, bool is_counted, int device);
  LaunchFate judge_launch();
  std::chrono::microseconds draw_delay(std::mt19937_64& random) const;
  double slowness(int device) const;
  int local_bytes() const;
  std::size_t cache() const;
  std::uint64_t seed() const { return seed_; }
  // Blocks until the next reset.
  void hang() const;

  void add_copy(std::uint64_t in, std::uint64_t out);
  void add_work(const Work& work);
  void add_allocations(std::int64_t change);
  void report(const std::string& message, bool is_misuse);
  std::string message() const;
  calpe_ptx_counts counts() const;

 private:
  Controls();
  struct Planned {
    std::uint64_t left = 0;
    int code = 0;
    bool loses = false;
  };

  mutable std::mutex mutex_ = {};
  std::optional<Planned> failure_ = {};
  std::map<std::string, Planned> function_failures_ = {};
  std::map<std::uint64_t, LaunchFate> launch_fates_ = {};
  std::map<int, double> slowness_ = {};
  int only_device_ = -1;
  int local_bytes_ = 0;
  std::size_t cache_ = 0;
  unsigned delay_least_ = 0;
  unsigned delay_most_ = 0;
  bool delays_all_ = false;
  std::uint64_t seed_ = 1;
  std::uint64_t resets_ = 0;
  std::uint64_t launches_judged_ = 0;
  calpe_ptx_counts counts_ = {};
  std::string message_ = {};
};

}  // namespace calpe::ptx
