# SPDX-License-Identifier: Apache-2.0
"""CALPE_WITHOUT_NUMPY=1: tests run where NumPy cannot be imported."""
import os
import sys

if os.environ.get("CALPE_WITHOUT_NUMPY") == "1":
    sys.modules["numpy"] = None
