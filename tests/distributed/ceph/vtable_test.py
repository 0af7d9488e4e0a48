#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Our virtual functions are in the slots that Ceph calls: vtable_test.py SHIPPED_ISA OURS RELEASE

Compares name, parameters and constness of both vtables slot by slot. Return types are not part of
mangled names and are not checked.
"""
import re
import sys
import unittest

import elf

SHIPPED_LIBRARY, OUR_LIBRARY, RELEASE = sys.argv.pop(1), sys.argv.pop(1), int(sys.argv.pop(1))
# Two destructors and the functions of ErasureCodeInterface.
SLOTS = 18 if RELEASE < 20 else 30
THEIRS = "_ZTV21ErasureCodeIsaDefault"
OURS = ("_ZTVN10calpe_ceph11ErasureCodeE" if RELEASE < 20
        else "_ZTVN10calpe_ceph16ShardErasureCodeE")


def signature(mangled):
    """The name without class: init(std::map<...>&, std::ostream*); destructors are equal."""
    text = elf.demangle([mangled])[0].replace("[abi:cxx11]", "")
    depth, parameters = 0, len(text)
    for position, letter in enumerate(text):  # the first parenthesis outside of <...>
        depth += {"<": 1, ">": -1}.get(letter, 0)
        if letter == "(" and depth == 0:
            parameters = position
            break
    name = text[:parameters].split("::")[-1]
    return "destructor" if name.startswith("~") else name + text[parameters:]


def signatures(library, symbol):
    """A set of names per slot, because functions with equal code may be merged."""
    return [{signature(name) for name in names} for names in elf.vtable(library, symbol)[:SLOTS]]


def differences(ours, theirs):
    return [slot for slot in range(SLOTS) if not ours[slot:slot + 1] or not theirs[slot:slot + 1]
            or not ours[slot] & theirs[slot]]


class Vtable(unittest.TestCase):
    def setUp(self):
        self.theirs = signatures(SHIPPED_LIBRARY, THEIRS)
        self.ours = signatures(OUR_LIBRARY, OURS)

    def test_every_slot_is_the_same(self):
        self.assertEqual(len(self.theirs), SLOTS)
        self.assertEqual(differences(self.ours, self.theirs), [])
        for slot, names in enumerate(self.ours):
            print(f"{slot:2} {min(names)[:90]}")

    def test_names_were_found(self):
        """The comparison includes parameters."""
        self.assertEqual(self.theirs[0], {"destructor"})
        self.assertIn("get_chunk_size(unsigned int) const", self.theirs[9])
        slot = 10 if RELEASE < 20 else 11
        self.assertTrue(any(re.match(r"minimum_to_decode\(std::set<int.*std::map<int, std::vector",
                                     name) for name in self.theirs[slot]), self.theirs[slot])

    def test_two_slots_in_the_wrong_order_are_seen(self):
        wrong = list(self.ours)
        wrong[12], wrong[14] = wrong[14], wrong[12]
        self.assertEqual(differences(wrong, self.theirs), [12, 14])
        self.assertEqual(differences(self.ours[:SLOTS - 1], self.theirs), [SLOTS - 1])


unittest.main(verbosity=2)
