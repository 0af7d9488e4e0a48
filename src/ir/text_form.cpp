// SPDX-License-Identifier: Apache-2.0
#include "ir/text_form.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::ir {

namespace {

// A program of 32768 shards of 16 units has half a million units; more is a typing error.
constexpr std::uint32_t number_max = 1U << 24U;

struct Name {
  char kind = 'u';  // or 't'
  std::uint32_t number = 0;
  auto operator<=>(const Name&) const = default;
};

std::string spell(const Name& name) {
  return text(std::string_view(&name.kind, 1), name.number);
}

struct Equation {
  Name target;
  std::vector<Name> operands;
  std::size_t line = 0;
};

// One line without its comment.
class LineReader {
 public:
  LineReader(std::string_view rest, std::size_t line) : rest_(rest), line_(line) { skip_space(); }

  bool at_end() const { return rest_.empty(); }

  Result<Equation> equation() {
    Equation result;
    result.line = line_;
    CALPE_TRY(result.target, name());
    CALPE_CHECK(expect("="));
    CALPE_CHECK(expect("XOR"));
    CALPE_CHECK(expect("("));
    if (!take(")")) {
      do {
        CALPE_TRY(const Name operand, name());
        result.operands.push_back(operand);
      } while (take(","));
      CALPE_CHECK(expect(")"));
    }
    if (!at_end()) return wrong("the end of the line");
    return result;
  }

 private:
  Error wrong(std::string_view expected) const {
    return invalid("line ", line_, ": got \"", rest_.substr(0, 20), "\"; expected ", expected);
  }
  void skip_space() {
    const std::size_t word = rest_.find_first_not_of(" \t\r");
    rest_.remove_prefix(std::min(word, rest_.size()));
  }
  bool take(std::string_view token) {
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    skip_space();
    return true;
  }
  Status expect(std::string_view token) {
    if (take(token)) return Done{};
    return wrong(text("\"", token, "\""));
  }
  Result<Name> name() {
    if (at_end() || (rest_[0] != 'u' && rest_[0] != 't')) return wrong("a unit u0 or temporary t0");
    const std::size_t end = std::min(rest_.find_first_not_of("0123456789", 1), rest_.size());
    if (end == 1) return wrong("a number after the letter");
    std::uint32_t number = 0;
    for (const char digit : rest_.substr(1, end - 1)) {
      number = number * 10 + static_cast<std::uint32_t>(digit - '0');
      if (number > number_max) return wrong(text("a number of at most ", number_max));
    }
    const Name result{.kind = rest_[0], .number = number};
    rest_.remove_prefix(end);
    skip_space();
    return result;
  }

  std::string_view rest_;
  std::size_t line_;
};

Result<std::vector<Equation>> read_equations(std::string_view text) {
  std::vector<Equation> equations;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view content = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    content = content.substr(0, content.find('#'));
    content = content.substr(0, content.find("//"));
    LineReader reader(content, line);
    if (reader.at_end()) continue;
    CALPE_TRY(Equation equation, reader.equation());
    equations.push_back(std::move(equation));
  }
  return equations;
}

class Reader {
 public:
  Reader(std::vector<Equation> equations, const TextShape& shape)
      : equations_(std::move(equations)), shape_(shape) {}

  Result<Program> read() {
    CALPE_CHECK(index_definitions());
    CALPE_CHECK(settle_shape());
    CALPE_CHECK(check_names());
    // The field matters only if bits stand for symbols; for other unit counts any field works.
    const std::uint32_t w = shape_.unit_count;
    const bool has_field = w >= gf::word_bits_min && w <= gf::word_bits_max;
    CALPE_TRY(gf::FieldRef field, gf::Field::create(has_field ? w : 8, 0));
    Program program(std::move(field), {.dialect = Dialect::xor_,
                                       .inputs = shape_.inputs,
                                       .outputs = shape_.outputs,
                                       .unit_count = w});
    for (const auto& [name, at] : defined_by_) {  // ascending
      if (name.kind == 't') temporaries_[name.number] = program.new_temporary();
    }
    state_.assign(equations_.size(), State::open);
    for (std::size_t i = 0; i < equations_.size(); ++i)
      CALPE_CHECK(append_with_operands(program, i));
    return program;
  }

 private:
  enum class State : std::uint8_t { open, waiting, done };

  Status index_definitions() {
    for (std::size_t i = 0; i < equations_.size(); ++i) {
      const auto [found, is_new] = defined_by_.emplace(equations_[i].target, i);
      if (is_new) continue;
      return invalid("line ", equations_[i].line, " defines ", spell(equations_[i].target),
                     ", already defined in line ", equations_[found->second].line);
    }
    return Done{};
  }

  Status settle_shape() {
    if (shape_.unit_count == 0) return invalid("unit_count is 0; expected at least 1");
    const auto first = defined_by_.lower_bound(Name{.kind = 'u', .number = 0});
    if (first == defined_by_.end()) return invalid("no equation defines a unit u0, u1, ...");
    if (shape_.inputs == 0) shape_.inputs = first->first.number;
    if (shape_.outputs == 0) {
      const std::uint32_t last = defined_by_.rbegin()->first.number;
      shape_.outputs = last < shape_.inputs ? 0 : last + 1 - shape_.inputs;
    }
    if (shape_.inputs % shape_.unit_count != 0 || shape_.outputs % shape_.unit_count != 0) {
      return invalid("there are ", shape_.inputs, " inputs and ", shape_.outputs,
                     " outputs; expected multiples of the ", shape_.unit_count,
                     " units of a shard");
    }
    return Done{};
  }

  Status check_names() const {
    const std::uint32_t units = shape_.inputs + shape_.outputs;
    for (const Equation& equation : equations_) {
      const Name& target = equation.target;
      if (target.kind == 'u' && (target.number < shape_.inputs || target.number >= units)) {
        return invalid("line ", equation.line, " defines ", spell(target), "; expected u",
                       shape_.inputs, "..u", units - 1, " or a temporary");
      }
      for (const Name& operand : equation.operands) {
        const bool is_input = operand.kind == 'u' && operand.number < shape_.inputs;
        if (is_input || defined_by_.contains(operand)) continue;
        return invalid("line ", equation.line, " reads ", spell(operand),
                       ", which is not defined; inputs are u0..u", shape_.inputs - 1);
      }
    }
    for (std::uint32_t u = shape_.inputs; u < units; ++u) {
      if (!defined_by_.contains({.kind = 'u', .number = u}))
        return invalid("u", u, " is an output but is not defined");
    }
    return Done{};
  }

  Value value_of(const Name& name) const {
    return name.kind == 'u' ? name.number : temporaries_.at(name.number);
  }

  // An equation that waits for its operands, and how many of them are written.
  struct Waiting {
    std::size_t equation = 0;
    std::size_t written = 0;
  };

  // Returns the equation that defines the next operand not written yet.
  std::optional<std::size_t> missing_operand(Waiting& at) const {
    const std::vector<Name>& operands = equations_[at.equation].operands;
    for (; at.written < operands.size(); ++at.written) {
      const auto found = defined_by_.find(operands[at.written]);
      if (found != defined_by_.end() && state_[found->second] != State::done) return found->second;
    }
    return std::nullopt;
  }

  // Depth first, with an explicit stack: a chain may be as long as the text.
  Status append_with_operands(Program& program, std::size_t first) {
    if (state_[first] == State::done) return Done{};
    std::vector<Waiting> stack = {{.equation = first}};
    state_[first] = State::waiting;
    while (!stack.empty()) {
      const Equation& equation = equations_[stack.back().equation];
      if (const auto operand = missing_operand(stack.back())) {
        if (state_[*operand] == State::waiting) {
          return invalid("line ", equation.line, ": ", spell(equation.target),
                         " depends on itself through ", spell(equations_[*operand].target),
                         " in line ", equations_[*operand].line);
        }
        state_[*operand] = State::waiting;
        stack.push_back({.equation = *operand});
        continue;
      }
      terms_.clear();
      for (const Name& operand : equation.operands)
        terms_.push_back({.value = value_of(operand)});
      program.append(value_of(equation.target), terms_);
      state_[stack.back().equation] = State::done;
      stack.pop_back();
    }
    return Done{};
  }

  std::vector<Equation> equations_;
  TextShape shape_;
  std::map<Name, std::size_t> defined_by_;
  std::map<std::uint32_t, Value> temporaries_;
  std::vector<State> state_;
  std::vector<Term> terms_;
};

}  // namespace

std::string print(const Program& program) {
  const Value units = program.inputs() + program.outputs();
  std::string out;
  const auto append_name = [&](Value v) {
    out += v < units ? 'u' : 't';
    out += std::to_string(v < units ? v : v - units);
  };
  for (const Instruction& instruction : program.instructions()) {
    append_name(instruction.target);
    out += " = XOR(";
    const char* separator = "";
    for (const Term& term : program.terms(instruction)) {
      out += separator;
      append_name(term.value);
      separator = ",";
    }
    out += ")\n";
  }
  return out;
}

Result<Program> parse(std::string_view text, const TextShape& shape) {
  CALPE_TRY(std::vector<Equation> equations, read_equations(text));
  return Reader(std::move(equations), shape).read();
}

}  // namespace calpe::ir
