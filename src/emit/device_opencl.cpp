// SPDX-License-Identifier: Apache-2.0
// Device kernels in OpenCL C 1.2. An address is a pointer that is equal in all work-items of a
// group, plus the 32-bit offset x of the work-item: GPUs have few 64-bit adders, and addresses
// would take most instructions. Shards may be relative to a base or absolute. Avoids shuffle() and
// multiplication of words: PoCL does the first lane by lane, and vectors of 32-bit products are
// slow on CPUs.
#include <array>

#include "base/text.hpp"
#include "emit/device_walk.hpp"

namespace calpe::emit {

namespace {

std::string_view type_of(std::size_t word_bytes) {
  switch (word_bytes) {
    case 1:
      return "uchar";
    case 4:
      return "uint";
    case 16:
      return "uint4";
    case sliced_word_bytes:  // values are the words of equal bits
      return "uint";
    default:
      return "uint16";
  }
}

// Writes the arguments of every kernel and the position of this work-item. `row_groups`: a number
// or an argument.
std::string head(const DeviceForm& form, std::string_view name, std::string_view more,
                 std::string_view row_groups) {
  const std::string words = row_groups == "1"
                                ? std::string("(uint)get_global_id(0)")
                                : text("((uint)get_group_id(0) / (uint)", row_groups, " * ",
                                       form.group_items, " + (uint)get_local_id(0))");
  return text("__kernel __attribute__((reqd_work_group_size(", form.group_items, ", 1, 1)))\nvoid ",
              name,
              "(__global const uchar *n_base, __global uchar *r_base,\n"
              "    __global const ulong *shards, ulong first, ulong column_bytes,\n"
              "    ulong unit_stride, ulong group_stride, ulong shards_at",
              more,
              ")\n{\n"
              "  const uint x = ",
              words,
              " * WORD_BYTES;\n"
              "  const ulong at = first + get_group_id(1) * group_stride;\n");
}

class OpenClGroup final : public DeviceWalk {
 public:
  OpenClGroup(const DeviceEntry& entry, const RowGroup& group)
      : DeviceWalk(entry, group, kept_inputs_max(entry, group)),
        is_declared_(group.program.inputs()) {}

  std::string write() {
    out_ = heading(program(), "");
    walk();
    return std::move(out_);
  }

 private:
  bool is_sliced() const { return entry().style == DeviceStyle::sliced; }

  // Words of 64 bytes are for CPUs with 32 registers and a cache; reloading from there is as fast
  // as a compiler's spill.
  static std::size_t kept_inputs_max(const DeviceEntry& entry, const RowGroup& group) {
    constexpr std::size_t of_a_cpu = 24;
    return entry.form.word_bytes == 64 ? of_a_cpu : group.program.inputs();
  }

  void open_input(std::uint32_t shard) override {
    out_ +=
        text("  __global const uchar *const n", shard, " = n_base + (shards[", shard, "] + at);\n");
  }

  // Declares eight words and exchanges their bits.
  template <class Name, class Value>
  void exchange(const Name& name, const Value& value) {
    for (unsigned i = 0; i < planes_per_byte; ++i)
      out_ += text("  uint ", name(i), " = ", value(i), ";\n");
    for (const BitExchange& each : bit_exchanges()) {
      out_ += text("  EXCHANGE(", name(each.first), ", ", name(each.second), ", ", each.shift, ", ",
                   each.lower, "u)\n");
    }
  }

  void load_slices(std::uint32_t shard) {
    out_ += text("  const uint4 p", shard, " = HALF(const, n", shard, ", 0), q", shard,
                 " = HALF(const, n", shard, ", middle);\n");
    exchange([&](unsigned i) { return variable_name(program(), shard * planes_per_byte + i); },
             [&](unsigned i) { return text(i < 4 ? "p" : "q", shard, ".s", i % 4); });
  }

  void store_slices(std::uint32_t shard) {
    const auto name = [&](unsigned i) { return text("w", shard, "_", i); };
    exchange(name, [&](unsigned i) {
      return variable_name(program(), program().output(shard * planes_per_byte + i));
    });
    const std::uint32_t number = entry().shape.input_shards + group().first_output + shard;
    const std::string_view sign = entry().form.accumulate ? " ^= " : " = ";
    out_ += text("  __global uchar *const r", number, " = r_base + (shards[", number, "] + at);\n");
    for (unsigned i = 0; i < planes_per_byte; i += 4) {
      out_ += text("  HALF(, r", number, i == 0 ? ", 0)" : ", middle)", sign, "(uint4)(", name(i),
                   ", ", name(i + 1), ", ", name(i + 2), ", ", name(i + 3), ");\n");
    }
  }

  void load(ir::Value input) override {
    if (is_sliced()) return load_slices(input / planes_per_byte);
    const std::uint32_t units = entry().shape.unit_count;
    out_ += text("  ", is_declared_[input] ? "" : "word ", variable_name(program(), input),
                 " = INPUT(n", input / units, ", ", input % units, ");\n");
    is_declared_[input] = true;
  }

  void add_up(const ir::Instruction& instruction) override {
    std::vector<std::string> names;
    for (const ir::Term& term : program().terms(instruction))
      names.push_back(variable_name(program(), term.value));
    out_ += statement("const word " + variable_name(program(), instruction.target), names,
                      {.zero = "EACH(0)"});
  }

  void store(std::uint32_t shard, std::uint32_t unit, std::string_view value) {
    out_ += text("  OUTPUT(r_base + (shards[", entry().shape.input_shards + shard, "] + at), ",
                 unit, entry().form.accumulate ? ") ^= " : ") = ", value, ";\n");
  }

  void put_unit(std::uint32_t output) override {
    const std::uint32_t units = entry().shape.unit_count;
    const std::uint32_t unit = group().first_output + output;
    store(unit / units, unit % units, variable_name(program(), program().output(output)));
  }

  void put_shard(std::uint32_t shard) override {
    if (is_sliced()) return store_slices(shard);
    std::string sum;
    for (unsigned b = planes_per_byte; b-- > 0;) {
      const ir::Value plane = program().output(shard * planes_per_byte + b);
      if (!sum.empty()) sum = text("twice(", sum, ")");
      if (is_zero(plane)) continue;
      sum += text(sum.empty() ? "" : " ^ ", variable_name(program(), plane));
    }
    store(group().first_output + shard, 0, sum.empty() ? "EACH(0)" : sum);
  }

  std::vector<bool> is_declared_;  // by input
  std::string out_;
};

}  // namespace

std::string opencl_prelude(const DeviceForm& form) {
  const std::string_view aligned = form.any_alignment ? " __attribute__((aligned(1)))" : "";
  if (form.word_bytes == sliced_word_bytes) {
    return text(
        "typedef uint word;\ntypedef uint4 access", aligned,
        ";\n"
        "#define WORD_BYTES 16u\n"
        "#define EACH(v) ((word)(v))\n"
        "#define HALF(type, shard, start) (*(__global type access *)((shard) + (start) + x))\n"
        "// Exchanges the upper bits of a with the lower ones of b.\n"
        "#define EXCHANGE(a, b, shift, lower) \\\n"
        "  { \\\n"
        "    const uint top = (a) >> (shift); \\\n"
        "    a = ((a) & (lower)) | ((b) << (shift) & ~(lower)); \\\n"
        "    b = (top & (lower)) | ((b) & ~(lower)); \\\n"
        "  }\n");
  }
  const bool is_byte = form.word_bytes == 1;
  const std::string_view repeat = is_byte ? "0x01 * (v)" : "0x01010101u * (v)";
  return text("typedef ", type_of(form.word_bytes), " word;\ntypedef word access", aligned,
              ";\n"
              "#define WORD_BYTES ",
              form.word_bytes,
              "u\n"
              "#define UNIT_STRIDE ",
              form.unit_stride == 0 ? "unit_stride" : text(form.unit_stride, "ul"),
              "\n"
              "#define INPUT(shard, unit) \\\n"
              "  (*(__global const access *)((shard) + (unit) * UNIT_STRIDE + x))\n"
              "#define OUTPUT(shard, unit) \\\n"
              "  (*(__global access *)((shard) + (unit) * UNIT_STRIDE + x))\n"
              "// The number v in every byte of a word.\n"
              "#define EACH(v) ((word)(",
              repeat,
              "))\n\n"
              "// Times x in GF(2^8), every byte. Where the top bit is set, its byte of `over` is\n"
              "// 0x7f, or 0xff where the polynomial needs that.\n"
              "word twice(word h);\n"
              "word twice(word h)\n"
              "{\n"
              "  const word top = h & EACH(0x80);\n"
              "  const word over = top - (top >> 7)",
              form.reduction < 0x80 ? "" : " | top",
              ";\n"
              "  return ((h + h) & EACH(0xfe)) ^ (over & EACH(",
              form.reduction,
              "));\n"
              "}\n");
}

std::string opencl_kernel(const DeviceEntry& entry) {
  const DeviceShape& shape = entry.shape;
  const std::string count = text(entry.groups.size());
  std::string out =
      text("\n", head(entry.form, entry.name, "", count),
           entry.style == DeviceStyle::sliced ? "  const ulong middle = column_bytes / 2;\n"
                                                "  if (x >= middle) return;\n"
                                              : "  if (x >= column_bytes) return;\n",
           "  shards += shards_at + get_group_id(2) * ", shape.input_shards + shape.output_shards,
           ";\n");
  if (entry.groups.size() == 1)
    return text(out, OpenClGroup(entry, entry.groups[0]).write(), "}\n");
  out += text("  const uint row_group = (uint)get_group_id(0) % ", count, ";\n");
  for (std::size_t g = 0; g < entry.groups.size(); ++g) {
    const bool is_last = g + 1 == entry.groups.size();
    out += is_last ? std::string("  {\n") : text("  if (row_group == ", g, ") {\n");
    out += OpenClGroup(entry, entry.groups[g]).write();
    out += is_last ? "  }\n" : "    return;\n  }\n";
  }
  return out + "}\n";
}

std::string opencl_table(TableStyle style, const DeviceForm& form, std::string_view name) {
  const bool is_planes = style == TableStyle::planes;
  std::string out = "\n" + head(form, name,
                                ",\n    __global const uint *bits, ulong row_groups, "
                                "ulong input_shards,\n"
                                "    ulong output_shards, ulong unit_count, ulong accumulate",
                                "row_groups");
  out += text("  __local uint rows[", table_inputs_max,
              "];\n"
              "  const ulong columns = input_shards * unit_count;\n"
              "  const uint row_group = (uint)get_group_id(0) % (uint)row_groups;\n"
              "  bits += row_group * columns;\n"
              "  for (ulong c = get_local_id(0); c < columns; c += ",
              form.group_items,
              ") rows[c] = bits[c];\n"
              "  barrier(CLK_LOCAL_MEM_FENCE);\n"
              "  if (x >= column_bytes) return;\n"
              "  shards += shards_at + get_group_id(2) * (input_shards + output_shards);\n");
  for (std::size_t r = 0; r < table_rows; ++r)
    out += text("  word sum", r, " = EACH(0);\n");
  out +=
      "  for (ulong shard = 0, c = 0; shard < input_shards; ++shard) {\n"
      "    __global const uchar *const n = n_base + (shards[shard] + at);\n"
      "    for (ulong unit = 0; unit < unit_count; ++unit, ++c) {\n"
      "      const word value = INPUT(n, unit);\n"
      "      const uint row = rows[c];\n";
  for (std::size_t r = 0; r < table_rows; ++r)
    out += text("      sum", r, " ^= value & (word)(-(row >> ", r, " & 1));\n");
  out += "    }\n  }\n  shards += input_shards;\n";
  if (is_planes) {
    for (std::size_t i = 0; i < table_rows / planes_per_byte; ++i) {
      std::string sum = text("sum", i * planes_per_byte + planes_per_byte - 1);
      for (std::size_t b = planes_per_byte - 1; b-- > 0;)
        sum = text("twice(", sum, ") ^ sum", i * planes_per_byte + b);
      out += text("  sum", i, " = ", sum, ";\n");
    }
    out += text("  const ulong r = row_group * ", table_rows / planes_per_byte, ";\n");
  } else {
    out += text("  const ulong r = row_group * ", table_rows, ";\n");
  }
  out += "  const ulong row_count = output_shards * unit_count;\n";
  for (std::size_t i = 0; i < (is_planes ? table_rows / planes_per_byte : table_rows); ++i) {
    out += text("  if (r + ", i,
                " >= row_count) return;\n"
                "  PUT(r + ",
                i, ", sum", i, ");\n");
  }
  return text(
      "\n#define PUT(unit, sum) put(r_base + (shards[(unit) / unit_count] + at) + \\\n"
      "    (unit) % unit_count * UNIT_STRIDE + x, sum, accumulate)\n"
      "void put(__global uchar *address, word sum, ulong accumulate);\n"
      "void put(__global uchar *address, word sum, ulong accumulate)\n"
      "{\n"
      "  __global access *const at = (__global access *)address;\n"
      "  *at = accumulate != 0 ? *at ^ sum : sum;\n"
      "}\n",
      out, "}\n");
}

}  // namespace calpe::emit
