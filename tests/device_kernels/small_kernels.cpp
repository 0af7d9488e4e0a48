// SPDX-License-Identifier: Apache-2.0
// small_kernels [barrier | index]: runs every style of device kernel in OpenCL C over a few
// kilobytes under oclgrind and compares with the interpreter. `barrier` removes the barrier of the
// table kernel, `index` makes a kernel read beyond its inputs; oclgrind must report both.
#include <iostream>
#include <string_view>

#include "backend/gpu/device_programs.hpp"
#include "conformance/random_program.hpp"
#include "device_kernels/native_text.hpp"
#include "ir/linear_map.hpp"
#include "support/opencl_stripes.hpp"

namespace calpe::tests {
namespace {

using conformance::field_of;
using conformance::Random;

struct Piece {
  std::size_t word_bytes;
  bool any_alignment;
  bool accumulate;
};

class SmallKernels {
 public:
  SmallKernels(OpenClRunner& runner, std::string_view planted)
      : runner_(runner), planted_(planted) {}

  bool run_all() {
    const gf::Matrix rows = conformance::random_matrix(random_, *field_of(8), {3, 5, 10});
    for (const Piece& piece : {Piece{1, false, true}, Piece{4, false, false}, Piece{16, true, true},
                               Piece{64, false, false}}) {
      run_units(piece);
      run_planes(piece, rows);
      run_table_units(piece);
      run_table_planes(piece, rows);
    }
    std::cout << count_ << " kernels, " << wrong_ << " wrong\n";
    return wrong_ == 0;
  }

 private:
  static emit::DeviceForm form_of(const Piece& piece) {
    return {.word_bytes = piece.word_bytes,
            .any_alignment = piece.any_alignment,
            .accumulate = piece.accumulate,
            .group_items = 4};
  }

  DeviceStripes stripes_of(const Piece& piece, const emit::DeviceShape& shape) {
    return {random_,
            {.shape = shape,
             .column_bytes = piece.word_bytes * 6,  // one and a half groups
             .unit_stride = piece.word_bytes * 7,
             .group_count = 2,
             .stripe_count = 2,
             .alignment = piece.any_alignment ? 1 : piece.word_bytes,
             .accumulate = piece.accumulate}};
  }

  void run_units(const Piece& piece) {
    const ir::Program program = conformance::random_program(
        random_, field_of(3),
        {.dialect = ir::Dialect::xor_, .input_shards = 5, .output_shards = 2, .temporaries = 9});
    DeviceStripes stripes = stripes_of(piece, {5, 2, 3});
    stripes.expect_units(program);
    const std::vector<emit::RowGroup> groups = {{program, 0}};
    run(*emit::emit_units({5, 2, 3}, groups, form_of(piece)), piece, stripes, nullptr);
  }

  void run_planes(const Piece& piece, const gf::Matrix& rows) {
    DeviceStripes stripes = stripes_of(piece, {5, 3, 1});
    stripes.expect_product(*field_of(8), rows);
    const auto groups = backend::gpu::plane_groups(field_of(8), rows, {.registers = 24});
    run(*emit::emit_planes({5, 3, 1}, *groups, form_of(piece)), piece, stripes, nullptr);
  }

  void run_table_units(const Piece& piece) {
    ir::Program program = conformance::random_program(
        random_, field_of(4),
        {.dialect = ir::Dialect::xor_, .input_shards = 5, .output_shards = 9});
    DeviceStripes stripes = stripes_of(piece, {5, 9, 4});
    stripes.expect_units(program);
    const DeviceTable table = {emit::table_bits(ir::bit_map(program)), 2};
    run(*emit::emit_table(emit::TableStyle::units, form_of(piece)), piece, stripes, &table);
  }

  void run_table_planes(const Piece& piece, const gf::Matrix& rows) {
    DeviceStripes stripes = stripes_of(piece, {5, 3, 1});
    stripes.expect_product(*field_of(8), rows);
    const DeviceTable table = {emit::table_bits(backend::gpu::plane_map(rows)), 1};
    run(*emit::emit_table(emit::TableStyle::planes, form_of(piece)), piece, stripes, &table);
  }

  void run(emit::DeviceText made, const Piece& piece, DeviceStripes& stripes,
           const DeviceTable* table) {
    if (planted_ == "barrier") made.text = replaced(made.text, "barrier(CLK_LOCAL_MEM_FENCE);", "");
    if (planted_ == "index")
      made.text = replaced(made.text, "= n_base + (", "= n_base + (1000000UL + ");
    OpenClStripes device(runner_, stripes);
    // The optimiser makes instructions that oclgrind does not know.
    testing::AssertionResult result = runner_.build(made.text, "-cl-std=CL1.2 -cl-opt-disable");
    if (result) result = device.run(made, form_of(piece), 0, stripes.sizes().column_bytes, table);
    if (result) result = device.take();
    if (result) result = stripes.check();
    ++count_;
    if (result) return;
    ++wrong_;
    std::cout << made.entries[0] << ", words of " << piece.word_bytes << ": " << result.message()
              << '\n';
  }

  OpenClRunner& runner_;
  std::string_view planted_;
  Random random_ = Random::of_test("small kernels");
  int count_ = 0;
  int wrong_ = 0;
};

}  // namespace
}  // namespace calpe::tests

int main(int argc, char** argv) {
  calpe::tests::OpenClRunner runner;
  if (!runner.missing().empty()) {
    std::cout << runner.missing() << '\n';
    return 77;
  }
  std::cout << runner.device_name() << ", " << calpe::conformance::repeat_with() << '\n';
  return calpe::tests::SmallKernels(runner, argc > 1 ? argv[1] : "").run_all() ? 0 : 1;
}
