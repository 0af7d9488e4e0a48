// SPDX-License-Identifier: Apache-2.0
#include "ptx_interpreter/captures.hpp"

#include <algorithm>
#include <utility>

namespace calpe::ptx {

namespace {

struct Active {
  std::mutex mutex = {};
  std::vector<std::weak_ptr<Capture>> captures = {};
};

Active& active() {
  static Active& all = *new Active;  // never destroyed
  return all;
}

}  // namespace

void Graph::launch(const std::shared_ptr<Stream>& stream) const {
  if (stream->capture() != nullptr) {
    throw PtxError(stream_capture_unsupported, "launch of a graph in a captured stream");
  }
  std::map<std::uint64_t, std::shared_ptr<Stream>> others;
  std::map<std::size_t, std::shared_ptr<Event>> events;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const GraphNode& node = nodes[i];
    std::shared_ptr<Stream> target = stream;
    if (node.stream != origin) {
      std::shared_ptr<Stream>& other = others[node.stream];
      if (other == nullptr) other = Stream::start(stream->device);
      target = other;
    }
    switch (node.kind) {
      case GraphNode::Kind::work:
        if (node.work.check) node.work.check();
        target->push(node.work);
        break;
      case GraphNode::Kind::record:
        events[i] = std::make_shared<Event>(stream->device, false);
        record_event(events[i], *target);
        break;
      case GraphNode::Kind::wait:
        wait_for_event(*target, events.at(node.waits_for));
        break;
    }
  }
  for (const auto& [captured, other] : others)
    other->close();
}

std::shared_ptr<Capture> Capture::begin(const std::shared_ptr<Stream>& origin, CaptureMode mode) {
  const std::shared_ptr<Capture> made(new Capture(origin->id, mode));
  made->join(origin);
  const std::lock_guard lock(active().mutex);
  std::erase_if(active().captures, [](const auto& known) { return known.expired(); });
  active().captures.push_back(made);
  return made;
}

void Capture::join(const std::shared_ptr<Stream>& stream) {
  {
    const std::lock_guard lock(mutex_);
    streams_.push_back(stream);
  }
  stream->capture_into(shared_from_this());
}

Clock& Capture::clock(std::uint64_t stream) {
  return clocks_[stream];
}

GraphNode& Capture::add(std::uint64_t stream, GraphNode::Kind kind) {
  const std::uint64_t position = ++clock(stream)[stream];
  nodes_.push_back({.kind = kind, .stream = stream, .position = position});
  return nodes_.back();
}

void Capture::add_work(std::uint64_t stream, QueuedWork work) {
  const std::lock_guard lock(mutex_);
  add(stream, GraphNode::Kind::work).work = std::move(work);
}

std::size_t Capture::add_record(std::uint64_t stream) {
  const std::lock_guard lock(mutex_);
  add(stream, GraphNode::Kind::record);
  recorded_[nodes_.size() - 1] = clock(stream);
  return nodes_.size() - 1;
}

void Capture::add_wait(std::uint64_t stream, std::size_t record) {
  const std::lock_guard lock(mutex_);
  add(stream, GraphNode::Kind::wait).waits_for = record;
  for (const auto& [other, number] : recorded_.at(record)) {
    std::uint64_t& known = clock(stream)[other];
    known = std::max(known, number);
  }
}

void Capture::invalidate() {
  const std::lock_guard lock(mutex_);
  is_valid_ = false;
}

Graph Capture::end(const Stream& stream) {
  if (stream.id != origin_) {
    throw PtxError(stream_capture_unmatched, "the capture began in another stream");
  }
  if (mode_ != CaptureMode::relaxed && thread_ != std::this_thread::get_id()) {
    throw PtxError(stream_capture_wrong_thread, "the capture began in another thread");
  }
  const auto take_streams = [&] {
    const std::lock_guard lock(mutex_);
    return std::exchange(streams_, {});
  };
  for (const auto& known : take_streams()) {
    if (const auto joined = known.lock()) joined->capture_into(nullptr);
  }
  const std::lock_guard lock(mutex_);
  if (!is_valid_) throw PtxError(stream_capture_invalidated, "the capture was invalidated");
  for (const GraphNode& node : nodes_) {
    if (node.kind == GraphNode::Kind::work && clock(origin_)[node.stream] < node.position) {
      throw PtxError(stream_capture_unjoined, "the first stream does not wait for all others");
    }
  }
  return {.origin = origin_, .nodes = std::move(nodes_)};
}

bool Capture::invalidate_all(bool waits_for_context, bool is_relaxed_thread) {
  const std::lock_guard lock(active().mutex);
  bool is_any = false;
  for (const auto& known : active().captures) {
    const auto capture = known.lock();
    if (capture == nullptr) continue;
    const std::lock_guard own(capture->mutex_);
    if (capture->streams_.empty()) continue;  // has ended
    const bool is_seen =
        capture->mode_ == CaptureMode::global || (capture->mode_ == CaptureMode::thread_local_ &&
                                                  capture->thread_ == std::this_thread::get_id());
    if (!waits_for_context && (is_relaxed_thread || !is_seen)) continue;
    capture->is_valid_ = false;
    is_any = true;
  }
  return is_any;
}

}  // namespace calpe::ptx
