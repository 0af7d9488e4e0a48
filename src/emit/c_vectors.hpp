// SPDX-License-Identifier: Apache-2.0
// Defines the widest vectors the compiler was told about. Wider ones are legal in GNU C too, but
// g++ keeps them in memory.
#pragma once
#include <string_view>

namespace calpe::emit {

// Any address and any type of the caller. Without GNU C a vector is one byte.
inline constexpr std::string_view vector_macros =
    "\n"
    "#if !defined(__GNUC__)\n"
    "#define VECTOR_BYTES ((size_t)1)\n"
    "#define VECTOR\n"
    "#else\n"
    "#if defined(__AVX512F__)\n"
    "#define VECTOR_BYTES ((size_t)64)\n"
    "#elif defined(__AVX2__)\n"
    "#define VECTOR_BYTES ((size_t)32)\n"
    "#else\n"
    "#define VECTOR_BYTES ((size_t)16)\n"
    "#endif\n"
    "#define VECTOR __attribute__((vector_size(VECTOR_BYTES), aligned(1), may_alias))\n"
    "#endif\n\n";

inline constexpr std::string_view vector_undefs = "#undef VECTOR\n#undef VECTOR_BYTES\n";

}  // namespace calpe::emit
