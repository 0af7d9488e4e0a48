// SPDX-License-Identifier: Apache-2.0
// Codecs are kept by their spec: arrays are opened again and again with few codes.
#pragma once
#include <calpe/codec.hpp>

namespace calpe::array {

Result<Codec> codec_for(const CodeSpec& spec);

}  // namespace calpe::array
