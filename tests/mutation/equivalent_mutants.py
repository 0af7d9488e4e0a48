# SPDX-License-Identifier: Apache-2.0
"""Random mutants without a visible effect; random_mutants.py skips them. `run_mutations.py --check`
fails if one no longer applies."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Equivalent:
    file: str
    before: str  # the line without its indentation
    after: str  # empty if the statement is removed
    reason: str


EQUIVALENT = [
    Equivalent("src/opt/sums.hpp", "return 0;", "return 1;",
               "No price gets here: the switch before it returns for each enumerator."),
    Equivalent("src/engine/devices/multi_device.cpp", "bool is_final = false;",
               "bool is_final = true;",
               "plan_for() sets it before anything reads it, and is the only one to make plans."),
    Equivalent("src/array/state/write_gate.hpp", "std::atomic<bool> is_closing_ = false;",
               "std::atomic<bool> is_closing_ = true;",
               "Until the gate is first closed, writers take and drop a mutex that is free."),
    Equivalent("src/store/change/stripe_update.cpp", "flag(wanted_, shard, stripe) = 1;",
               "flag(wanted_, shard, stripe) = 2;", "Flags are only compared with 0."),
    Equivalent("src/array/core/writer.cpp",
               "for (int attempt = 0; slot == no_slot && attempt < 100; ++attempt) {",
               "for (int attempt = 0; slot == no_slot && attempt <= 100; ++attempt) {",
               "One more of 100 tries: without a slot the write goes through the log either way."),
    Equivalent("src/gf/field.cpp",
               "if (generator > 64) generator = size;  "
               "// generators are dense: none below 64 means none at all",
               "if (generator > 65) generator = size;  "
               "// generators are dense: none below 64 means none at all",
               "Every irreducible polynomial up to w = 16 has a generator of at most 26."),
]
