// SPDX-License-Identifier: Apache-2.0
// Closes descriptor 0, as in a process started without standard input.
#pragma once
#include <fcntl.h>
#include <unistd.h>

namespace calpe::tests {

class WithoutStandardInput {
 public:
  WithoutStandardInput() : kept_(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)) { close(STDIN_FILENO); }
  ~WithoutStandardInput() {
    if (kept_ < 0) return;
    dup2(kept_, STDIN_FILENO);
    close(kept_);
  }
  WithoutStandardInput(const WithoutStandardInput&) = delete;
  WithoutStandardInput& operator=(const WithoutStandardInput&) = delete;

 private:
  int kept_;
};

inline bool is_descriptor_0_open() {
  return fcntl(STDIN_FILENO, F_GETFD) != -1;
}

}  // namespace calpe::tests
