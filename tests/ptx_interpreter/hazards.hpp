// SPDX-License-Identifier: Apache-2.0
// Finds missing waits, regardless of the actual order of execution. Two operations of different
// streams must not touch the same bytes, one of them writing, unless the host knew that the first
// was done when it started the second, or a stream waited for an event, perhaps through others.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ptx_interpreter/access_log.hpp"

namespace calpe::ptx {

// Bytes of device or host memory that an operation read and wrote.
struct Accesses {
  std::vector<Interval> reads = {};
  std::vector<Interval> writes = {};
};

struct OperationRecord {
  std::uint64_t number = 0;  // in its stream, from 1
  bool is_done = false;
  Accesses accesses = {};
  // Operations of other streams that are unordered relative to this one. The one that finishes last
  // compares them.
  std::vector<std::shared_ptr<OperationRecord>> unordered = {};
};
using RecordRef = std::shared_ptr<OperationRecord>;

// For each stream, the number of its operations that come before something.
using Clock = std::map<std::uint64_t, std::uint64_t>;

class Hazards {
 public:
  static Hazards& instance();  // never destroyed

  std::uint64_t add_stream();
  // The stream ended. Operations not known to be done remain hazards.
  void close_stream(std::uint64_t stream);
  // An operation that the host starts now.
  RecordRef begin(std::uint64_t stream);
  // The operation is done. Returns an error or an empty string.
  std::string finish(const RecordRef& record, Accesses accesses);
  // Everything that is done when the stream is idle.
  Clock clock(std::uint64_t stream) const;
  // The host has seen that this is done.
  void know(const Clock& done);
  // Later operations of `stream` wait for this.
  void order(std::uint64_t stream, const Clock& before);
  void clear();

 private:
  struct StreamState {
    std::uint64_t last = 0;
    std::deque<RecordRef> open = {};  // not known to be done
    Clock ordered = {};
    bool is_closed = false;
  };

  mutable std::mutex mutex_ = {};
  std::map<std::uint64_t, StreamState> streams_ = {};
  std::uint64_t stream_count_ = 0;
};

}  // namespace calpe::ptx
