// SPDX-License-Identifier: Apache-2.0
#include "ptx_interpreter/controls.hpp"

#include <cstdlib>
#include <thread>

namespace calpe::ptx {

namespace {

constexpr unsigned usual_delay_most = 200;

}  // namespace

Controls& Controls::instance() {
  static Controls& controls = *new Controls;
  return controls;
}

Controls::Controls() {
  reset();
  if (const char* seed = std::getenv("CALPE_PTX_SEED")) seed_ = std::strtoull(seed, nullptr, 0);
  if (const char* failure = std::getenv("CALPE_PTX_FAIL")) {
    char* colon = nullptr;
    const std::uint64_t index = std::strtoull(failure, &colon, 10);
    if (colon != nullptr && *colon == ':') {
      fail(index, static_cast<int>(std::strtol(colon + 1, nullptr, 10)), false);
    }
  }
}

void Controls::reset() {
  const std::lock_guard lock(mutex_);
  failure_.reset();
  function_failures_.clear();
  launch_fates_.clear();
  slowness_.clear();
  only_device_ = -1;
  local_bytes_ = 0;
  cache_ = 0;
  delay_least_ = 0;
  delay_most_ = usual_delay_most;
  delays_all_ = false;
  ++resets_;
  launches_judged_ = 0;
  const std::uint64_t allocations = counts_.allocations;
  counts_ = {};
  counts_.allocations = allocations;  // still allocated
  message_.clear();
}

void Controls::fail(std::uint64_t index, int code, bool loses) {
  const std::lock_guard lock(mutex_);
  failure_ = Planned{index, code, loses};
}

void Controls::fail_function(const std::string& name, std::uint64_t index, int code) {
  const std::lock_guard lock(mutex_);
  function_failures_[name] = {index, code, false};
}

void Controls::only_device(int device) {
  const std::lock_guard lock(mutex_);
  only_device_ = device;
}

void Controls::fail_launch(std::uint64_t index, const LaunchFate& fate) {
  const std::lock_guard lock(mutex_);
  launch_fates_[launches_judged_ + index] = fate;
}

void Controls::set_delay(unsigned least, unsigned most) {
  const std::lock_guard lock(mutex_);
  delay_least_ = least;
  delay_most_ = most;
  delays_all_ = true;
}

void Controls::slow(int device, double factor) {
  const std::lock_guard lock(mutex_);
  slowness_[device] = factor;
}

void Controls::set_local_bytes(int bytes) {
  const std::lock_guard lock(mutex_);
  local_bytes_ = bytes;
}

void Controls::set_cache(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  cache_ = bytes;
}

Controls::Verdict Controls::judge_call(const char* name, bool is_counted, int device) {
  const std::lock_guard lock(mutex_);
  if (only_device_ >= 0 && device != only_device_) return {};
  const auto planned = function_failures_.find(name);
  if (planned != function_failures_.end() && planned->second.left-- == 0) {
    const Verdict verdict = {planned->second.code, false};
    function_failures_.erase(planned);
    return verdict;
  }
  if (!is_counted) return {};
  ++counts_.calls;
  if (!failure_ || failure_->left-- != 0) return {};
  const Verdict verdict = {failure_->code, failure_->loses};
  failure_.reset();
  return verdict;
}

LaunchFate Controls::judge_launch() {
  const std::lock_guard lock(mutex_);
  ++counts_.launches;
  const auto found = launch_fates_.find(launches_judged_++);
  return found == launch_fates_.end() ? LaunchFate{} : found->second;
}

std::chrono::microseconds Controls::draw_delay(std::mt19937_64& random) const {
  const std::lock_guard lock(mutex_);
  if (!delays_all_ && random() % 4 != 0) return {};
  const unsigned range = delay_most_ - std::min(delay_least_, delay_most_);
  return std::chrono::microseconds(delay_least_ + (range == 0 ? 0 : random() % (range + 1)));
}

double Controls::slowness(int device) const {
  const std::lock_guard lock(mutex_);
  const auto found = slowness_.find(device);
  return found == slowness_.end() ? 1 : found->second;
}

int Controls::local_bytes() const {
  const std::lock_guard lock(mutex_);
  return local_bytes_;
}

std::size_t Controls::cache() const {
  const std::lock_guard lock(mutex_);
  return cache_;
}

void Controls::hang() const {
  const auto now = [this] {
    const std::lock_guard lock(mutex_);
    return resets_;
  };
  const std::uint64_t before = now();
  while (now() == before)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void Controls::add_copy(std::uint64_t in, std::uint64_t out) {
  const std::lock_guard lock(mutex_);
  counts_.copy_in_bytes += in;
  counts_.copy_out_bytes += out;
}

void Controls::add_work(const Work& work) {
  const std::lock_guard lock(mutex_);
  counts_.instructions += work.instructions;
  counts_.alu_instructions += work.alu_instructions;
  counts_.cache_bytes += work.cache_bytes;
  counts_.memory_bytes += work.memory_bytes;
}

void Controls::add_allocations(std::int64_t change) {
  const std::lock_guard lock(mutex_);
  counts_.allocations += static_cast<std::uint64_t>(change);
}

void Controls::report(const std::string& message, bool is_misuse) {
  const std::lock_guard lock(mutex_);
  message_ = message;
  if (is_misuse) ++counts_.misuses;
}

std::string Controls::message() const {
  const std::lock_guard lock(mutex_);
  return message_;
}

calpe_ptx_counts Controls::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace calpe::ptx
