// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/cuda_driver.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <mutex>

#include "backend/cuda/cuda_caller_stream.hpp"
#include "backend/cuda/cuda_context.hpp"
#include "backend/cuda/cuda_queue.hpp"
#include "base/address.hpp"
#include "base/assert.hpp"
#include "base/try.hpp"

namespace calpe::backend::cuda {

namespace {

// Minimum compute capability of the emitted PTX: sm_50.
constexpr int capability_major_min = 5;

// Results of loading a module that blame its source: unsupported PTX version, no compiler, invalid
// image, no binary for this device, invalid PTX, compilation disabled, invalid source.
constexpr std::array<CuResult, 7> text_errors = {222, 221, 200, 209, 218, 223, 300};

std::string version_text(int version) {
  return text(version / 1000, ".", version % 1000 / 10);
}

Result<int> count_devices(const CudaApi& api) {
  int count = 0;
  const CuResult result = api.device_get_count.address(&count);
  if (result != cuda_success && result != cuda_error_no_device) {
    return make_error(ErrorCode::backend_unavailable,
                      api.describe(api.device_get_count.symbol, result));
  }
  if (count == 0) {
    return make_error(ErrorCode::backend_unavailable, "no CUDA device: the driver lists none");
  }
  return count;
}

// "0000:3b:00.0", or empty.
std::string pci_address_of(const CudaApi& api, CuDevice device) {
  std::array<char, 32> address = {};
  if (api.device_get_pci_bus_id.address == nullptr ||
      api.device_get_pci_bus_id.address(address.data(), static_cast<int>(address.size()), device) !=
          cuda_success) {
    return {};
  }
  std::string lower(address.data());
  for (char& c : lower) {
    if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

Result<gpu::DriverInfo> read_info(const CudaApi& api, unsigned index, CuDevice device) {
  std::array<char, 256> name = {};
  int version = 0;
  int major = 0;
  int minor = 0;
  std::size_t memory_bytes = 0;
  CALPE_CHECK(
      api.call(api.device_get_name, name.data(), static_cast<int>(name.size() - 1), device));
  CALPE_CHECK(api.call(api.driver_get_version, &version));
  CALPE_CHECK(api.call(api.device_get_attribute, &major, device_attribute_compute_capability_major,
                       device));
  CALPE_CHECK(api.call(api.device_get_attribute, &minor, device_attribute_compute_capability_minor,
                       device));
  CALPE_CHECK(api.call(api.device_total_mem, &memory_bytes, device));
  if (major < capability_major_min) {
    return make_error(ErrorCode::backend_unavailable, name.data(), " has compute capability ",
                      major, ".", minor, ", at least ", capability_major_min, ".0 is needed");
  }
  std::array<int, 3> grid = {};
  for (std::size_t i = 0; i < grid.size(); ++i) {
    CALPE_CHECK(api.call(api.device_get_attribute, &grid[i],
                         device_attribute_max_grid_dim_x + static_cast<int>(i), device));
  }
  const std::vector<unsigned> group_items = {256, 128};  // every device supports 1,024
  const std::string description = text(name.data(), ", driver ", version_text(version));
  return gpu::DriverInfo{.name = text("cuda:", index),
                         .description = description,
                         .identity = text("cuda ", description, ", sm_", major, minor),
                         .language = emit::DeviceLanguage::ptx,
                         .word_bytes = {16, 4, 1},
                         .group_items = group_items,
                         .shares_memory = false,
                         .has_addresses = true,
                         .has_unified_addresses = true,
                         .waits_for_context = true,
                         .knows_owners = true,
                         .takes_caller_queues = true,
                         .memory_bytes = memory_bytes,
                         .grid_max = static_cast<std::size_t>(std::min(grid[1], grid[2])),
                         .words_max = static_cast<std::size_t>(grid[0]) * group_items.back()};
}

class CudaDriver : public gpu::Driver {
 public:
  CudaDriver(gpu::DriverInfo info, ContextRef context)
      : info_(std::move(info)), context_(std::move(context)) {}

  const gpu::DriverInfo& info() const noexcept override { return info_; }

  Result<std::unique_ptr<gpu::Module>> build(const emit::DeviceText& text,
                                             const emit::DeviceForm& form) override;
  Result<std::unique_ptr<gpu::Module>> load(std::span<const std::byte> binary,
                                            const emit::DeviceText& text,
                                            const emit::DeviceForm& form) override;
  Result<std::vector<std::byte>> binary(const gpu::Module& module) override;

  Result<gpu::Place> allocate(std::size_t bytes) override;
  void release(const gpu::Place& place) override { context_->give_back(api().mem_free, place.at); }
  Result<std::byte*> allocate_host(std::size_t bytes) override;
  void release_host(std::byte* memory) override {
    context_->give_back(api().mem_free_host, memory);
  }
  Status register_host(std::byte* memory, std::size_t bytes) override {
    return context_->call(api().mem_host_register, memory, bytes, host_portable);
  }
  void unregister_host(std::byte* memory) override {
    context_->give_back(api().mem_host_unregister, memory);
  }
  Result<gpu::Place> import(HandleKind kind, std::uint64_t handle, std::size_t bytes) override;
  void forget(const gpu::Place& /*place*/) override {}
  gpu::Owner owner_of(const std::byte* address) const noexcept override;
  std::uint64_t native_context() const noexcept override {
    return reinterpret_cast<std::uint64_t>(context_->handle());
  }

  Status wait_for_context() override { return context_->call(api().ctx_synchronize); }

  Result<std::unique_ptr<gpu::Queue>> open_queue(const QueueOptions& options) override {
    return CudaQueue::open(context_, options.profiling);
  }
  Status prepare_caller_queues() override;
  Status use_caller_queue(const QueueHandle& queue, const gpu::CallerWork& work) override;

 private:
  const CudaApi& api() const noexcept { return context_->api(); }
  template <class T>
  Status read_pointer(T& value, int attribute, std::uint64_t handle) const;

  gpu::DriverInfo info_;
  ContextRef context_;
  std::mutex mutex_;
  std::unique_ptr<const NumberWriter> writer_owner_;  // guarded by mutex_
  std::atomic<const NumberWriter*> writer_ = nullptr;
};

Result<std::unique_ptr<gpu::Module>> CudaDriver::build(const emit::DeviceText& text,
                                                       const emit::DeviceForm& form) {
  if (form.language != emit::DeviceLanguage::ptx) return invalid(info_.name, " takes PTX only");
  std::array<char, 8192> log = {};
  std::array<int, 2> options = {jit_error_log_buffer, jit_error_log_buffer_size_bytes};
  // Options are passed as pointers.
  std::array<void*, 2> values = {log.data(), std::bit_cast<void*>(std::uintptr_t{log.size() - 1})};
  CuModule handle = nullptr;
  const CudaContext::Current current(*context_);
  if (!current.status()) return current.status().error();
  const CuResult result = api().module_load_data_ex.address(&handle, text.text.c_str(),
                                                            static_cast<unsigned>(options.size()),
                                                            options.data(), values.data());
  if (std::find(text_errors.begin(), text_errors.end(), result) != text_errors.end()) {
    return make_error(ErrorCode::compile_failed,
                      api().describe(api().module_load_data_ex.symbol, result), "\n", log.data());
  }
  if (result != cuda_success) return api().error(api().module_load_data_ex.symbol, result);
  auto module = std::make_unique<CudaModule>(context_, handle, form.group_items);
  for (const std::string& entry : text.entries)
    CALPE_CHECK(module->add_entry(entry));
  return std::unique_ptr<gpu::Module>(std::move(module));
}

// The driver has its own cache, keyed by the source; a second cache would be redundant.
Result<std::vector<std::byte>> CudaDriver::binary(const gpu::Module& /*module*/) {
  return std::vector<std::byte>();
}

Result<std::unique_ptr<gpu::Module>> CudaDriver::load(std::span<const std::byte> /*binary*/,
                                                      const emit::DeviceText& /*text*/,
                                                      const emit::DeviceForm& /*form*/) {
  return make_error(ErrorCode::compile_failed, info_.name, " keeps no binaries");
}

Result<gpu::Place> CudaDriver::allocate(std::size_t bytes) {
  CuDevicePointer address = 0;
  // The driver rejects 0 bytes.
  CALPE_CHECK(context_->call(api().mem_alloc, &address, std::max<std::size_t>(bytes, 1)));
  return gpu::Place{.at = address};
}

Result<std::byte*> CudaDriver::allocate_host(std::size_t bytes) {
  void* memory = nullptr;
  CALPE_CHECK(context_->call(api().mem_host_alloc, &memory, std::max<std::size_t>(bytes, 1),
                             host_portable));
  return static_cast<std::byte*>(memory);
}

template <class T>
Status CudaDriver::read_pointer(T& value, int attribute, std::uint64_t handle) const {
  const CudaContext::Current current(*context_);
  if (!current.status()) return current.status().error();
  const CuResult result = api().pointer_get_attribute.address(&value, attribute, handle);
  if (result == cuda_success) return Done{};
  // The driver reports an unknown address this way.
  constexpr CuResult invalid_value = 1;
  if (result != invalid_value) return api().error(api().pointer_get_attribute.symbol, result);
  return invalid("address ", handle, " is not memory of ", info_.name);
}

Result<gpu::Place> CudaDriver::import(HandleKind kind, std::uint64_t handle, std::size_t bytes) {
  if (kind != HandleKind::cuda_pointer) return invalid(info_.name, " takes CUDA pointers only");
  unsigned memory_type = 0;
  int ordinal = -1;
  CuDevicePointer start = 0;
  std::size_t size = 0;
  CALPE_CHECK(read_pointer(memory_type, pointer_attribute_memory_type, handle));
  if (memory_type != memory_type_device) {
    return invalid("address ", handle, " is not device memory but of type ", memory_type);
  }
  CALPE_CHECK(read_pointer(ordinal, pointer_attribute_device_ordinal, handle));
  if (ordinal != context_->device()) {
    return invalid("address ", handle, " is memory of cuda:", ordinal, ", not of ", info_.name);
  }
  CALPE_CHECK(read_pointer(start, pointer_attribute_range_start_addr, handle));
  CALPE_CHECK(read_pointer(size, pointer_attribute_range_size, handle));
  const std::size_t left = size - static_cast<std::size_t>(handle - start);
  if (bytes > left) {
    return invalid("import of ", bytes, " bytes at address ", handle, ", which has ", left);
  }
  return gpu::Place{.at = handle};
}

// Needs no current context. The driver answers for any address, with an error for unknown memory.
gpu::Owner CudaDriver::owner_of(const std::byte* address) const noexcept {
  const auto handle = reinterpret_cast<CuDevicePointer>(address);
  unsigned memory_type = 0;
  int ordinal = -1;
  const auto& ask = api().pointer_get_attribute;
  if (ask.address(&memory_type, pointer_attribute_memory_type, handle) != cuda_success ||
      memory_type != memory_type_device ||
      ask.address(&ordinal, pointer_attribute_device_ordinal, handle) != cuda_success) {
    return gpu::Owner::host;
  }
  return ordinal == context_->device() ? gpu::Owner::device : gpu::Owner::other_device;
}

Status CudaDriver::prepare_caller_queues() {
  const std::lock_guard lock(mutex_);
  if (writer_owner_ != nullptr) return Done{};
  CALPE_TRY(std::unique_ptr<gpu::Module> module,
            build(NumberWriter::text(), {.language = info_.language, .group_items = 1}));
  writer_owner_ = std::make_unique<const NumberWriter>(std::move(module));
  writer_.store(writer_owner_.get(), std::memory_order_release);
  return Done{};
}

Status CudaDriver::use_caller_queue(const QueueHandle& queue, const gpu::CallerWork& work) {
  if (queue.kind != QueueKind::cuda_stream) return invalid(info_.name, " takes CUDA streams only");
  const NumberWriter* const writer = writer_.load(std::memory_order_acquire);
  CALPE_ASSERT(writer != nullptr);  // prepare_caller_queues() comes first
  CuStream const stream = pointer_at<CuStreamObject>(queue.handle);
  const CudaContext::Current current(*context_);
  CALPE_CHECK(current.status());
  CALPE_CHECK(CudaCallerStream::check(*context_, stream));
  CudaCallerStream target(*context_, stream, *writer);
  return work.add_to(target);
}

}  // namespace

Result<unsigned> find_cuda_device(std::string_view pci_address) {
  CALPE_TRY(const CudaApi* api, open_cuda_api());
  CALPE_TRY(const int count, count_devices(*api));
  for (int index = 0; index < count; ++index) {
    CuDevice device = 0;
    CALPE_CHECK(api->call(api->device_get, &device, index));
    if (pci_address_of(*api, device) == pci_address) return static_cast<unsigned>(index);
  }
  return make_error(ErrorCode::backend_unavailable, "no CUDA device has the PCI address ",
                    pci_address, "; calpe devices lists them");
}

Result<std::unique_ptr<gpu::Driver>> open_cuda_driver(unsigned index) {
  CALPE_TRY(const CudaApi* api, open_cuda_api());
  CALPE_TRY(const int count, count_devices(*api));
  if (index >= static_cast<unsigned>(count)) {
    return make_error(ErrorCode::backend_unavailable, "no cuda:", index, ": there are ", count,
                      " CUDA devices");
  }
  CuDevice device = 0;
  CALPE_CHECK(api->call(api->device_get, &device, static_cast<int>(index)));
  CALPE_TRY(gpu::DriverInfo info, read_info(*api, index, device));
  CALPE_TRY(ContextRef context, CudaContext::open(*api, device));
  return std::unique_ptr<gpu::Driver>(
      std::make_unique<CudaDriver>(std::move(info), std::move(context)));
}

std::vector<BackendStatus> list_cuda() {
  const auto none = [](const Error& error) -> std::vector<BackendStatus> {
    return {{.name = "cuda", .description = "CUDA", .available = false, .reason = error.message}};
  };
  const auto api = open_cuda_api();
  if (!api) return none(api.error());
  const auto count = count_devices(**api);
  if (!count) return none(count.error());
  std::vector<BackendStatus> rows;
  for (unsigned index = 0; index < static_cast<unsigned>(*count); ++index) {
    BackendStatus row = {.name = text("cuda:", index), .description = "CUDA", .reason = {}};
    CuDevice device = 0;
    Status found = (*api)->call((*api)->device_get, &device, static_cast<int>(index));
    const auto info =
        found ? read_info(**api, index, device) : Result<gpu::DriverInfo>(found.error());
    row.available = info.has_value();
    (info ? row.description : row.reason) = info ? info->description : info.error().message;
    const std::string pci = info ? pci_address_of(**api, device) : std::string();
    if (!pci.empty()) row.description += text(", PCI ", pci);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace calpe::backend::cuda
