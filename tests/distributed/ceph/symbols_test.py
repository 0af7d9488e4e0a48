#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The plugin finds all its symbols in a daemon and exports none that conflict with it:
symbols_test.py OURS DAEMON[,LIBRARY]...

ceph-osd contains all Ceph symbols; other daemons load libceph-common.
"""
import re
import sys
import unittest

import elf

OUR_LIBRARY, *DAEMONS = sys.argv[1:]
LIBRARIES = {"libstdc++.so.6", "libm.so.6", "libgcc_s.so.1", "libc.so.6",
             "ld-linux-x86-64.so.2"}
HOST = re.compile(r"ceph::|CrushWrapper")


class Symbols(unittest.TestCase):
    def test_only_the_two_entry_points_are_exported(self):
        self.assertEqual(elf.defined(OUR_LIBRARY),
                         {"__erasure_code_version", "__erasure_code_init"})

    def test_only_the_compilers_libraries_are_loaded(self):
        self.assertEqual(set(elf.needed(OUR_LIBRARY)) - LIBRARIES, set())

    def test_daemons_export_what_is_undefined(self):
        names = sorted(elf.undefined(OUR_LIBRARY))
        host = {name for name, text in zip(names, elf.demangle(names)) if HOST.search(text)}
        self.assertGreater(len(host), 10)
        self.assertIn("_ZN4ceph25ErasureCodePluginRegistry9singletonE", host)
        for daemon in DAEMONS:
            exported = set().union(*map(elf.defined, daemon.split(",")))
            self.assertEqual(host - exported, set(), daemon)
            print(f"{daemon} exports all {len(host)}")


unittest.main(argv=sys.argv[:1], verbosity=2)
