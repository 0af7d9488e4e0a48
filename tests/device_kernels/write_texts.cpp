// SPDX-License-Identifier: Apache-2.0
// write_texts DIR: writes the PTX for counting instructions, one file each, and prints a line per
// file: name, bytes of data per work-item, maximum ALU instructions per such byte (0: no budget),
// and the ALU and all instructions that `calpe devices --predict` counts in it.
// write_texts DIR opencl: the same for OpenCL; a line is name and maximum bytes of spills.
#include <fstream>
#include <iostream>
#include <string_view>

#include "calpe/predict/ptx_counts.hpp"
#include "device_kernels/text_cases.hpp"

namespace calpe::tests {
namespace {

struct Budget {
  TextCase test;
  double alu_per_byte = 0;
};

void write(const std::string& folder, const Budget& budget) {
  std::ofstream(folder + "/" + budget.test.name + ".ptx") << budget.test.text.text;
  const auto counts = tools::count_ptx(budget.test.text.text, budget.test.text.row_groups);
  CALPE_ASSERT(counts.has_value());
  std::cout << budget.test.name << ' ' << budget.test.data_bytes << ' ' << budget.alu_per_byte
            << ' ' << counts->alu << ' ' << counts->issue << '\n';
}

// Encoders use the full search, as they run for years; `quick` is the search for decoders.
void write_all(const std::string& folder) {
  const auto quick = [](TextCase test) {
    test.name += "_quick";
    return test;
  };
  write(folder, {units_case({5, 2, 3}, ptx_form(4, 512), 2), 0.6});
  write(folder, {units_case({10, 4, 8}, ptx_form(4, 512), 2), 0.95});
  write(folder, {quick(units_case({10, 4, 8}, ptx_form(4, 512))), 1.1});
  write(folder, {planes_case({10, 4, 8}, ptx_form(16), 2), 3.1});
  write(folder, {quick(planes_case({10, 4, 8}, ptx_form(16))), 3.4});
  write(folder, {planes_case({10, 4, 8}, ptx_form(4), 2), 0});
  write(folder, {sliced_case({10, 4, 8}, ptx_form(16), 2), 2.6});
  write(folder, {quick(sliced_case({10, 4, 8}, ptx_form(16))), 2.8});
  write(folder, {sliced_case({10, 4, 8}, ptx_form(16), 1, 4), 0});
  write(folder, {sliced_case({16, 4, 8}, ptx_form(16)), 2.75});
  write(folder, {units_case({10, 4, 8}, ptx_form(4, 512), 1, 4), 0});
  write(folder, {planes_case({10, 4, 8}, ptx_form(16), 2, 4), 0});
  write(folder, {units_case({16, 16, 8}, ptx_form(4, 512)), 9});
  write(folder, {planes_case({16, 16, 8}, ptx_form(16)), 9});
  write(folder, {planes_case({16, 16, 8}, ptx_form(4)), 9.5});
  write(folder, {planes_case({223, 32, 8}, ptx_form(4)), 12});
}

// In the forms that variant_build.cpp ends with if compilers report spills.
void write_opencl(const std::string& folder) {
  const auto form = [](std::size_t stride) {
    return emit::DeviceForm{.word_bytes = 4, .unit_stride = stride, .group_items = 64};
  };
  const auto put = [&](const TextCase& test, unsigned spill_bytes_max) {
    std::ofstream(folder + "/" + test.name + ".cl") << test.text.text;
    std::cout << test.name << ' ' << spill_bytes_max << '\n';
  };
  for (const CodeShape& shape : {CodeShape{10, 4, 8}, CodeShape{16, 4, 8}, CodeShape{20, 10, 8}}) {
    put(planes_case(shape, form(0)), 0);
    if (shape.data_shards <= 16) put(sliced_case(shape, form(0)), 0);
    put(units_case(shape, form(512)), 0);
  }
}

}  // namespace
}  // namespace calpe::tests

int main(int argc, char** argv) {
  const bool is_opencl = argc == 3 && std::string_view(argv[2]) == "opencl";
  if (argc != 2 && !is_opencl) {
    std::cerr << "usage: write_texts FOLDER [opencl]\n";
    return 2;
  }
  is_opencl ? calpe::tests::write_opencl(argv[1]) : calpe::tests::write_all(argv[1]);
}
