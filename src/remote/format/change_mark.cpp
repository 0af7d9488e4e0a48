// SPDX-License-Identifier: Apache-2.0
#include "remote/format/change_mark.hpp"

#include <charconv>
#include <string_view>

#include "base/text.hpp"

namespace calpe::remote {

namespace {

constexpr std::size_t value_bytes_max = 256;

std::string line(std::string_view key, std::string_view value) {
  std::string kept(value.substr(0, value_bytes_max));
  for (char& c : kept) {
    if (c == '\n') c = ' ';
  }
  return text(key, " ", kept, "\n");
}

std::string line(std::string_view key, std::uint64_t value) {
  return line(key, std::to_string(value));
}

void read_number(std::string_view value, std::uint64_t& number) {
  std::uint64_t read = 0;
  const char* const end = value.data() + value.size();
  const auto done = std::from_chars(value.data(), end, read);
  if (done.ec == std::errc() && done.ptr == end) number = read;
}

void read_field(std::string_view key, std::string_view value, ChangeMark& mark) {
  if (key == "verb") mark.verb = value;
  if (key == "place") read_number(value, mark.place);
  if (key == "host") mark.host = value;
  if (key == "process") read_number(value, mark.process);
  if (key == "started") read_number(value, mark.started);
  if (key == "system") mark.system = value;
  if (key == "seconds") read_number(value, mark.seconds);
}

}  // namespace

std::vector<std::byte> to_bytes(const ChangeMark& mark) {
  const std::string words =
      text("calpe-c1\n", line("verb", mark.verb), line("place", mark.place),
           line("host", mark.host), line("process", mark.process), line("started", mark.started),
           line("system", mark.system), line("seconds", mark.seconds));
  const auto bytes = std::as_bytes(std::span(words));
  return {bytes.begin(), bytes.end()};
}

ChangeMark parse_change_mark(std::span<const std::byte> bytes) {
  ChangeMark mark;
  std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) break;  // cut off
    const std::string_view words = rest.substr(0, end);
    rest = rest.substr(end + 1);
    const std::size_t space = words.find(' ');
    if (space != std::string_view::npos)
      read_field(words.substr(0, space), words.substr(space + 1), mark);
  }
  return mark;
}

}  // namespace calpe::remote
