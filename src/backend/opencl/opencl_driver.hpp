// SPDX-License-Identifier: Apache-2.0
// gpu::Driver for one OpenCL device, with its own context.
#pragma once
#include <chrono>
#include <map>
#include <memory>
#include <mutex>

#include "backend/gpu/driver.hpp"
#include "backend/opencl/opencl_api.hpp"

namespace calpe::backend::opencl {

class OpenClModule;

struct OpenClTarget {
  std::string name = {};  // "opencl:0"
  FoundDevice device = {};
  unsigned parts = 1;  // number of equal parts of the device
  unsigned part = 0;   // index of this part
  // Copy even if memory is shared; tests use it to cover devices with their own memory.
  bool copies = false;
  // Limit of a kernel's first launch, during which a driver may compile it.
  std::chrono::milliseconds first_launch_limit = std::chrono::minutes(10);
};

class OpenClDriver : public gpu::Driver {
 public:
  static Result<std::unique_ptr<gpu::Driver>> open(const Api& api, const OpenClTarget& target);
  OpenClDriver(const OpenClDriver&) = delete;
  OpenClDriver& operator=(const OpenClDriver&) = delete;
  ~OpenClDriver() override;

  const gpu::DriverInfo& info() const noexcept override { return info_; }
  Result<std::unique_ptr<gpu::Module>> build(const emit::DeviceText& text,
                                             const emit::DeviceForm& form) override;
  Result<std::unique_ptr<gpu::Module>> load(std::span<const std::byte> binary,
                                            const emit::DeviceText& text,
                                            const emit::DeviceForm& form) override;
  Result<std::vector<std::byte>> binary(const gpu::Module& module) override;
  Result<gpu::Place> allocate(std::size_t bytes) override;
  void release(const gpu::Place& place) override;
  Result<std::byte*> allocate_host(std::size_t bytes) override;
  void release_host(std::byte* memory) override;
  Status register_host(std::byte* memory, std::size_t bytes) override;
  void unregister_host(std::byte* memory) override;
  Result<gpu::Place> import(HandleKind kind, std::uint64_t handle, std::size_t bytes) override;
  void forget(const gpu::Place& place) override;
  std::uint64_t native_context() const noexcept override {
    return reinterpret_cast<std::uint64_t>(context_);
  }
  Result<std::unique_ptr<gpu::Queue>> open_queue(const QueueOptions& options) override;
  Status use_caller_queue(const QueueHandle& queue, const gpu::CallerWork& work) override;

 private:
  explicit OpenClDriver(const Api& api) : api_(api) {}
  Status open_context(const OpenClTarget& target);
  void describe_device(const OpenClTarget& target);
  void keep_group_sizes();
  Result<cl_command_queue> make_queue(bool profiling);
  Result<std::unique_ptr<gpu::Module>> finish(cl_program program, const emit::DeviceText& text,
                                              const emit::DeviceForm& form);
  Result<std::unique_ptr<gpu::Module>> launch_first(std::unique_ptr<OpenClModule> module,
                                                    std::size_t entries);
  Result<std::uint64_t> address_of(cl_mem buffer, cl_context context);

  const Api& api_;
  cl_device_id device_ = nullptr;
  cl_context context_ = nullptr;
  cl_command_queue mapping_queue_ = nullptr;
  gpu::DriverInfo info_;
  std::chrono::milliseconds first_launch_limit_ = {};
  bool is_cpu_ = false;
  bool counts_widths_ = false;  // PoCL bug, see launch_first()
  std::mutex mutex_;
  std::map<std::byte*, cl_mem> host_buffers_;  // from allocate_host
};

}  // namespace calpe::backend::opencl
