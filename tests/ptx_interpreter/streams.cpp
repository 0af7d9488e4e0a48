// SPDX-License-Identifier: Apache-2.0
#include "ptx_interpreter/streams.hpp"

#include <atomic>
#include <thread>

#include "base/text.hpp"
#include "ptx_interpreter/captures.hpp"
#include "ptx_interpreter/controls.hpp"

namespace calpe::ptx {

namespace {

using Time = std::chrono::steady_clock;

std::atomic<std::uint64_t> stream_count = 0;

}  // namespace

void Device::lose(int code, const std::string& message) {
  Controls::instance().report(message, false);
  const std::lock_guard lock(mutex_);
  if (lost_code_ == 0) lost_code_ = code;
}

void Device::recover() {
  const std::lock_guard lock(mutex_);
  lost_code_ = 0;
}

int Device::lost_code() const {
  const std::lock_guard lock(mutex_);
  return lost_code_;
}

void Device::add(const std::shared_ptr<Stream>& stream) {
  const std::lock_guard lock(mutex_);
  std::erase_if(streams_, [](const auto& known) { return known.expired(); });
  streams_.push_back(stream);
}

std::vector<std::shared_ptr<Stream>> Device::streams() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Stream>> alive;
  for (const auto& known : streams_) {
    if (auto stream = known.lock()) alive.push_back(std::move(stream));
  }
  return alive;
}

void Device::check_unused(std::uint64_t start, std::size_t bytes) const {
  for (const auto& stream : streams()) {
    // Queued work of a lost device does not run, so its queues are soon empty and cleaning up is
    // not an error.
    for (unsigned tries = 0; tries < 100 && lost_code() != 0 && stream->uses(start, bytes); ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (lost_code() == 0 && stream->uses(start, bytes)) {
      throw PtxError(invalid_value,
                     text("memory is freed while a stream of device ", index, " uses it"));
    }
  }
}

void Device::wait_idle() const {
  for (const auto& stream : streams())
    stream->wait_idle();
}

std::uint64_t Event::expect(const Stream& stream) {
  const std::lock_guard lock(mutex_);
  before_ = Hazards::instance().clock(stream.id);
  captured_ = {};
  return ++expected_;
}

Clock Event::before() const {
  const std::lock_guard lock(mutex_);
  return before_;
}

void Event::set_captured(std::shared_ptr<Capture> capture, std::size_t node) {
  const std::lock_guard lock(mutex_);
  captured_ = {std::move(capture), node};
}

std::pair<std::shared_ptr<Capture>, std::size_t> Event::captured() const {
  const std::lock_guard lock(mutex_);
  return captured_;
}

void Event::reach(std::uint64_t mark) {
  const std::lock_guard lock(mutex_);
  reached_ = mark;
  time_ = Time::now();
  changed_.notify_all();
}

void Event::wait(std::uint64_t mark) const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return reached_ >= mark; });
}

std::uint64_t Event::last_mark() const {
  const std::lock_guard lock(mutex_);
  return expected_;
}

bool Event::is_done() const {
  const std::lock_guard lock(mutex_);
  return reached_ == expected_;
}

Time::time_point Event::time() const {
  const std::lock_guard lock(mutex_);
  return time_;
}

std::shared_ptr<Stream> Stream::start(Device& device) {
  auto stream =
      std::make_shared<Stream>(device, Controls::instance().seed() * 1000 + stream_count++);
  device.add(stream);
  // Detached, because a hung thread never ends.
  std::thread([stream] { stream->run(); }).detach();
  return stream;
}

void Stream::push(QueuedWork operation) {
  if (const auto into = capture()) return into->add_work(id, std::move(operation));
  const std::lock_guard lock(mutex_);
  operation.record = Hazards::instance().begin(id);
  queue_.push_back(std::move(operation));
  changed_.notify_all();
}

void Stream::capture_into(std::shared_ptr<Capture> capture) {
  const std::lock_guard lock(mutex_);
  capture_ = std::move(capture);
}

std::shared_ptr<Capture> Stream::capture() const {
  const std::lock_guard lock(mutex_);
  return capture_;
}

void Stream::close() {
  const std::lock_guard lock(mutex_);
  is_closed_ = true;
  changed_.notify_all();
}

void Stream::hold() {
  const std::lock_guard lock(mutex_);
  is_held_ = true;
}

void Stream::release() {
  const std::lock_guard lock(mutex_);
  is_held_ = false;
  changed_.notify_all();
}

void Stream::wait_idle() {
  release();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return queue_.empty(); });
}

bool Stream::is_idle() const {
  const std::lock_guard lock(mutex_);
  return queue_.empty();
}

bool Stream::uses(std::uint64_t start, std::size_t bytes) const {
  const std::lock_guard lock(mutex_);
  for (const QueuedWork& operation : queue_) {
    for (const Span& span : operation.spans) {
      if (span.start < start + bytes && start < span.start + span.bytes) return true;
    }
  }
  return false;
}

void Stream::run() {
  while (true) {
    const QueuedWork* operation = nullptr;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return is_closed_ || (!queue_.empty() && !is_held_); });
      if (queue_.empty()) return;
      operation = &queue_.front();  // stays in place while others are pushed
    }
    run(*operation);
    // May be the last owner of something, so destroy it outside the lock.
    QueuedWork done;
    const std::lock_guard lock(mutex_);
    done = std::move(queue_.front());
    queue_.pop_front();
    changed_.notify_all();
  }
}

void Stream::run(const QueuedWork& operation) {
  const Controls& controls = Controls::instance();
  const std::chrono::microseconds delay = controls.draw_delay(random_);
  if (delay.count() > 0) std::this_thread::sleep_for(delay);
  Accesses accesses;
  if (device.lost_code() != 0 && !operation.runs_when_lost) {
    Hazards::instance().finish(operation.record, {});
    return;
  }
  const Time::time_point start = Time::now();
  try {
    operation.work(accesses);
  } catch (const PtxError& error) {
    device.lose(error.result, error.what());
  }
  const std::string conflict = Hazards::instance().finish(operation.record, std::move(accesses));
  if (!conflict.empty()) device.lose(launch_failed, conflict);
  const double slowness = operation.is_slowed ? controls.slowness(device.index) : 1;
  if (slowness > 1) std::this_thread::sleep_for((Time::now() - start) * (slowness - 1));
}

void record_event(const std::shared_ptr<Event>& event, Stream& stream) {
  if (const auto capture = stream.capture()) {
    return event->set_captured(capture, capture->add_record(stream.id));
  }
  stream.push({.work = [event, mark = event->expect(stream)](Accesses&) { event->reach(mark); },
               .runs_when_lost = true});
}

void wait_for_event(Stream& stream, const std::shared_ptr<Event>& event) {
  const auto [capture, node] = event->captured();
  const auto own = stream.capture();
  if (capture != nullptr) {
    if (own == nullptr) capture->join(stream.shared_from_this());
    if (own != nullptr && own != capture) {
      throw PtxError(stream_capture_isolation, "wait for an event of another capture");
    }
    return capture->add_wait(stream.id, node);
  }
  if (own != nullptr) {
    throw PtxError(stream_capture_isolation, "captured wait for an event outside of the capture");
  }
  Hazards::instance().order(stream.id, event->before());
  stream.push({.work = [event, mark = event->last_mark()](Accesses&) { event->wait(mark); },
               .runs_when_lost = true});
}

}  // namespace calpe::ptx
