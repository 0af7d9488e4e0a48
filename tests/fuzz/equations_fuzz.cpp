// SPDX-License-Identifier: Apache-2.0
// Arbitrary equations: a program that parse() accepts is sound, and its printed form parses to the
// same program. The input is the shape (inputs, outputs, units per shard), then text.
#include <string_view>

#include "fuzz/input.hpp"
#include "fuzz/property.hpp"
#include "ir/text_form.hpp"
#include "ir/verify.hpp"

namespace calpe::fuzz {

namespace {

constexpr std::size_t shape_bytes = 3;
constexpr unsigned count_most = 40;  // larger counts come from the text

void run(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < shape_bytes) return;
  Input input(bytes.first(shape_bytes));
  const ir::TextShape shape = {.inputs = input.below(count_most),
                               .outputs = input.below(count_most),
                               .unit_count = input.below(10)};
  const auto rest = bytes.subspan(shape_bytes);
  const std::string_view text(reinterpret_cast<const char*>(rest.data()), rest.size());
  const auto program = ir::parse(text, shape);
  if (!program) {
    require(program.error().code == ErrorCode::invalid_argument, "bad text is an invalid argument");
    require(!program.error().message.empty(), "the error has a message");
    return;
  }
  require(shape.inputs == 0 || program->inputs() == shape.inputs, "inputs are as requested");
  require(shape.outputs == 0 || program->outputs() == shape.outputs, "outputs are as requested");
  require(program->unit_count() == shape.unit_count, "units are as requested");
  // verify needs memory for every value, and numbers go up to 2^24.
  if (program->values() < 10'000)
    require(ir::verify(*program).has_value(), "a parsed program is sound");
  const std::string printed = ir::print(*program);
  const auto again = ir::parse(printed, {.inputs = program->inputs(),
                                         .outputs = program->outputs(),
                                         .unit_count = program->unit_count()});
  require(again.has_value(), "a printed program parses");
  require(*again == *program, "it parses to the same program");
  require(ir::print(*again) == printed, "it prints the same text");
}

}  // namespace

}  // namespace calpe::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  calpe::fuzz::run({data, size});
  return 0;
}
