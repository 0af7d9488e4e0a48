// SPDX-License-Identifier: Apache-2.0
// Runs kernels on the first OpenCL device. Opens libOpenCL.so.1 at run time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <calpe/result.hpp>

namespace calpe::tools {

class OpenClHost {
 public:
  // Fails with backend_unavailable if the library, a device, or the headers at build time are
  // missing.
  static Result<OpenClHost> open();
  OpenClHost(OpenClHost&&) noexcept;
  ~OpenClHost();

  const std::string& device_name() const noexcept;

  // Fails with compile_failed and the compiler's log.
  Status build(const std::string& source);

  struct Launch {
    std::string kernel;
    std::size_t first = 0;                    // global offset
    std::size_t count = 1;                    // number of work-items
    std::vector<std::uint64_t> numbers = {};  // arguments after n and r
  };
  // Runs the launches in order on copies of n and r, then reads r back. Fails with device_failed.
  Status run(std::span<const Launch> launches, std::span<const std::byte> n,
             std::span<std::byte> r);

 private:
  struct Impl;
  explicit OpenClHost(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace calpe::tools
