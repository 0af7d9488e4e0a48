// SPDX-License-Identifier: Apache-2.0
// Compares XOR counts with the installed Jerasure: its schedules of its best matrices, and ours for
// the same matrices and for searched ones. docs/equations.md quotes these counts.
#include <cstdlib>
#include <gtest/gtest.h>
#include <iostream>
#include <memory>

#include "conformance/random_program.hpp"
#include "ir/cost.hpp"
#include "ir/linear_map.hpp"
#include "ir/lower_to_xor.hpp"
#include "opt/known_matrices.hpp"
#include "opt/optimise.hpp"
#include "support/peer_library.hpp"

namespace calpe::tests {
namespace {

struct Free {
  void operator()(int* memory) const noexcept { std::free(memory); }
};
using IntMatrix = std::unique_ptr<int[], Free>;  // Jerasure returns malloc'ed memory

// Declared as in jerasure.h and cauchy.h of Jerasure 2.0.
struct Jerasure {
  PeerLibrary library{"libJerasure.so.2", "libjerasure2"};
  int* (*cauchy_good_general_coding_matrix)(int k, int m, int w) = nullptr;
  int* (*jerasure_matrix_to_bitmatrix)(int k, int m, int w, int* matrix) = nullptr;
  int** (*jerasure_smart_bitmatrix_to_schedule)(int k, int m, int w, int* bitmatrix) = nullptr;
  int** (*jerasure_dumb_bitmatrix_to_schedule)(int k, int m, int w, int* bitmatrix) = nullptr;
  void (*jerasure_free_schedule)(int** schedule) = nullptr;

  Jerasure() {
    library.find("cauchy_good_general_coding_matrix", cauchy_good_general_coding_matrix);
    library.find("jerasure_matrix_to_bitmatrix", jerasure_matrix_to_bitmatrix);
    library.find("jerasure_smart_bitmatrix_to_schedule", jerasure_smart_bitmatrix_to_schedule);
    library.find("jerasure_dumb_bitmatrix_to_schedule", jerasure_dumb_bitmatrix_to_schedule);
    library.find("jerasure_free_schedule", jerasure_free_schedule);
  }

  // An operation is {from shard, its packet, to shard, its packet, 1 for XOR and 0 for copy}; the
  // last has shard -1.
  std::size_t take_xors(int** schedule) const {
    std::size_t xors = 0;
    for (int** operation = schedule; (*operation)[0] >= 0; ++operation)
      xors += (*operation)[4] == 1 ? 1 : 0;
    jerasure_free_schedule(schedule);
    return xors;
  }
};

struct Shape {
  std::uint32_t data = 0;
  std::uint32_t parity = 0;
};

TEST(JerasureSchedules, take_more_xors_than_our_programs) {
  const Jerasure jerasure;
  if (!jerasure.library.missing().empty()) GTEST_SKIP() << jerasure.library.missing();
  constexpr unsigned w = 8;
  const gf::FieldRef field = conformance::field_of(w);
  std::cout << "cauchy_good, w = 8: direct, Jerasure's smart schedule, ours (beyond 10+4 with the "
               "fast budget unless CALPE_NIGHTLY is set); ours with the search\n";
  for (const Shape shape : {Shape{4, 2}, {6, 3}, {8, 3}, {10, 4}, {12, 4}, {16, 4}, {20, 10}}) {
    const auto k = static_cast<int>(shape.data);
    const auto m = static_cast<int>(shape.parity);
    SCOPED_TRACE(testing::Message() << k << "+" << m);
    const IntMatrix elements(jerasure.cauchy_good_general_coding_matrix(k, m, w));
    const IntMatrix bits(jerasure.jerasure_matrix_to_bitmatrix(k, m, w, elements.get()));
    const std::size_t smart =
        jerasure.take_xors(jerasure.jerasure_smart_bitmatrix_to_schedule(k, m, w, bits.get()));
    const std::size_t dumb =
        jerasure.take_xors(jerasure.jerasure_dumb_bitmatrix_to_schedule(k, m, w, bits.get()));

    gf::Matrix matrix(shape.parity, shape.data);
    for (std::size_t i = 0; i < matrix.cells().size(); ++i)
      matrix(i / shape.data, i % shape.data) = static_cast<gf::Element>(elements[i]);
    const ir::Program direct = ir::lower_to_xor(ir::build(field, matrix));
    EXPECT_EQ(ir::cost(direct).xors, dumb);  // the same bits
    const bool is_quick = shape.data <= 10 || std::getenv("CALPE_NIGHTLY") != nullptr;
    const auto ours =
        opt::fewest_xors(direct, {.budget = is_quick ? opt::Budget::standard : opt::Budget::fast});
    ASSERT_TRUE(ours) << ours.error().message;
    EXPECT_LT(ir::cost(*ours).xors, smart);
    const auto known = opt::known_matrix(*field, shape.data, shape.parity);
    ASSERT_TRUE(known);
    EXPECT_LT(known->xors, ir::cost(*ours).xors);
    std::cout << k << "+" << m << ": " << dumb << ", " << smart << ", " << ir::cost(*ours).xors
              << "; " << known->xors << "\n";
  }
}

}  // namespace
}  // namespace calpe::tests
