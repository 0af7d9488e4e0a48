// SPDX-License-Identifier: Apache-2.0
// Finds the bytes of kept originals that are no longer where the file list says: in a file with
// another name, or at another offset of their file, since bytes before them were inserted or
// removed. People rename and edit files, and found bytes need no rebuilding from parity.
#pragma once
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "store/tree/in_place_content.hpp"

namespace calpe::store {

class OriginalShards;

struct MovedFiles {
  std::vector<MovedPiece> pieces = {};  // in the order of the content, without overlap
  // By entry of the manifest: the path of another file that seems to have its bytes.
  std::map<std::size_t, std::string> names = {};
};

// Looks only for files that are missing or have another size or time than in the file list, so that
// it costs one look at each file when nothing changed. A large file is recognised by a few of its
// blocks, a small one by its size and its time or name. So the bytes of a piece may differ:
// readers check each block. Never follows links, and takes files
// that cannot be read as missing. Fails with io if the directory cannot be opened.
Result<MovedFiles> find_moved(const OriginalShards& originals);

}  // namespace calpe::store
