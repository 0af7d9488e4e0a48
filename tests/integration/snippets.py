# SPDX-License-Identifier: Apache-2.0
"""Reads the Calpe calls in the tables of docs/coming-from.md."""
import re


def setup(text, kind):
    """The fenced blocks of one kind, in order, which declare what the calls use."""
    return "\n".join(re.findall(rf"^```{kind}\n(.*?)^```$", text, re.S | re.M))


def calls(text, language):
    """[(line, call)] in the last column of tables with the head `Calpe (language)`."""
    found, is_table = [], False
    for number, line in enumerate(text.splitlines(), 1):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            is_table = False
        elif cells[-1].startswith("Calpe ("):
            is_table = cells[-1] == f"Calpe ({language})"
        elif is_table and not set(cells[-1]) <= set("-"):
            call = re.fullmatch(r"`([^`]+)`", cells[-1])
            if call is None:
                raise ValueError(f"line {number}: expected one call in backticks: {cells[-1]}")
            found.append((number, call[1]))
    return found
