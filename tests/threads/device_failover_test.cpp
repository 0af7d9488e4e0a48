// SPDX-License-Identifier: Apache-2.0
// Several threads share devices, one of which fails in the middle. CI runs this under
// ThreadSanitizer.
#include <atomic>
#include <gtest/gtest.h>
#include <thread>

#include "engine/devices/device_choice.hpp"
#include "support/device_job.hpp"
#include "support/log_lines.hpp"
#include "support/unruly_device.hpp"

namespace calpe::engine {
namespace {

using tests::Behaviour;
using tests::DeviceJob;

std::shared_ptr<Behaviour> behaviour;

Result<std::unique_ptr<backend::Device>> open_with_unruly(std::string_view name,
                                                          ir::Dialect dialect) {
  if (name != "unruly") return backend::open_device(name, dialect);
  return std::unique_ptr<backend::Device>(
      std::make_unique<tests::UnrulyDevice>(*backend::open_device("cpu"), behaviour));
}

// Counts lines about the disabled device; other lines may be about unused ones.
std::size_t lines_about_leaving(const tests::LogLines& log) {
  std::size_t count = 0;
  for (const std::string& line : log.lines())
    count += line.find("failed and is disabled") != std::string::npos ? 1 : 0;
  return count;
}

void work_in_threads(const char* name, unsigned fail_at) {
  const tests::LogLines log;
  behaviour = std::make_shared<Behaviour>();
  behaviour->fail_wait_at = fail_at;
  const auto device = *choose_device(name, ir::Dialect::gf, open_with_unruly);
  std::vector<std::unique_ptr<DeviceJob>> jobs;
  for (int i = 0; i < 4; ++i) {
    jobs.push_back(
        std::make_unique<DeviceJob>(tests::gf_program(), 20, tests::plain(500), i % 2 == 0));
  }
  const auto kernel = *device->compile(jobs[0]->program);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (auto& each : jobs) {
    threads.emplace_back([&device, &kernel, &wrong, job = each.get()] {
      for (int i = 0; i < 15; ++i) {
        job->reset();
        auto pending = device->submit(*kernel, job->batch);
        if (!pending.wait() || !job->is_right()) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(lines_about_leaving(log), 1U);
}

TEST(DeviceFailover, OneDeviceForAll) {
  for (const unsigned fail_at : {0U, 1U, 17U, 50U})
    work_in_threads("unruly", fail_at);
}

TEST(DeviceFailover, SharedWithTheCpu) {
  for (const unsigned fail_at : {3U, 20U, 60U})
    work_in_threads("unruly+cpu", fail_at);
}

}  // namespace
}  // namespace calpe::engine
