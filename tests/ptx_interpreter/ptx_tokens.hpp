// SPDX-License-Identifier: Apache-2.0
// PTX as a sequence of tokens: words (including dots, ".reg", "ld.global.u32", "%tid.x"), numbers
// and punctuation marks.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace calpe::ptx {

struct Token {
  enum class Kind : std::uint8_t { word, number, quoted, mark, end };
  Kind kind = Kind::end;
  std::string_view text = {};
  std::uint64_t number = 0;
  std::uint32_t line = 0;
};

// Throws PtxError. The tokens point into `text`.
std::vector<Token> tokenize(std::string_view text);

// A cursor over tokens.
class TokenReader {
 public:
  explicit TokenReader(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const Token& peek(std::size_t ahead = 0) const;
  Token next();
  bool is(std::string_view text) const { return peek().text == text; }
  bool take(std::string_view text);    // if it comes next
  void expect(std::string_view text);  // throws PtxError
  std::string expect_word();
  std::uint64_t expect_number();  // not negative
  std::int64_t expect_signed();   // "-4", "+4", "4"
  [[noreturn]] void fail(std::string_view message) const;

 private:
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

}  // namespace calpe::ptx
