// SPDX-License-Identifier: Apache-2.0
// Which code wrote the shards of an object, when nobody knows the pool's profile any more. Unlike
// identify(), one wrong shard in some stripes does not hinder it.
#pragma once
#include "ceph/object.hpp"
#include "store/identify/identify.hpp"

namespace calpe::ceph {

// Needs all shards, of one length. Parts of them are tried until a code explains one. Fails as
// identify() does for the first part.
Result<store::Identification> identify_object(const CephShards& shards,
                                              const store::IdentifyOptions& options);

// A codec for what was found, also where no profile has these rows.
Result<Codec> codec_of(const store::Identification& found);

}  // namespace calpe::ceph
