// SPDX-License-Identifier: Apache-2.0
// Runs a device kernel in OpenCL C over stripes, as a backend does.
#pragma once
#include <bit>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <vector>

#include "emit/device_kernel.hpp"
#include "support/device_stripes.hpp"
#include "support/opencl_runner.hpp"

namespace calpe::tests {

// Extra arguments of a table kernel.
struct DeviceTable {
  std::vector<std::uint32_t> bits;
  std::size_t row_groups = 1;
};

enum class Addressing : std::uint8_t {
  offsets,    // into two buffers
  addresses,  // without buffers, for a device that shares memory
};

// Computes every column from byte `from` with the kernel that the runner has built.
class OpenClStripes {
 public:
  OpenClStripes(OpenClRunner& runner, DeviceStripes& stripes, Addressing how = Addressing::offsets)
      : runner_(runner), stripes_(stripes), how_(how) {
    const auto flag = [&](auto& memory) {
      return runner.buffer(memory.data(), memory.size() * sizeof memory[0],
                           how == Addressing::offsets ? CL_MEM_COPY_HOST_PTR : CL_MEM_USE_HOST_PTR);
    };
    table_ = stripes.table();
    if (how == Addressing::addresses) add_bases();
    n_ = flag(stripes.n());
    r_ = flag(stripes.r());
    shards_ = runner.buffer(table_.data(), table_.size() * sizeof table_[0]);
  }
  ~OpenClStripes() {
    for (cl_mem memory : {n_, r_, shards_})
      runner_.release(memory);
  }
  OpenClStripes(const OpenClStripes&) = delete;
  OpenClStripes& operator=(const OpenClStripes&) = delete;

  testing::AssertionResult run(const emit::DeviceText& text, const emit::DeviceForm& form,
                               std::size_t from, std::size_t bytes,
                               const DeviceTable* table = nullptr) {
    const DeviceSizes& sizes = stripes_.sizes();
    const std::size_t groups = (bytes / form.word_bytes + form.group_items - 1) / form.group_items;
    if (groups == 0) return testing::AssertionSuccess();
    using Argument = OpenClRunner::Argument;
    const bool is_shared = how_ == Addressing::addresses;
    std::vector<Argument> arguments = {is_shared ? Argument() : Argument(n_),
                                       is_shared ? Argument() : Argument(r_),
                                       shards_,
                                       cl_ulong{stripes_.first() + from},
                                       cl_ulong{bytes},
                                       cl_ulong{sizes.unit_stride},
                                       cl_ulong{sizes.group_stride()},
                                       cl_ulong{0}};
    const std::size_t row_groups = table == nullptr ? text.row_groups : table->row_groups;
    const OpenClRunner::Range range = {
        .count = {groups * row_groups * form.group_items, sizes.group_count, sizes.stripe_count},
        .local = form.group_items};
    if (table == nullptr) return runner_.launch(text.entries.at(0), arguments, range);
    std::vector<std::uint32_t> words = table->bits;
    cl_mem bits = runner_.buffer(words.data(), words.size() * sizeof words[0]);
    const std::vector<Argument> more = {bits,
                                        cl_ulong{row_groups},
                                        cl_ulong{sizes.shape.input_shards},
                                        cl_ulong{sizes.shape.output_shards},
                                        cl_ulong{sizes.shape.unit_count},
                                        cl_ulong{sizes.accumulate ? 1U : 0U}};
    arguments.insert(arguments.end(), more.begin(), more.end());
    testing::AssertionResult result = runner_.launch(text.entries.at(0), arguments, range);
    runner_.finish();
    runner_.release(bits);
    return result;
  }

  // Copies the device's results into the stripes.
  testing::AssertionResult take() {
    return runner_.read(r_, stripes_.r().data(), stripes_.r().size());
  }

 private:
  void add_bases() {
    const DeviceSizes& sizes = stripes_.sizes();
    for (std::size_t i = 0; i < table_.size(); ++i) {
      const bool is_input = i % sizes.shards() < sizes.shape.input_shards;
      table_[i] +=
          reinterpret_cast<std::uintptr_t>(is_input ? stripes_.n().data() : stripes_.r().data());
    }
  }

  OpenClRunner& runner_;
  DeviceStripes& stripes_;
  Addressing how_;
  std::vector<std::uint64_t> table_;
  cl_mem n_ = nullptr;
  cl_mem r_ = nullptr;
  cl_mem shards_ = nullptr;
};

}  // namespace calpe::tests
