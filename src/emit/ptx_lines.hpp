// SPDX-License-Identifier: Apache-2.0
// Building blocks of PTX kernels for devices. A word of 16 bytes is four registers, its lanes. A
// value's registers are letter and number (a5, b5, c5, d5); shorter words have lane a only.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/text.hpp"
#include "emit/device_kernel.hpp"

namespace calpe::emit {

class PtxLines {
 public:
  explicit PtxLines(const DeviceForm& form) : form_(form) {}

  unsigned lanes() const noexcept { return form_.word_bytes == 16 ? 4 : 1; }
  template <class Number>
  std::string lane(unsigned index, Number value) const {
    return text(letters[index], value);
  }

  void line(const auto&... parts) { out_ += text("  ", parts..., ";\n"); }
  void label(std::string_view name) { out_ += text(name, ":\n"); }

  struct Head {
    std::string_view name;
    std::string_view more_parameters = {};
    std::size_t values = 0;        // registers per lane
    std::uint32_t row_groups = 1;  // 0: the parameter row_groups
    bool is_sliced = false;
  };
  // Writes the parameters, the registers, and `at`: first + y * group_stride + x. `is_outside` is
  // set if there is nothing to do. `row_group` is only set if there may be several. Sliced: x is in
  // the first half of column_bytes, `half` is its size.
  void open(const Head& head);
  std::string close() { return out_ + "done:\n  ret;\n}\n"; }

  template <class Number>
  void load(std::string_view how, Number value, std::string_view address) {
    line(how, ".", type(), " ", word(value), ", [", address, "]");
  }
  template <class Number>
  void store(std::string_view address, Number value) {
    line("st.global.", type(), " [", address, "], ", word(value));
  }
  // target = twice(source) ^ plane, in one lane. All are registers; `plane` may be empty.
  void double_and_add(std::string_view target, std::string_view source, std::string_view plane);
  // Sliced: the words in registers a<first>... at `address` and half the columns further.
  void load_halves(std::string_view how, std::size_t first, std::string_view address);
  void store_halves(std::string_view address, std::size_t first);
  // bit_exchanges() of registers a<from>..., into a<to>...
  void exchange_bits(std::span<const std::size_t> from, std::size_t to);

 private:
  static constexpr std::array<std::string_view, 4> letters = {"a", "b", "c", "d"};

  std::string_view type() const noexcept {
    return form_.word_bytes == 1 ? "u8" : form_.word_bytes == 4 ? "u32" : "v4.u32";
  }
  template <class Number>
  std::string word(Number value) const {
    if (lanes() == 1) return lane(0, value);
    return text("{", lane(0, value), ", ", lane(1, value), ", ", lane(2, value), ", ",
                lane(3, value), "}");
  }

  std::string four(std::size_t first) const {
    return text("{a", first, ", a", first + 1, ", a", first + 2, ", a", first + 3, "}");
  }

  const DeviceForm& form_;
  std::string out_;
};

}  // namespace calpe::emit
