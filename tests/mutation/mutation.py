# SPDX-License-Identifier: Apache-2.0
"""A planted bug."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Mutation:
    name: str
    file: str
    before: str
    after: str
    tests: tuple
