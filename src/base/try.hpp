// SPDX-License-Identifier: Apache-2.0
// Early return for Result. Internal: public headers contain no macros.
#pragma once
#include <utility>

#define CALPE_CONCAT_(a, b) a##b
#define CALPE_CONCAT(a, b) CALPE_CONCAT_(a, b)
// CALPE_TRY(auto plan, make_plan(x)); binds the value or returns the error.
#define CALPE_TRY(declaration, expression) \
  CALPE_TRY_(CALPE_CONCAT(calpe_try_, __COUNTER__), declaration, expression)
#define CALPE_TRY_(tmp, declaration, expression) \
  auto tmp = (expression);                       \
  if (!tmp) return std::move(tmp).error();       \
  declaration = *std::move(tmp)

// CALPE_CHECK(check_sizes(x)); returns the error of a Status, or continues.
#define CALPE_CHECK(expression)                                  \
  do {                                                           \
    auto calpe_checked = (expression);                           \
    if (!calpe_checked) return std::move(calpe_checked).error(); \
  } while (false)
