// SPDX-License-Identifier: Apache-2.0
#include "kernel_cache/identity.hpp"

#include <gtest/gtest.h>
#include <set>

#include "emit/emit.hpp"
#include "unit/ir/equations.hpp"

namespace calpe::kernel {
namespace {

const Identity base = {.target = "openmp",
                       .compiler = "/usr/bin/cc 12.2",
                       .flags = {"-O2", "-mavx2"},
                       .source = "void f(void) {}"};

TEST(KernelIdentity, equal_parts_have_equal_content) {
  const Identity same = base;
  EXPECT_EQ(content(base), content(same));
  EXPECT_EQ(digest(content(base)), digest(content(same)));
}

// Moving a letter from one part to the next must change the content.
TEST(KernelIdentity, every_part_matters) {
  std::set<std::string> contents = {content(base)};
  std::set<std::string> digests = {digest(content(base))};
  const auto differs = [&](Identity other) {
    contents.insert(content(other));
    digests.insert(digest(content(other)));
  };
  Identity changed = base;
  changed.target = "open";
  differs(changed);
  changed.compiler = "mp/usr/bin/cc 12.2";
  differs(changed);
  changed = base;
  changed.compiler = "/usr/bin/cc 12.3";
  differs(changed);
  changed = base;
  changed.flags = {"-O2-mavx2"};
  differs(changed);
  changed.flags = {"-mavx2", "-O2"};
  differs(changed);
  changed.flags = {"-O2"};
  differs(changed);
  changed.flags = {"-O2", "-mavx2", ""};
  differs(changed);
  changed = base;
  changed.source += "\n";
  differs(changed);
  EXPECT_EQ(contents.size(), 9U);
  EXPECT_EQ(digests.size(), 9U);
}

// The source contains the whole program: two decoders that differ in one term differ.
TEST(KernelIdentity, one_term_of_a_program_matters) {
  std::string altered(ir::listing_1);
  altered.replace(altered.find("u12"), 3, "u13");
  Identity a = base;
  Identity b = base;
  a.source = *emit::emit(ir::program_of(ir::listing_1), emit::Target::c, {});
  b.source = *emit::emit(ir::program_of(altered), emit::Target::c, {});
  EXPECT_NE(content(a), content(b));
}

TEST(KernelIdentity, digest_is_a_file_name) {
  EXPECT_EQ(digest("").size(), 32U);
  EXPECT_EQ(digest("calpe").find_first_not_of("0123456789abcdef"), std::string::npos);
}

}  // namespace
}  // namespace calpe::kernel
