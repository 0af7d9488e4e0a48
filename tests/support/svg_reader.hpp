// SPDX-License-Identifier: Apache-2.0
// Parses SVG strictly, for the subset of XML that Calpe's charts use.
#pragma once
#include <charconv>
#include <cstddef>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace calpe::tests {

struct SvgElement {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;       // of this element only, entities not decoded
  std::size_t depth = 0;  // 0 = root

  double number(const std::string& attribute) const {
    double value = 0;
    const auto found = attributes.find(attribute);
    if (found == attributes.end()) {
      ADD_FAILURE() << name << " has no attribute " << attribute;
      return value;
    }
    const char* end = found->second.data() + found->second.size();
    const auto [last, error] = std::from_chars(found->second.data(), end, value);
    if (error != std::errc() || last != end)
      ADD_FAILURE() << attribute << " is " << found->second << "; expected a number";
    return value;
  }
  bool is(const std::string& element, const std::string& css_class) const {
    const auto found = attributes.find("class");
    return name == element && found != attributes.end() && found->second == css_class;
  }
};

class SvgReader {
 public:
  // Fails the test if the text is not well-formed.
  explicit SvgReader(std::string_view svg) : rest_(svg) {
    while (!rest_.empty() && !has_failed_) {
      if (rest_.front() == '<')
        read_tag();
      else
        read_text();
    }
    EXPECT_TRUE(open_.empty()) << "<" << (open_.empty() ? "" : elements_[open_.back()].name)
                               << "> is not closed";
  }

  const std::vector<SvgElement>& all() const { return elements_; }
  std::vector<SvgElement> all(const std::string& element, const std::string& css_class) const {
    std::vector<SvgElement> out;
    for (const SvgElement& e : elements_)
      if (e.is(element, css_class)) out.push_back(e);
    return out;
  }

 private:
  void fail(const std::string& why) {
    ADD_FAILURE() << why << " before: " << rest_.substr(0, 60);
    has_failed_ = true;
  }
  std::string take_until(std::string_view stop) {
    const std::size_t end = rest_.find(stop);
    if (end == std::string_view::npos) {
      fail("no " + std::string(stop));
      return {};
    }
    const std::string out(rest_.substr(0, end));
    rest_.remove_prefix(end + stop.size());
    return out;
  }
  // Checks the characters of text and attributes.
  void check_content(const std::string& content) {
    for (std::size_t i = 0; i < content.size(); ++i) {
      if (content[i] == '<' || content[i] == '>') fail("unescaped " + content.substr(i, 1));
      if (content[i] != '&') continue;
      const std::string entity = content.substr(i, content.find(';', i) - i + 1);
      if (entity != "&amp;" && entity != "&lt;" && entity != "&gt;" && entity != "&quot;" &&
          entity != "&apos;")
        fail("unknown entity: " + entity);
    }
  }
  void read_text() {
    const std::size_t end = std::min(rest_.find('<'), rest_.size());
    const std::string content(rest_.substr(0, end));
    check_content(content);
    rest_.remove_prefix(end);
    if (!open_.empty())
      elements_[open_.back()].text += content;
    else if (content.find_first_not_of('\n') != std::string::npos)
      fail("text outside the root");
  }
  void read_tag() {
    const bool is_end = rest_.substr(0, 2) == "</";
    rest_.remove_prefix(is_end ? 2 : 1);
    std::string tag = take_until(">");
    if (is_end) {
      if (open_.empty() || elements_[open_.back()].name != tag)
        fail("</" + tag + "> closes another element");
      else
        open_.pop_back();
      return;
    }
    const bool is_empty = !tag.empty() && tag.back() == '/';
    if (is_empty) tag.pop_back();
    if (open_.empty() && !elements_.empty()) return fail("a second root");
    SvgElement element;
    const std::size_t name_end = std::min(tag.find(' '), tag.size());
    element.name = tag.substr(0, name_end);
    element.depth = open_.size();
    read_attributes(tag.substr(name_end), element);
    elements_.push_back(element);
    if (!is_empty) open_.push_back(elements_.size() - 1);
  }
  void read_attributes(const std::string& tag, SvgElement& element) {
    for (std::size_t at = 0; at < tag.size();) {
      const std::size_t equals = tag.find("=\"", at);
      const std::size_t end = equals == std::string::npos ? equals : tag.find('"', equals + 2);
      if (tag[at] != ' ' || end == std::string::npos)
        return fail("malformed attributes: " + tag.substr(at));
      const std::string value = tag.substr(equals + 2, end - equals - 2);
      check_content(value);
      if (!element.attributes.emplace(tag.substr(at + 1, equals - at - 1), value).second)
        fail("duplicate attribute: " + tag);
      at = end + 1;
    }
  }

  std::string_view rest_;
  bool has_failed_ = false;
  std::vector<SvgElement> elements_;
  std::vector<std::size_t> open_;
};

}  // namespace calpe::tests
