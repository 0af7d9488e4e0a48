# SPDX-License-Identifier: Apache-2.0
"""Random bugs that change nothing which a caller can see: random_mutants.py leaves them out.
`run_mutations.py --check` fails when one no longer applies."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Equivalent:
    file: str
    before: str  # the line without its indentation
    after: str  # empty: the statement is removed
    reason: str


EQUIVALENT = [
    Equivalent("src/opt/sums.hpp", "return 0;", "return 1;",
               "No price gets here: the switch before it returns for each enumerator."),
    Equivalent("src/engine/devices/multi_device.cpp", "bool is_final = false;",
               "bool is_final = true;",
               "plan_for() sets it before anything reads it, and is the only one to make plans."),
]
