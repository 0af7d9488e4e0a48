// SPDX-License-Identifier: Apache-2.0
// Which code wrote the shards of an object, when nobody knows the pool's profile any more. Unlike
// identify(), one wrong shard in some stripes does not hinder it.
#pragma once
#include "store/ceph_object.hpp"
#include "store/identify.hpp"

namespace calpe::store {

// Needs all shards, of one length. Parts of them are tried until a code explains one. Fails as
// identify() does for the first part.
Result<Identification> identify_object(const CephShards& shards, const IdentifyOptions& options);

// A codec for what was found, also where no profile has these rows.
Result<Codec> codec_of(const Identification& found);

}  // namespace calpe::store
