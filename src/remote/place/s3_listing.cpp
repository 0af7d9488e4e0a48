// SPDX-License-Identifier: Apache-2.0
#include "remote/place/s3_listing.hpp"

#include <charconv>
#include <optional>

#include "base/text.hpp"

namespace calpe::remote {

namespace {

struct Entity {
  std::string_view name;
  char value;
};
constexpr Entity entities[] = {{"&amp;", '&'},   {"&lt;", '<'},  {"&gt;", '>'},   {"&quot;", '"'},
                               {"&apos;", '\''}, {"&#34;", '"'}, {"&#39;", '\''}, {"&#x2F;", '/'}};

std::string decoded(std::string_view words) {
  std::string out;
  while (!words.empty()) {
    const Entity* found = nullptr;
    for (const Entity& entity : entities) {
      if (words.starts_with(entity.name)) found = &entity;
    }
    out += found != nullptr ? found->value : words.front();
    words.remove_prefix(found != nullptr ? found->name.size() : 1);
  }
  return out;
}

// The inside of the first element at or after `from`; `from` moves after it.
std::optional<std::string_view> element(std::string_view xml, std::string_view name,
                                        std::size_t& from) {
  const std::string open = text("<", name, ">");
  const std::string close = text("</", name, ">");
  const std::size_t begin = xml.find(open, from);
  if (begin == std::string_view::npos) return std::nullopt;
  const std::size_t end = xml.find(close, begin);
  if (end == std::string_view::npos) return std::nullopt;
  from = end + close.size();
  return xml.substr(begin + open.size(), end - begin - open.size());
}

}  // namespace

std::string xml_value(std::string_view xml, std::string_view name) {
  std::size_t from = 0;
  return decoded(element(xml, name, from).value_or(""));
}

Result<S3Listing> parse_listing(std::string_view xml, const std::string& prefix,
                                const std::string& label) {
  // Cut answers must not look like a place without objects.
  if (xml.find("</ListBucketResult>") == std::string_view::npos)
    return make_error(ErrorCode::io, label, ": the listing is cut off or not XML of S3");
  S3Listing listing;
  std::size_t from = 0;
  while (const auto content = element(xml, "Contents", from)) {
    const std::string key = xml_value(*content, "Key");
    const std::string size = xml_value(*content, "Size");
    ListedObject object;
    const auto parsed = std::from_chars(size.data(), size.data() + size.size(), object.bytes);
    if (!key.starts_with(prefix) || parsed.ec != std::errc() ||
        parsed.ptr != size.data() + size.size()) {
      return make_error(ErrorCode::io, label,
                        ": the listing has an object with a wrong key or size");
    }
    object.name = key.substr(prefix.size());
    if (!object.name.empty()) listing.objects.push_back(std::move(object));
  }
  if (xml_value(xml, "IsTruncated") == "true") {
    listing.next = xml_value(xml, "NextContinuationToken");
    if (listing.next.empty())
      return make_error(ErrorCode::io, label, ": the listing is cut off without a token");
  }
  return listing;
}

}  // namespace calpe::remote
