// SPDX-License-Identifier: Apache-2.0
// The peers of this harness by name. To add one, write a file like isal.cpp and add it to
// peers.cpp.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/harness/coder.hpp"
#include "bench/harness/shared_library.hpp"

namespace calpe::bench {

struct NamedPeer {
  std::string name;  // "isal"; a second one of the same kind is "isal_2"
  std::unique_ptr<Peer> peer;
};

// "isal", "jerasure", ...
std::vector<std::string> peer_names();

// Each request is "isal", "jerasure", "klauspost", or one of these with "=PATH". Fails with
// invalid_argument for an unknown name or a library without the expected symbols, and with
// backend_unavailable for a library that cannot be opened.
Result<std::vector<NamedPeer>> open_peers(std::span<const std::string> requests);

Result<std::unique_ptr<Peer>> open_isal(SharedLibrary library);
Result<std::unique_ptr<Peer>> open_jerasure(SharedLibrary library);
Result<std::unique_ptr<Peer>> open_klauspost(SharedLibrary library);

}  // namespace calpe::bench
