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


EQUIVALENT = []
