// SPDX-License-Identifier: Apache-2.0
// Compares a file or link that an earlier restore left with the content of a set.
#pragma once
#include <string>

#include "store/format/manifest.hpp"
#include "store/tree/tree_content.hpp"

namespace calpe::store {

// `folder`: descriptor of its directory; `shown`: its path in messages. The file has the size of
// the entry. Returns false at the first difference. Fails with io and as the content.
Result<bool> has_content(int folder, const std::string& name, const Entry& entry,
                         const std::string& shown, ContentPieces& content);

// invalid_argument: "... has the size and time of the protected file, but other bytes; ..."
Error other_bytes_error(const std::string& shown);

}  // namespace calpe::store
