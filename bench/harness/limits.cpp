// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/limits.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "bench/harness/roof.hpp"

namespace calpe::bench {

namespace {

// The memory as 4 neighbouring streams: the roof kernel without outputs is a plain reader, without
// sources a plain writer, so there is one set of vector code to trust. The kernel is called
// through a pointer, hence the compiler cannot see that nobody uses what is read.
constexpr std::size_t stream_count = 4;

std::array<std::byte*, stream_count> streams_of(std::span<std::byte> memory) {
  const std::size_t part = memory.size() / stream_count;
  return {memory.data(), memory.data() + part, memory.data() + 2 * part, memory.data() + 3 * part};
}

}  // namespace

LimitCalls make_limit_calls(std::span<std::byte> memory, std::size_t bytes) {
  constexpr std::size_t step = stream_count * roof_bytes_multiple;
  const std::size_t whole = std::max(bytes / step, std::size_t{1}) * step;
  const std::span<std::byte> used = memory.first(std::min(whole, memory.size() / step * step));
  const RoofKernel kernel = roof_kernel(Stores::plain, stream_count);
  LimitCalls calls;
  calls.bytes = used.size();
  calls.copy = [used] {
    const std::size_t half = used.size() / 2;
    std::memcpy(used.data() + half, used.data(), half);
    return true;
  };
  const auto streams = streams_of(used);
  const std::size_t part = used.size() / stream_count;
  calls.read = [streams, part, kernel] {
    const std::array<const std::byte*, stream_count> sources = {streams[0], streams[1], streams[2],
                                                                streams[3]};
    kernel(sources, {}, part);
    return true;
  };
  calls.write = [streams, part, kernel] {
    kernel({}, streams, part);
    return true;
  };
  return calls;
}

}  // namespace calpe::bench
