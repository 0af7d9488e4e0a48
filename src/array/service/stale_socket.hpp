// SPDX-License-Identifier: Apache-2.0
// Unix sockets that a killed server left behind.
#pragma once
#include <string>
#include <sys/un.h>

#include <calpe/result.hpp>

namespace calpe::array {

// `key` is the name of the option in messages. Fails with invalid_argument if the path is too long.
Result<sockaddr_un> socket_address(const std::string& key, const std::string& path);

// Removes the socket at `path` if it is ours and no server listens on it. Fails with
// invalid_argument if a server does, or if the path is anything else than a socket of this user.
Status clear_stale_socket(const std::string& key, const std::string& path);

}  // namespace calpe::array
