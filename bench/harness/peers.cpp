// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/peers.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>

namespace calpe::bench {

namespace {

struct PeerKind {
  std::string_view name;
  std::string_view soname;
  std::string_view package;  // Debian package; empty if not packaged
  Result<std::unique_ptr<Peer>> (*open)(SharedLibrary library);
};

constexpr std::array peer_kinds = {
    PeerKind{"isal", "libisal.so.2", "libisal2", open_isal},
    PeerKind{"jerasure", "libJerasure.so.2", "libjerasure2", open_jerasure},
    PeerKind{"klauspost", "libklauspost.so", "", open_klauspost},
};

struct Request {
  const PeerKind* kind = nullptr;
  std::string path;  // empty = by soname
};

Result<Request> parse_request(std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  const auto kind = std::find_if(peer_kinds.begin(), peer_kinds.end(),
                                 [&](const PeerKind& each) { return each.name == name; });
  if (kind == peer_kinds.end()) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("peer is '{}'; expected isal, jerasure or klauspost, or isal=PATH for "
                             "a library file",
                             name)};
  }
  Request request{&*kind, {}};
  if (equals == std::string_view::npos) return request;
  request.path = text.substr(equals + 1);
  if (request.path.empty()) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("peer is '{}'; expected a path after '='", text)};
  }
  // dlopen treats a name without a slash as a soname.
  if (request.path.find('/') == std::string::npos) request.path.insert(0, "./");
  return request;
}

Result<std::unique_ptr<Peer>> open_request(const Request& request) {
  const PeerKind& kind = *request.kind;
  auto library =
      SharedLibrary::open(request.path.empty() ? std::string(kind.soname) : request.path);
  if (library) return kind.open(*std::move(library));
  const std::string install =
      kind.package.empty() ? "" : fmt::format("install it (apt install {}) or ", kind.package);
  const std::string remedy =
      request.path.empty()
          ? fmt::format("{}name its file: --peer {}=PATH", install, kind.name)
          : fmt::format("expected the path of a {} that this machine can load", kind.soname);
  return Error{ErrorCode::backend_unavailable, fmt::format("cannot open peer {}: {}; {}", kind.name,
                                                           library.error().message, remedy)};
}

}  // namespace

std::vector<std::string> peer_names() {
  std::vector<std::string> names;
  for (const PeerKind& kind : peer_kinds)
    names.emplace_back(kind.name);
  return names;
}

Result<std::vector<NamedPeer>> open_peers(std::span<const std::string> requests) {
  std::vector<Request> parsed;
  std::vector<NamedPeer> peers;
  for (const std::string& text : requests) {
    auto request = parse_request(text);
    if (!request) return std::move(request).error();
    const auto earlier = std::count_if(parsed.begin(), parsed.end(), [&](const Request& each) {
      return each.kind == request->kind;
    });
    peers.push_back({earlier == 0 ? std::string(request->kind->name)
                                  : fmt::format("{}_{}", request->kind->name, earlier + 1),
                     nullptr});
    parsed.push_back(*std::move(request));
  }
  // Open sonames first: once a file with that soname is loaded by path, the loader would return it
  // for the soname as well.
  for (const bool by_path : {false, true}) {
    for (std::size_t i = 0; i < parsed.size(); ++i) {
      if (parsed[i].path.empty() == by_path) continue;
      auto peer = open_request(parsed[i]);
      if (!peer) return std::move(peer).error();
      peers[i].peer = *std::move(peer);
    }
  }
  return peers;
}

}  // namespace calpe::bench
