// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/limits.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "bench/harness/roof.hpp"

namespace calpe::bench {

namespace {

// Treats the memory as 4 adjacent streams. The roof kernel without outputs is a reader and without
// sources a writer, so no further vector code is needed. It is called through a pointer, so the
// compiler cannot drop unused reads.
constexpr std::size_t stream_count = 4;

std::array<std::byte*, stream_count> streams_of(std::span<std::byte> memory) {
  const std::size_t part = memory.size() / stream_count;
  return {memory.data(), memory.data() + part, memory.data() + 2 * part, memory.data() + 3 * part};
}

}  // namespace

LimitCalls make_limit_calls(const StripeBuffers& stripes, std::size_t bytes) {
  constexpr std::size_t step = stream_count * roof_bytes_multiple;
  const std::size_t whole = std::max(bytes / step, std::size_t{1}) * step;
  const std::size_t used = std::min(whole, stripes.memory().size() / step * step);
  const RoofKernel kernel = roof_kernel(RoofStores::plain, stream_count, used);
  const auto next = [&stripes, used] { return stripes.memory(stripes.next()).first(used); };
  LimitCalls calls;
  calls.bytes = used;
  calls.copy = [next] {
    const std::span<std::byte> memory = next();
    const std::size_t half = memory.size() / 2;
    std::memcpy(memory.data() + half, memory.data(), half);
    return true;
  };
  calls.read = [next, kernel] {
    const std::span<std::byte> memory = next();
    const auto streams = streams_of(memory);
    const std::array<const std::byte*, stream_count> sources = {streams[0], streams[1], streams[2],
                                                                streams[3]};
    kernel(sources, {}, memory.size() / stream_count);
    return true;
  };
  calls.write = [next, kernel] {
    const std::span<std::byte> memory = next();
    kernel({}, streams_of(memory), memory.size() / stream_count);
    return true;
  };
  return calls;
}

}  // namespace calpe::bench
