// SPDX-License-Identifier: Apache-2.0
// Reads the list of files of a generation.
#pragma once
#include "remote/set/segment_reader.hpp"
#include "store/format/manifest.hpp"

namespace calpe::remote {

// Fails with corrupt or unrecoverable.
Result<store::Manifest> read_manifest(SegmentReader& reader, const Generation& generation);

}  // namespace calpe::remote
