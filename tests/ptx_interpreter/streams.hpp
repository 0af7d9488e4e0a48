// SPDX-License-Identifier: Apache-2.0
// Devices, their streams and events. A stream is a thread with a queue and random delays, which
// expose missing waits.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "ptx_interpreter/device_memory.hpp"
#include "ptx_interpreter/hazards.hpp"
#include "ptx_interpreter/ptx_module.hpp"

namespace calpe::ptx {

class Capture;
class Stream;

class Device {
 public:
  explicit Device(int index_in) : index(index_in), memory(static_cast<unsigned>(index_in)) {}

  const int index;
  DeviceMemory memory;

  void lose(int code, const std::string& message);
  void recover();
  int lost_code() const;  // 0: not lost

  void add(const std::shared_ptr<Stream>& stream);
  // Throws PtxError if a pending operation uses it.
  void check_unused(std::uint64_t start, std::size_t bytes) const;
  void wait_idle() const;
  std::vector<std::shared_ptr<Stream>> streams() const;

 private:
  mutable std::mutex mutex_ = {};
  int lost_code_ = 0;
  std::vector<std::weak_ptr<Stream>> streams_ = {};
};

class Event {
 public:
  Event(Device& device_in, bool has_time_in) : device(device_in), has_time(has_time_in) {}

  Device& device;
  const bool has_time;

  // A new mark after everything in the stream.
  std::uint64_t expect(const Stream& stream);
  void reach(std::uint64_t mark);
  void wait(std::uint64_t mark) const;
  std::uint64_t last_mark() const;
  // What is before the last mark.
  Clock before() const;
  // The last record was captured instead: its node.
  void set_captured(std::shared_ptr<Capture> capture, std::size_t node);
  std::pair<std::shared_ptr<Capture>, std::size_t> captured() const;
  bool is_done() const;
  std::chrono::steady_clock::time_point time() const;

 private:
  mutable std::mutex mutex_ = {};
  mutable std::condition_variable changed_ = {};
  std::uint64_t expected_ = 0;
  std::uint64_t reached_ = 0;
  Clock before_ = {};
  std::pair<std::shared_ptr<Capture>, std::size_t> captured_ = {};
  std::chrono::steady_clock::time_point time_ = {};
};

// Memory that an operation uses, of host or device.
struct Span {
  std::uint64_t start = 0;
  std::size_t bytes = 0;
};

struct QueuedWork {
  std::function<void(Accesses&)> work = {};  // throws PtxError; reports its accesses
  std::vector<Span> spans = {};
  bool is_slowed = false;            // by Controls::slowness
  std::function<void()> check = {};  // of a captured one, before each launch; throws PtxError
  bool runs_when_lost = false;
  RecordRef record = {};
};

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  static std::shared_ptr<Stream> start(Device& device);
  explicit Stream(Device& device_in, std::uint64_t seed) : device(device_in), random_(seed) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { Hazards::instance().close_stream(id); }

  Device& device;
  const std::uint64_t id = Hazards::instance().add_stream();

  void push(QueuedWork operation);                      // or captures it
  void capture_into(std::shared_ptr<Capture> capture);  // null: ends that
  std::shared_ptr<Capture> capture() const;
  void close();    // ends when the queue is empty
  void hold();     // runs nothing until a call waits
  void release();  // ends that
  void wait_idle();
  bool is_idle() const;
  bool uses(std::uint64_t start, std::size_t bytes) const;

 private:
  void run();
  void run(const QueuedWork& operation);

  mutable std::mutex mutex_ = {};
  mutable std::condition_variable changed_ = {};
  std::deque<QueuedWork> queue_ = {};  // the first one is running
  bool is_closed_ = false;
  bool is_held_ = false;
  std::shared_ptr<Capture> capture_ = {};
  std::mt19937_64 random_;
};

// cuEventRecord and cuStreamWaitEvent, also of a capture.
void record_event(const std::shared_ptr<Event>& event, Stream& stream);
void wait_for_event(Stream& stream, const std::shared_ptr<Event>& event);

}  // namespace calpe::ptx
