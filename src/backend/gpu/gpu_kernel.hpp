// SPDX-License-Identifier: Apache-2.0
// A plan on a device: its matrix for the table kernels, which run immediately, and the variants
// compiled for it, each used once it is built and checked.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <calpe/result.hpp>

#include "backend/backend.hpp"
#include "backend/gpu/core.hpp"
#include "emit/device_kernel.hpp"
#include "gf/matrix.hpp"
#include "ir/program.hpp"

namespace calpe::backend::gpu {

// Computation of a kernel.
struct Task {
  emit::DeviceShape shape = {};
  emit::TableStyle style = emit::TableStyle::units;
  unsigned reduction = 0x1D;
  std::optional<ir::Program> program = {};  // units
  gf::FieldRef field = {};                  // planes
  gf::Matrix rows = {};
};

// Form of the source code, apart from the program.
struct VariantKey {
  bool accumulate = false;
  std::size_t unit_stride = 0;  // 0: passed as an argument
  bool operator==(const VariantKey&) const = default;
};

enum class VariantState : std::uint8_t { waiting, ready, failed };

struct Variant {
  explicit Variant(const VariantKey& wanted) : key(wanted) {}
  VariantKey key;
  std::atomic<VariantState> state = VariantState::waiting;
  // Written before the state.
  std::shared_ptr<const Module> module = {};
  std::size_t row_groups = 1;
  std::size_t word_bytes = 0;  // may differ from the kernel's
  std::string reason = {};     // if failed
};

class GpuKernel : public Kernel, public std::enable_shared_from_this<GpuKernel> {
 public:
  static Result<std::shared_ptr<GpuKernel>> make(std::shared_ptr<Core> core, Task task);
  // The same with given table kernels, of a core that outlives it.
  static Result<std::shared_ptr<GpuKernel>> make_with_tables(Core& core, Task task,
                                                             TableKernels::Pair tables);
  GpuKernel(const GpuKernel&) = delete;
  GpuKernel& operator=(const GpuKernel&) = delete;
  ~GpuKernel() override;

  const Task& task() const noexcept { return task_; }
  const TableKernels::Pair& tables() const noexcept { return tables_; }
  const Place& bits() const noexcept { return bits_; }
  std::size_t word_bytes() const noexcept { return word_bytes_; }
  std::size_t row_groups() const noexcept { return row_groups_; }
  std::size_t shards() const noexcept {
    return task_.shape.input_shards + task_.shape.output_shards;
  }

  // Returns the variant for this work if it is ready; otherwise null, and builds it in the
  // background. With GpuOptions::waits, builds it now.
  std::shared_ptr<const Variant> variant(const VariantKey& key) const;
  // Reasons of failed builds, and words of ready variants; for tests and reports.
  std::vector<std::string> failures() const;
  std::vector<std::size_t> ready_words() const;

 private:
  GpuKernel(Core& core, Task task, TableKernels::Pair tables)
      : core_(core),
        task_(std::move(task)),
        tables_(std::move(tables)),
        word_bytes_(core.word_for(task_.style, task_.shape.input_shards)) {}
  Status upload_bits();

  std::shared_ptr<Core> owned_core_;
  Core& core_;
  Task task_;
  TableKernels::Pair tables_;
  std::vector<std::uint32_t> host_bits_;
  Place bits_ = {};
  bool owns_bits_ = false;
  std::size_t row_groups_ = 0;
  std::size_t word_bytes_;
  mutable std::mutex mutex_;
  mutable std::vector<std::shared_ptr<Variant>> variants_;
};

}  // namespace calpe::backend::gpu
