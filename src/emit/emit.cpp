// SPDX-License-Identifier: Apache-2.0
#include "emit/emit.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.hpp"
#include "base/try.hpp"
#include "emit/sources.hpp"
#include "ir/verify.hpp"

namespace calpe::emit {

namespace {

struct NamedTarget {
  std::string_view name;
  Target target;
};
constexpr std::array targets = {
    NamedTarget{"c", Target::c},           NamedTarget{"openmp", Target::openmp},
    NamedTarget{"opencl", Target::opencl}, NamedTarget{"cuda", Target::cuda},
    NamedTarget{"ptx", Target::ptx},       NamedTarget{"hip", Target::hip},
    NamedTarget{"spirv", Target::spirv},
};

bool is_identifier(std::string_view name) {
  const auto is_letter = [](unsigned char c) { return std::isalpha(c) != 0 || c == '_'; };
  return !name.empty() && is_letter(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(),
                     [&](unsigned char c) { return is_letter(c) || std::isdigit(c) != 0; });
}

// Unit numbers times the length must fit an address.
constexpr std::size_t unit_bytes_max = std::size_t{1} << 40;

Status check(const ir::Program& program, Target target, const Options& options) {
  if (program.dialect() != ir::Dialect::xor_) {
    return invalid("program is in the gf dialect; expected xor");
  }
  CALPE_CHECK(ir::verify(program));
  if (program.inputs() == 0 || program.outputs() == 0) {
    return invalid("program has ", program.inputs(), " inputs and ", program.outputs(),
                   " outputs; expected at least one of each");
  }
  if (!is_identifier(options.name)) {
    return invalid("name is \"", options.name, "\"; expected a C identifier");
  }
  const auto is_control = [](unsigned char c) { return std::iscntrl(c) != 0 || c == '\\'; };
  if (std::any_of(options.title.begin(), options.title.end(), is_control)) {
    return invalid("title has a control character or a backslash; expected one line of text");
  }
  if (options.unit_bytes > unit_bytes_max) {
    return invalid("unit_bytes is ", options.unit_bytes, "; expected at most ", unit_bytes_max);
  }
  if (options.form == Form::shards) {
    if (target != Target::c && target != Target::openmp) {
      return invalid("form shards needs target c or openmp");
    }
    if (options.unit_bytes != 0) {
      return invalid("unit_bytes is ", options.unit_bytes, "; expected 0 with form shards");
    }
  }
  return Done{};
}

}  // namespace

Result<std::string> emit(const ir::Program& program, Target target, const Options& options) {
  CALPE_CHECK(check(program, target, options));
  const auto c_source = options.form == Form::shards ? emit_shards : emit_arrays;
  switch (target) {
    case Target::c:
      return c_source(program, options, {.enabled = false});
    case Target::openmp:
      return c_source(program, options, {.enabled = true});
    case Target::opencl:
      return emit_opencl(program, options);
    case Target::cuda:
      return emit_cuda(program, options, {.is_hip = false});
    case Target::hip:
      return emit_cuda(program, options, {.is_hip = true});
    case Target::ptx:
      return emit_ptx(program, options);
    case Target::spirv:
      return emit_spirv(program, options);
  }
  return invalid("target is ", static_cast<int>(target), "; expected 0 to 6");
}

Result<Target> target_by_name(std::string_view name) {
  std::string known;
  for (const NamedTarget& row : targets) {
    if (row.name == name) return row.target;
    known += text(known.empty() ? "" : ", ", row.name);
  }
  return invalid("target is \"", name, "\"; expected one of ", known);
}

}  // namespace calpe::emit
