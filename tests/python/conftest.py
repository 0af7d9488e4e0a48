# SPDX-License-Identifier: Apache-2.0
"""With CALPE_WITHOUT_NUMPY=1, tests cannot import NumPy."""
import os
import sys

if os.environ.get("CALPE_WITHOUT_NUMPY") == "1":
    sys.modules["numpy"] = None
