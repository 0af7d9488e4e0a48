// SPDX-License-Identifier: Apache-2.0
// Captured streams and graphs. A graph is the list of captured calls. A launch repeats it: in the
// stream of the launch what the first stream captured, and in streams of its own what others did.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "ptx_interpreter/streams.hpp"

namespace calpe::ptx {

enum class CaptureMode : int { global = 0, thread_local_ = 1, relaxed = 2 };

struct GraphNode {
  enum class Kind { work, record, wait };
  Kind kind = Kind::work;
  std::uint64_t stream = 0;    // that captured it
  QueuedWork work = {};        // of Kind::work
  std::size_t waits_for = 0;   // of Kind::wait: the node of the record
  std::uint64_t position = 0;  // in its stream, from 1
};

struct Graph {
  std::uint64_t origin = 0;
  std::vector<GraphNode> nodes = {};
  // Throws PtxError if the stream cannot take it.
  void launch(const std::shared_ptr<Stream>& stream) const;
};

class Capture : public std::enable_shared_from_this<Capture> {
 public:
  static std::shared_ptr<Capture> begin(const std::shared_ptr<Stream>& origin, CaptureMode mode);

  void join(const std::shared_ptr<Stream>& stream);
  void add_work(std::uint64_t stream, QueuedWork work);
  std::size_t add_record(std::uint64_t stream);
  void add_wait(std::uint64_t stream, std::size_t record);
  void invalidate();
  // Ends it for all its streams. Throws PtxError if it was invalidated, began in another stream or,
  // unless relaxed, in another thread, or if work of a stream is not before the end of the first.
  Graph end(const Stream& stream);

  // Whether a call that may synchronise invalidates a capture; then it does.
  static bool invalidate_all(bool waits_for_context, bool is_relaxed_thread);

 private:
  Capture(std::uint64_t origin, CaptureMode mode) : origin_(origin), mode_(mode) {}
  Clock& clock(std::uint64_t stream);
  GraphNode& add(std::uint64_t stream, GraphNode::Kind kind);

  const std::uint64_t origin_;
  const CaptureMode mode_;
  const std::thread::id thread_ = std::this_thread::get_id();
  mutable std::mutex mutex_ = {};
  bool is_valid_ = true;
  std::vector<std::weak_ptr<Stream>> streams_ = {};
  std::vector<GraphNode> nodes_ = {};
  std::map<std::uint64_t, Clock> clocks_ = {};  // by stream: nodes before its next one
  std::map<std::size_t, Clock> recorded_ = {};  // by node
};

}  // namespace calpe::ptx
