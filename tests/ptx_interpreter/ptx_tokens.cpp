// SPDX-License-Identifier: Apache-2.0
#include "ptx_interpreter/ptx_tokens.hpp"

#include <cctype>
#include <charconv>

#include "base/text.hpp"
#include "ptx_interpreter/ptx_module.hpp"

namespace calpe::ptx {

namespace {

bool starts_word(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%' ||
         c == '.';
}
bool continues_word(char c) {
  return starts_word(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
}

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    while (skip_blank()) {
      tokens.push_back(read());
    }
    tokens.push_back({.line = line_});
    return tokens;
  }

 private:
  bool skip_blank() {
    while (at_ < text_.size()) {
      const std::string_view rest = text_.substr(at_);
      if (rest.starts_with("//")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (rest.starts_with("/*")) {
        const std::size_t end = text_.find("*/", at_);
        if (end == std::string_view::npos) fail("comment without end");
        skip(end + 2 - at_);
      } else if (std::isspace(static_cast<unsigned char>(rest.front())) != 0) {
        skip(1);
      } else {
        return true;
      }
    }
    return false;
  }

  void skip(std::size_t count) {
    for (; count > 0; --count) {
      if (text_[at_++] == '\n') ++line_;
    }
  }

  Token read() {
    const std::size_t start = at_;
    const char first = text_[at_];
    Token token = {.line = line_};
    if (std::isdigit(static_cast<unsigned char>(first)) != 0) {
      token.kind = Token::Kind::number;
      token.number = read_number();
    } else if (starts_word(first)) {
      token.kind = Token::Kind::word;
      while (at_ < text_.size() && continues_word(text_[at_]))
        ++at_;
    } else if (first == '"') {
      token.kind = Token::Kind::quoted;
      const std::size_t end = text_.find('"', at_ + 1);
      if (end == std::string_view::npos) fail("string without end");
      at_ = end + 1;
    } else {
      token.kind = Token::Kind::mark;
      ++at_;
    }
    token.text = text_.substr(start, at_ - start);
    return token;
  }

  // Decimal, 0x, 0b, octal with a leading 0; optional U suffix. Versions ("6.0") are a number and a
  // word.
  std::uint64_t read_number() {
    int base = 10;
    const std::string_view rest = text_.substr(at_);
    if (rest.starts_with("0x") || rest.starts_with("0X")) {
      base = 16;
    } else if (rest.starts_with("0b") || rest.starts_with("0B")) {
      base = 2;
    } else if (rest.size() > 1 && rest[0] == '0' && rest[1] >= '0' && rest[1] <= '7') {
      base = 8;
    }
    if (base == 16 || base == 2) at_ += 2;
    std::uint64_t value = 0;
    const auto [end, error] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value, base);
    if (error != std::errc{}) fail("number that does not fit 64 bits");
    at_ = static_cast<std::size_t>(end - text_.data());
    if (at_ < text_.size() && text_[at_] == 'U') ++at_;
    if (at_ < text_.size() && text_[at_] != '.' && continues_word(text_[at_])) {
      fail("unexpected characters after a number");
    }
    return value;
  }

  [[noreturn]] void fail(std::string_view message) const {
    throw PtxError(invalid_ptx, calpe::text("line ", line_, ": ", message));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
};

}  // namespace

std::vector<Token> tokenize(std::string_view text) {
  return Tokenizer(text).run();
}

const Token& TokenReader::peek(std::size_t ahead) const {
  return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
}

Token TokenReader::next() {
  const Token token = peek();
  if (at_ + 1 < tokens_.size()) ++at_;
  return token;
}

bool TokenReader::take(std::string_view text) {
  if (!is(text) || peek().kind == Token::Kind::end) return false;
  next();
  return true;
}

void TokenReader::expect(std::string_view text) {
  if (!take(text)) fail(calpe::text("expected '", text, "'"));
}

std::string TokenReader::expect_word() {
  if (peek().kind != Token::Kind::word) fail("expected a name");
  return std::string(next().text);
}

std::uint64_t TokenReader::expect_number() {
  if (peek().kind != Token::Kind::number) fail("expected a number");
  return next().number;
}

std::int64_t TokenReader::expect_signed() {
  const bool is_negative = take("-");
  if (!is_negative) take("+");
  const auto value = static_cast<std::int64_t>(expect_number());
  return is_negative ? -value : value;
}

void TokenReader::fail(std::string_view message) const {
  const Token& token = peek();
  throw PtxError(invalid_ptx,
                 calpe::text("line ", token.line, ": ", message, " at '",
                             token.kind == Token::Kind::end ? "end of text" : token.text, "'"));
}

}  // namespace calpe::ptx
