// SPDX-License-Identifier: Apache-2.0
// A place in a local directory, which must exist.
#pragma once
#include <memory>

#include "remote/place/place.hpp"

namespace calpe::remote {

std::unique_ptr<Place> directory_place(std::string path);

}  // namespace calpe::remote
