// SPDX-License-Identifier: Apache-2.0
// calpe ceph-scrub: which shard of an object is wrong, where Ceph's own scrub cannot tell.
#pragma once
#include <CLI/CLI.hpp>

namespace calpe::tools {

void add_ceph_scrub_command(CLI::App& app, int& exit_code);

}  // namespace calpe::tools
