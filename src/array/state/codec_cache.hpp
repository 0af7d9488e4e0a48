// SPDX-License-Identifier: Apache-2.0
// Caches codecs by spec, as arrays are often opened with the same few codes.
#pragma once
#include <calpe/codec.hpp>

namespace calpe::array {

Result<Codec> codec_for(const CodeSpec& spec);

}  // namespace calpe::array
