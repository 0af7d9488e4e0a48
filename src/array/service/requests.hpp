// SPDX-License-Identifier: Apache-2.0
// Requests to a served array, as lines of JSON (docs/array.md).
//   {"do":"status"}                                   report the state
//   {"do":"fail","member":3}                          take a member out
//   {"do":"replace","member":3,"path":"/dev/sdx"}     replace a member, or put it back
//   {"do":"add","path":"/dev/sdy"}                    add a spare
//     with "force":true: erase the disk
//   {"do":"scrub"}  {"do":"scrub","stop":true}        start or stop a scrub
//   {"do":"pause"}  {"do":"resume"}                   rebuild and scrub
//   {"do":"rate","rebuild":50000000,"scrub":0}        bytes per second, 0 = no limit
// An answer is {"ok":true,...} or {"error":"...","code":"usage"|"lost"|"io"}.
#pragma once
#include <string>
#include <string_view>

#include "array/service/service.hpp"

namespace calpe::array {

// Answers one line, without its newline. Never throws.
std::string answer(Service& service, std::string_view line) noexcept;

}  // namespace calpe::array
