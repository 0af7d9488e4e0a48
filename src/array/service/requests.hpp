// SPDX-License-Identifier: Apache-2.0
// What may be asked of a served array, as lines of JSON; docs/array.md lists it.
//   {"do":"status"}                                   how it is
//   {"do":"fail","member":3}                          take a member out
//   {"do":"replace","member":3,"path":"/dev/sdx"}     put another in its place, or itself
//   {"do":"add","path":"/dev/sdy"}                    a spare
//     with "force":true also where that loses what is on the disk
//   {"do":"scrub"}  {"do":"scrub","stop":true}
//   {"do":"pause"}  {"do":"resume"}                   rebuild and scrub
//   {"do":"rate","rebuild":50000000,"scrub":0}        bytes in a second; 0: no limit
// An answer is {"ok":true,...} or {"error":"...","code":"usage"|"lost"|"io"}.
#pragma once
#include <string>
#include <string_view>

#include "array/service/service.hpp"

namespace calpe::array {

// One line, without its end. Never throws.
std::string answer(Service& service, std::string_view line) noexcept;

}  // namespace calpe::array
