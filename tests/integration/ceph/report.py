# SPDX-License-Identifier: Apache-2.0
"""Lines with the time since the start, for tests with a cluster."""
import time

started = time.monotonic()


def say(text):
    print(f"{time.monotonic() - started:7.1f} s  {text}", flush=True)


def require(condition, text):
    if not condition:
        raise AssertionError(text)
    say(text)


def require_equal(pool, when):
    wrong = pool.wrong()
    if wrong:
        raise AssertionError(f"{when}: wrong are {wrong}, daemons that ended: "
                             f"{pool.cluster.dead()}")
    say(f"{when}: {len(pool.objects)} objects of {pool.name} are equal")
