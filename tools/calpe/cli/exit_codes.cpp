// SPDX-License-Identifier: Apache-2.0
#include "calpe/cli/exit_codes.hpp"

namespace calpe::tools {

int exit_code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::unproven:
      return exit_usage;
    case ErrorCode::unrecoverable:
    case ErrorCode::corrupt:
    case ErrorCode::ambiguous:
      return exit_lost;
    case ErrorCode::backend_unavailable:
    case ErrorCode::compile_failed:
    case ErrorCode::device_failed:
    case ErrorCode::io:
    case ErrorCode::out_of_memory:
      break;
  }
  return exit_system;
}

}  // namespace calpe::tools
