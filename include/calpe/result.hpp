// SPDX-License-Identifier: Apache-2.0
// Errors as values, with the member names of std::expected.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace calpe {

// Values are part of the C ABI: never renumber, only append.
enum class ErrorCode : std::int32_t {
  invalid_argument = 1,     // the caller violated a documented requirement
  unrecoverable = 2,        // too many shards are missing for this code
  backend_unavailable = 3,  // this machine lacks the device, driver or compiler
  compile_failed = 4,       // the compiler rejected a generated kernel; message has its log
  device_failed = 5,        // the device reported an error at run time
  io = 6,
  corrupt = 7,  // a checksum, header or hash does not match
  out_of_memory = 8,
  unproven = 9,    // the matrix cannot rebuild a promised loss, or was not proven to
  ambiguous = 10,  // the damage has more than one explanation
};

struct Error {
  ErrorCode code;
  std::string message;  // "parity[2] has 4096 bytes; expected 8192 like data[0]"
};

// Thrown by Result::value(), as std::expected throws std::bad_expected_access.
class BadResultAccess : public std::exception {
 public:
  explicit BadResultAccess(Error error) noexcept : error_(std::move(error)) {}
  const char* what() const noexcept override { return error_.message.c_str(); }
  const Error& error() const noexcept { return error_; }

 private:
  Error error_;
};

[[noreturn]] inline void refuse_access(const Error& error) {
#if defined(__cpp_exceptions)
  throw BadResultAccess(error);
#else
  (void)std::fprintf(stderr, "calpe: value() of an error: %s\n", error.message.c_str());
  std::abort();
#endif
}

// A value or an Error. As with std::expected, `*` and `->` require a value and error() requires an
// error; value() checks. On an error it throws BadResultAccess, or prints the message and aborts if
// the caller is compiled without exceptions. The library itself never calls it and never throws.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }
  T& operator*() & { return *std::get_if<0>(&state_); }
  const T& operator*() const& { return *std::get_if<0>(&state_); }
  T&& operator*() && { return std::move(*std::get_if<0>(&state_)); }
  T* operator->() { return std::get_if<0>(&state_); }
  const T* operator->() const { return std::get_if<0>(&state_); }
  T& value() & {
    if (!has_value()) refuse_access(error());
    return **this;
  }
  const T& value() const& {
    if (!has_value()) refuse_access(error());
    return **this;
  }
  T&& value() && {
    if (!has_value()) refuse_access(error());
    return *std::move(*this);
  }
  const Error& error() const& { return *std::get_if<1>(&state_); }
  Error&& error() && { return std::move(*std::get_if<1>(&state_)); }

 private:
  std::variant<T, Error> state_;
};

struct Done {};

// Specialised to stay small: it is returned through many calls, and a whole job may take only a
// hundred nanoseconds.
template <>
class [[nodiscard]] Result<Done> {
 public:
  Result(Done) noexcept {}
  Result(Error error) noexcept : error_(std::move(error)) {}

  bool has_value() const noexcept { return !error_.has_value(); }
  explicit operator bool() const noexcept { return has_value(); }
  Done operator*() const noexcept { return {}; }
  void value() const {
    if (error_) refuse_access(*error_);
  }
  const Error& error() const& noexcept { return *error_; }
  Error&& error() && noexcept { return *std::move(error_); }

 private:
  std::optional<Error> error_;
};
using Status = Result<Done>;

}  // namespace calpe
