# SPDX-License-Identifier: Apache-2.0
"""Bugs to plant, one at a time, and the tests of which at least one must notice.

Each is a change that compiles and that a hurried edit might make. `before` occurs once in `file`;
whoever changes that line moves the mutation along.
"""
import dataclasses

# Programs, or program/test: what a mutation names is built, and run in this order.
DECODE = "property_codec_property/CodecProperty.DecodeRebuildsAnyLoss"
UPDATE = "property_codec_property/CodecProperty.UpdateEqualsEncodingAnew"
PATHS = "property_codec_property/CodecProperty.EveryPathWritesTheSameBytes"
THREADS = "property_codec_property/CodecProperty.ThreadsChangeNothing"
PARTIAL = "property_codec_property/CodecProperty.PartialSumsMergeToTheWhole"
FORMS = "property_call_forms_property"
DAMAGE = "property_damage_property"
GUARDS = "exhaustive_guard_pages"
BACKEND = "unit_backend"
CONFORMANCE = "conformance_backend_conformance"


@dataclasses.dataclass(frozen=True)
class Mutation:
    name: str
    file: str
    before: str
    after: str
    tests: tuple


MUTATIONS = [
    Mutation("two coefficients of encode are swapped", "src/plan/recipe.cpp",
             "  recipe.coefficients = code.parity;\n",
             "  recipe.coefficients = code.parity;\n"
             "  std::swap(recipe.coefficients(0, 0),\n"
             "            recipe.coefficients(0, code.data_shards() - 1));\n",
             (DECODE, "golden_vectors")),
    Mutation("a partial plan takes its neighbour's column", "src/plan/recipe.cpp",
             "part.coefficients(r, c) = whole.coefficients(r, column);",
             "part.coefficients(r, c) = whole.coefficients(r, column == 5 ? 4 : column);",
             (PARTIAL,)),
    Mutation("another polynomial for w = 4", "src/gf/field.cpp",
             "0x13,   0x25,", "0x19,   0x25,", ("c_api",)),
    Mutation("the log of one element is off by one", "src/gf/field.cpp",
             "    field->log_[x] = i;\n", "    field->log_[x] = x == 0xC3 ? i + 1 : i;\n",
             ("unit_gf", DECODE)),
    Mutation("one wrong entry in the tables of high halves",
             "src/backend/cpu/coefficient_tables.cpp",
             "product(field, c, x << 4);", "product(field, c, x == 15 ? 0xE0 : x << 4);",
             (PATHS, CONFORMANCE)),
    Mutation("one wrong matrix for GFNI", "src/backend/cpu/coefficient_tables.cpp",
             "(8 * (7 - i) + t);", "(8 * (7 - i) + (c == 0x8E ? 7 - t : t));",
             (PATHS, CONFORMANCE)),
    Mutation("the last byte of a tail is left out", "src/backend/cpu/matrix_pass.hpp",
             "  PartAccess<V>{block.end - position});",
             "  PartAccess<V>{block.end - position - 1});",
             (PATHS, GUARDS)),
    Mutation("a tail is read as a whole vector", "src/backend/cpu/matrix_pass.hpp",
             "std::memcpy(staged, from, count);", "std::memcpy(staged, from, V::bytes);",
             (GUARDS,)),
    Mutation("AVX-512 with GFNI stores whole vectors only",
             "src/backend/cpu/kernels_avx512_gfni.cpp",
             "_mm512_mask_storeu_epi8(to, first_bytes(count), v);", "_mm512_storeu_si512(to, v);",
             (PATHS, GUARDS)),
    Mutation("the last rows of a code of many passes are dropped",
             "src/backend/cpu/matrix_runner.cpp",
             "index < pass_count_; ++index) {\n        const Pass pass = this->pass(index);\n"
             "        block.outputs",
             "index < (pass_count_ + 1) / 2; ++index) {\n"
             "        const Pass pass = this->pass(index);\n        block.outputs",
             (PATHS, GUARDS)),
    Mutation("wide codes overwrite instead of adding", "src/backend/cpu/matrix_runner.cpp",
             "columns.accumulate || first != 0;", "columns.accumulate;", (GUARDS, DECODE)),
    Mutation("a row of ones and then anything counts as a sum", "src/backend/cpu/matrix_runner.cpp",
             "if (coefficient(i) != 0) return 0;", "if (coefficient(i) != 0) return ones;",
             (BACKEND,)),
    Mutation("rows are added to a sum that held something", "src/backend/cpu/matrix_runner.cpp",
             "sum_takes_rows_ && columns.accumulate ? 0 : summed_;", "summed_;",
             (BACKEND, CONFORMANCE)),
    Mutation("two inputs always count as old and new", "src/backend/cpu/matrix_runner.cpp",
             "is_change_ && rows(r, 0) == rows(r, inputs_ - 1);", "is_change_ && r < rows.rows();",
             (BACKEND, CONFORMANCE)),
    Mutation("only the first output's alignment counts", "src/backend/cpu/streaming.cpp",
             "return rest(each) == first;", "return rest(each) == rest(each);",
             (BACKEND, CONFORMANCE, DECODE)),
    Mutation("streams from where nothing is aligned yet", "src/backend/cpu/transform_runner.cpp",
             "if (rest.streams && head > 0) {", "if (rest.streams && head > vector) {",
             (BACKEND, GUARDS)),
    Mutation("some parity is not added to its value", "src/backend/cpu/transform_runner.cpp",
             "if (added_[i] < 0) continue;", "if (added_[i] < 0 || i == 3) continue;",
             (BACKEND, CONFORMANCE, DECODE)),
    Mutation("few values are written as if they were many", "src/backend/cpu/transform_runner.cpp",
             "runner.value_count_ <= runner.size_ / 2) runner.is_direct_ = false;",
             "runner.value_count_ == 0) runner.is_direct_ = false;", (GUARDS, CONFORMANCE)),
    Mutation("the tail of a narrow transform is half as long",
             "src/backend/cpu/transform_runner.cpp",
             "rest <= size_ / 2 ? size_ / 2 : size_;", "rest <= size_ - 2 ? size_ / 2 : size_;",
             (BACKEND, CONFORMANCE)),
    Mutation("the last layer of 8 has the coefficient of another layer",
             "src/backend/cpu/transform_pass.hpp", "V::times(c.at(2, first), y);",
             "V::times(c.at(1, first), y);", (BACKEND, PATHS)),
    Mutation("the last layer of wide chunks has the coefficient of another layer",
             "src/backend/cpu/transform_pass.hpp",
             "c.at(H - 1, 0);\n  CALPE_UNROLL", "c.at(H - 2, 0);\n  CALPE_UNROLL",
             (BACKEND, CONFORMANCE)),
    Mutation("any share that reads data and writes parity is encode",
             "src/engine/lch_transform.cpp",
             "recipe.coefficients(r, c) != code.generator(recipe.writes[r], recipe.reads[c])",
             "recipe.coefficients(r, c) == 0", ("unit_engine", PARTIAL)),
    Mutation("a parity rebuilt beside data forgets the data that are there",
             "src/engine/lch_transform.cpp", "static_cast<gf::Element>(recipe.writes[r] == shard)",
             "static_cast<gf::Element>(recipe.writes[r] == shard && r + 1 < recipe.writes.size())",
             ("unit_engine", DECODE)),
    Mutation("an expanded butterfly takes the point of the first coset", "src/ir/transform.cpp",
             "transform_.points[(base + b) >> layer]",
             "transform_.points[((layer == 2 ? 0 : base) + b) >> layer]", ("unit_ir",)),
    Mutation("long sums start anew after 64 terms", "src/backend/cpu/xor_runner.cpp",
             "      continues = true;\n", "      continues = false;\n",
             (DECODE, CONFORMANCE)),
    Mutation("plans are cached without what is wanted", "src/engine/codec_plans.cpp",
             "    key.add(wanted);\n", "", (DECODE,)),
    Mutation("plans are cached without costs", "src/engine/codec_plans.cpp",
             "    key.add(costs);\n", "", (DECODE,)),
    Mutation("the cache grows without bound", "src/base/bounded_cache.hpp",
             "if (entries_.size() > capacity_) {", "if (entries_.size() > 100000 + capacity_) {",
             ("unit_base",)),
    Mutation("only buffers that begin together overlap", "src/engine/overlap.cpp",
             "return a.begin < b.end && b.begin < a.end &&", "return a.begin == b.begin &&",
             (FORMS,)),
    Mutation("overlapping outputs look sorted", "src/engine/overlap.cpp",
             "if (next.begin < hull.end) return false;",
             "if (next.begin < hull.begin) return false;",
             (FORMS,)),
    Mutation("the ragged end of packets is dropped", "src/engine/executor.cpp",
             "if (is_empty(regions.ragged)) return Done{};", "return Done{};", (DECODE,)),
    Mutation("accumulate is ignored", "src/engine/executor.cpp",
             ".accumulate = task.accumulate,", ".accumulate = false,", (UPDATE,)),
    Mutation("an update from old and new adds only the new", "src/engine/codec_update.cpp",
             "return impl_->update(change, addends, parity);",
             "return impl_->update(change, std::span(addends).last(1), parity);",
             (UPDATE, "c_api")),
    Mutation("pieces: old bytes instead of zeros behind the end", "src/engine/executor_pieces.cpp",
             "  std::memset(to, 0, count);\n}\n", "}\n", (DECODE, FORMS)),
    Mutation("a change that ends in a group misses it", "src/engine/executor_pieces.cpp",
             "(end - region.offset + region.group_stride - 1) / region.group_stride",
             "(end - region.offset) / region.group_stride", (UPDATE,)),
    Mutation("named parity is taken in ascending order", "src/engine/codec_update.cpp",
             "named.empty() ? recipe.writes[i] : named[i];", "recipe.writes[i];", (UPDATE,)),
    Mutation("the last part of divided work is lost", "src/engine/split.cpp",
             ".parts = ceil_divide(count, step)", ".parts = count / step", (THREADS,)),
    Mutation("the pool does not wait for its helpers", "src/base/thread_pool.cpp",
             "done_.wait(lock, [&] { return job.busy == 0; });", "static_cast<void>(done_);",
             (THREADS, "threads_codec_stress")),
    Mutation("locate accuses one more than it may", "src/engine/codec_check.cpp",
             "(code.proof.losses - used) / 2", "(code.proof.losses - used + 1) / 2", (DAMAGE,)),
    Mutation("verify stops at the first wrong parity", "src/engine/codec_check.cpp",
             "return std::ranges::find(is_wrong, false) != is_wrong.end();",
             "return std::ranges::find(is_wrong, true) == is_wrong.end();", (DAMAGE,)),
    Mutation("decode reads the lowest, not the cheapest", "src/plan/decode_planner.cpp",
             "std::make_tuple(s.cost, s.shard)", "std::make_tuple(s.shard, s.cost)",
             (DECODE, "unit_plan")),
    Mutation("an unproven code is accepted", "src/engine/codec_create.cpp",
             "if (code.proof.proven()) return Done{};", "return Done{};", ("c_api", "unit_engine")),
    Mutation("the stored matrix hash is not compared", "src/code/code.cpp",
             "code.spec.matrix_hash != 0 && code.spec.matrix_hash != hash",
             "code.spec.matrix_hash == 1 && hash == 1", ("c_api", "unit_code")),
    Mutation("lch takes the point of the chunk before", "src/code/lch.cpp",
             "form.points[place >> form.log_size]",
             "form.points[(place >> form.log_size) - (j == 16 ? 1 : 0)]",
             ("unit_code", "golden_vectors")),
    Mutation("the butterflies' points are those of another basis", "src/code/lch.cpp",
             "    basis[i] = x;\n", "    basis[i] = static_cast<Element>(i == 7 ? x ^ 1 : x);\n",
             ("golden_vectors", "unit_code")),
    Mutation("default changes to lch one parity too late", "src/code/spec_rules.cpp",
             "hybrid_parity_max = 4;", "hybrid_parity_max = 5;",
             ("c_api", "unit_code", "golden_vectors")),
    Mutation("C structures are read beyond their size", "src/capi/capi_support.hpp",
             "std::min(given->struct_size, sizeof full)", "sizeof full", ("c_api",)),
]
