// SPDX-License-Identifier: Apache-2.0
#include "calpe/charts/chart_text.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace calpe::tools {

namespace {

// Length in bytes of the first character; 0 if it is not valid UTF-8.
std::size_t character_bytes(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return 1;
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  // C0 and C1 would be overlong ASCII; F5 and above are invalid.
  if (first < 0xC2 || first > 0xF4 || text.size() < bytes) return 0;
  for (std::size_t i = 1; i < bytes; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 0;
  const auto second = static_cast<unsigned char>(text[1]);
  const bool is_overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool is_surrogate = first == 0xED && second >= 0xA0;
  const bool is_beyond = first == 0xF4 && second >= 0x90;
  // XML forbids U+FFFE and U+FFFF.
  const bool is_none = text.substr(0, 3) == "\xEF\xBF\xBE" || text.substr(0, 3) == "\xEF\xBF\xBF";
  return is_overlong || is_surrogate || is_beyond || is_none ? 0 : bytes;
}

std::string_view entity_of(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&apos;";
    default:
      return {};
  }
}

// Adjacent labels that touch and move together.
struct Block {
  std::size_t count = 1;
  double sum = 0;  // sum of the wanted start positions
  double start(double distance, double low, double high) const {
    const double last = high - static_cast<double>(count - 1) * distance;
    return std::max(low, std::min(sum / static_cast<double>(count), last));
  }
};

}  // namespace

std::string escape_xml(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    const std::string_view entity = entity_of(text[0]);
    const auto first = static_cast<unsigned char>(text[0]);
    if (!entity.empty())
      out += entity;
    else if (bytes == 0 || first < 0x20 || first == 0x7F)
      out += '?';
    else
      out += text.substr(0, bytes);
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return out;
}

double text_width(std::string_view text, double font_size) {
  constexpr std::string_view narrow = " .,:;!'|()[]/-ijlIft";
  constexpr std::string_view wide = "mwMW%@";
  double ems = 0;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0) == 0x80) continue;  // continuation byte
    if (narrow.find(c) != std::string_view::npos)
      ems += 0.36;
    else
      ems += wide.find(c) != std::string_view::npos ? 0.92 : 0.62;
  }
  return ems * font_size;
}

std::vector<std::string> wrap_text(std::string_view text, double font_size, double width) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    if (!lines.empty()) {
      const std::string longer = lines.back() + ' ' + std::string(word);
      if (text_width(longer, font_size) <= width) {
        lines.back() = longer;
        continue;
      }
    }
    lines.emplace_back(word);
  }
  return lines;
}

std::vector<double> spread(const std::vector<double>& wanted, double distance, double low,
                           double high) {
  std::vector<std::size_t> order(wanted.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return wanted[a] < wanted[b]; });
  std::vector<Block> blocks;
  for (const std::size_t i : order) {
    blocks.push_back({1, wanted[i]});
    while (blocks.size() > 1) {
      const Block last = blocks.back();
      Block& before = blocks[blocks.size() - 2];
      const double length = static_cast<double>(before.count) * distance;
      if (before.start(distance, low, high) + length <= last.start(distance, low, high)) break;
      before.sum += last.sum - static_cast<double>(last.count) * length;
      before.count += last.count;
      blocks.pop_back();
    }
  }
  std::vector<double> positions(wanted.size());
  std::size_t next = 0;
  for (const Block& block : blocks) {
    const double start = block.start(distance, low, high);
    for (std::size_t i = 0; i < block.count; ++i)
      positions[order[next++]] = start + static_cast<double>(i) * distance;
  }
  return positions;
}

}  // namespace calpe::tools
