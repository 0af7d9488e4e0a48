# SPDX-License-Identifier: Apache-2.0
"""What a planted bug is."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Mutation:
    name: str
    file: str
    before: str
    after: str
    tests: tuple
