// SPDX-License-Identifier: Apache-2.0
#include "opt/found_matrix.hpp"

#include <array>
#include <charconv>

#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::opt {

namespace {

constexpr std::array budget_names = {std::string_view("fast"), std::string_view("standard"),
                                     std::string_view("thorough")};

// "inf/1,3/1"
std::string print_points(std::span<const std::uint32_t> points,
                         std::span<const gf::Element> scales) {
  std::string out;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i > 0) out += ",";
    out += points[i] == CauchyPoints::infinity ? "inf" : text(points[i]);
    out += text("/", scales[i]);
  }
  return out;
}

// Removes and returns the part of `rest` before `end`, or all of it; also removes `end`.
std::string_view take_until(std::string_view& rest, char end) {
  const std::size_t at = rest.find(end);
  const std::string_view part = rest.substr(0, at);
  rest = at == std::string_view::npos ? std::string_view() : rest.substr(at + 1);
  return part;
}

// Returns the value of the next word, which must start with "name=".
Result<std::string_view> take_word(std::string_view& rest, std::string_view name) {
  std::string_view word = take_until(rest, ' ');
  const std::string_view got = take_until(word, '=');
  if (got != name) return invalid("found matrix has \"", got, "\"; expected \"", name, "=\"");
  return word;
}

Result<std::uint64_t> number_of(std::string_view name, std::string_view digits,
                                std::uint64_t most) {
  const bool is_hex = digits.starts_with("0x");
  const std::string_view plain = digits.substr(is_hex ? 2 : 0);
  std::uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(plain.data(), plain.data() + plain.size(), number, is_hex ? 16 : 10);
  if (plain.empty() || error != std::errc() || end != plain.data() + plain.size() ||
      number > most) {
    return invalid("found matrix has ", name, " \"", digits, "\"; expected a number up to ", most);
  }
  return number;
}

Result<std::uint64_t> take_number(std::string_view& rest, std::string_view name,
                                  std::uint64_t most) {
  CALPE_TRY(const std::string_view word, take_word(rest, name));
  return number_of(name, word, most);
}

Status take_points(std::string_view& rest, std::string_view name,
                   std::vector<std::uint32_t>& points, std::vector<gf::Element>& scales) {
  CALPE_TRY(std::string_view list, take_word(rest, name));
  while (!list.empty()) {
    std::string_view item = take_until(list, ',');
    const std::string_view point = take_until(item, '/');
    std::uint64_t number = CauchyPoints::infinity;
    if (point != "inf") {
      CALPE_TRY(number, number_of(name, point, 65535));
    }
    CALPE_TRY(const std::uint64_t scale, number_of(name, item, 65535));
    points.push_back(static_cast<std::uint32_t>(number));
    scales.push_back(static_cast<gf::Element>(scale));
  }
  return Done{};
}

Result<Budget> budget_of(std::string_view name) {
  for (std::size_t i = 0; i < budget_names.size(); ++i) {
    if (budget_names[i] == name) return static_cast<Budget>(i);
  }
  return invalid("found matrix has budget \"", name, "\"; expected fast, standard or thorough");
}

}  // namespace

std::string_view name_of(Budget budget) noexcept {
  return budget_names[static_cast<std::size_t>(budget)];
}

std::string print(const FoundMatrix& found) {
  std::array<char, 16> hex{};
  std::to_chars(hex.data(), hex.data() + hex.size(), found.field->polynomial(), 16);
  return text(found.data(), "+", found.parity(), " w=", found.field->word_bits(), " polynomial=0x",
              hex.data(), " xors=", found.xors, " budget=", name_of(found.budget),
              " seed=", found.seed,
              " rows=", print_points(found.points.row_points, found.points.row_scales),
              " columns=", print_points(found.points.column_points, found.points.column_scales));
}

Result<FoundMatrix> parse_found(std::string_view line) {
  std::string_view rest = line;
  const std::string_view size = take_until(rest, ' ');
  CALPE_TRY(const auto w, take_number(rest, "w", gf::word_bits_max));
  CALPE_TRY(const auto polynomial, take_number(rest, "polynomial", 0xFFFFFFFF));
  FoundMatrix found;
  CALPE_TRY(found.field,
            gf::Field::create(static_cast<unsigned>(w), static_cast<std::uint32_t>(polynomial)));
  CALPE_TRY(found.xors, take_number(rest, "xors", 0xFFFFFFFF));
  CALPE_TRY(const std::string_view budget, take_word(rest, "budget"));
  CALPE_TRY(found.budget, budget_of(budget));
  CALPE_TRY(found.seed, take_number(rest, "seed", ~std::uint64_t{0}));
  CALPE_CHECK(take_points(rest, "rows", found.points.row_points, found.points.row_scales));
  CALPE_CHECK(take_points(rest, "columns", found.points.column_points, found.points.column_scales));
  if (size != text(found.data(), "+", found.parity())) {
    return invalid("found matrix is labelled ", size, ", but has points for ", found.data(), "+",
                   found.parity());
  }
  CALPE_CHECK(check_points(*found.field, found.points));
  return found;
}

}  // namespace calpe::opt
