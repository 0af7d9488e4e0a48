// SPDX-License-Identifier: Apache-2.0
#include "reram/energy.hpp"

#include <gtest/gtest.h>

namespace calpe::reram {
namespace {

Parameters with_energy(Origin read, Origin write) {
  Parameters parameters;
  parameters.read_word_pj = Parameter{10, read};
  parameters.write_word_pj = Parameter{50, write};
  return parameters;
}

TEST(Energy, is_that_of_words_read_and_written) {
  const Counters counters = {.activations = 7, .words_written = 3, .words_read = 4};
  for (const Origin read : {Origin::nvsim, Origin::user}) {
    for (const Origin write : {Origin::nvsim, Origin::user}) {
      const auto joules = energy_joules(with_energy(read, write), counters);
      ASSERT_TRUE(joules);
      EXPECT_DOUBLE_EQ(*joules, 190e-12);
    }
  }
  EXPECT_EQ(energy_joules(with_energy(Origin::nvsim, Origin::nvsim), {}), 0);
}

TEST(Energy, needs_a_known_source) {
  const Counters counters = {.words_written = 3, .words_read = 4};
  for (const Origin wrong : {Origin::paper, Origin::fit}) {
    EXPECT_FALSE(energy_joules(with_energy(wrong, Origin::nvsim), counters));
    EXPECT_FALSE(energy_joules(with_energy(Origin::user, wrong), counters));
  }
  Parameters half = with_energy(Origin::user, Origin::user);
  half.read_word_pj.reset();
  EXPECT_FALSE(energy_joules(half, counters));
  half = with_energy(Origin::user, Origin::user);
  half.write_word_pj.reset();
  EXPECT_FALSE(energy_joules(half, counters));
}

TEST(Energy, of_the_presets) {
  const Counters counters = {.words_written = 1000, .words_read = 0};
  EXPECT_FALSE(energy_joules(*find_preset("reraid-fit"), counters));
  const auto joules = energy_joules(*find_preset("nvsim-32nm"), counters);
  ASSERT_TRUE(joules);
  EXPECT_DOUBLE_EQ(*joules, 55.477e-9);
}

TEST(Energy, is_known_if_the_user_sets_both) {
  Parameters parameters = *find_preset("reraid-fit");
  ASSERT_TRUE(set_parameter(parameters, "read_word_pj=1"));
  EXPECT_FALSE(energy_joules(parameters, {}));
  ASSERT_TRUE(set_parameter(parameters, "write_word_pj=1"));
  EXPECT_TRUE(energy_joules(parameters, {}));
}

}  // namespace
}  // namespace calpe::reram
