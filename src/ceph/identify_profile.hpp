// SPDX-License-Identifier: Apache-2.0
// Identifies the code of an object's shards when the pool's profile is unknown. Unlike identify(),
// tolerates a wrong shard in some stripes.
#pragma once
#include "ceph/object.hpp"
#include "store/identify/identify.hpp"

namespace calpe::ceph {

// Requires all shards, with equal lengths. Tries parts of the shards until a code explains one.
// Fails with the error that identify() returns for the first part.
Result<store::Identification> identify_object(const CephShards& shards,
                                              const store::IdentifyOptions& options);

// Creates a codec for the result, also if its rows match no profile.
Result<Codec> codec_of(const store::Identification& found);

}  // namespace calpe::ceph
