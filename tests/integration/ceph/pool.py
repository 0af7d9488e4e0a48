# SPDX-License-Identifier: Apache-2.0
"""A pool and a copy of its expected content."""
import random
import time

import rados

from cluster import wait_until

NOWHERE = 2147483647  # CRUSH's value for a missing OSD
AGAIN_SECONDS = 3  # a peering OSD drops requests, so repeat them


class Pool:
    """keys: of the profile; without them the pool exists.
    groups: number of placement groups; few of them make the test faster."""

    def __init__(self, cluster, name, keys=(), groups=4):
        self.cluster, self.name = cluster, name
        self.random = random.Random(name)
        self.objects = {}
        self.has_overwrites = False
        if keys:
            self.create(keys, groups)
        self.profile = cluster.monitor("osd erasure-code-profile get", name=f"profile-{name}")
        # With the default of k + 1, a pool stops when m OSDs are down.
        self.set("min_size", self.profile["k"])
        number = cluster.client.pool_lookup(name)
        self.groups = [f"{number}.{group:x}" for group in range(groups)]
        self.handle = cluster.client.open_ioctx(name)
        self.wait_clean()

    def create(self, keys, groups):
        self.cluster.monitor("osd erasure-code-profile set", name=f"profile-{self.name}",
                             profile=["crush-failure-domain=osd", *keys])
        self.cluster.monitor("osd pool create", pool=self.name, pg_num=groups, pgp_num=groups,
                             pool_type="erasure", erasure_code_profile=f"profile-{self.name}")

    def set(self, key, value):
        self.cluster.monitor("osd pool set", pool=self.name, var=key, val=value)

    def allow_overwrites(self):
        self.set("allow_ec_overwrites", "true")
        self.has_overwrites = True

    def optimise(self):
        """From Ceph 20; cannot be undone."""
        self.set("allow_ec_optimizations", "true")

    def put(self, name, size):
        self.objects[name] = self.random.randbytes(size)
        self.handle.write_full(name, self.objects[name])

    def overwrite(self, name, offset, size):
        """Overwrites in place; the object grows if it is too short."""
        piece = self.random.randbytes(size)
        old = self.objects.get(name, b"").ljust(offset, b"\0")
        self.objects[name] = old[:offset] + piece + old[offset + size:]
        self.handle.write(name, piece, offset)

    def append(self, name, size):
        piece = self.random.randbytes(size)
        self.objects[name] += piece
        self.handle.append(name, piece)

    def truncate(self, name, size):
        self.objects[name] = self.objects[name][:size].ljust(size, b"\0")
        self.handle.trunc(name, size)

    def wrong(self):
        """Returns the objects that are unreadable or have wrong bytes, with the reason."""
        bad = {}
        for name, content in self.objects.items():
            try:
                if self.handle.read(name, len(content) + 1) != content:
                    bad[name] = "other bytes"
            except rados.Error as error:
                bad[name] = str(error)
        return bad

    def states(self):
        """Returns the state of every placement group; None if one does not answer."""
        return [self.cluster.query(group) for group in self.groups]

    def placement(self):
        return {group: state["acting"] for group, state in zip(self.groups, self.states())}

    def wait_for(self, accepts, what):
        """Waits until every group has the newest OSD map and its state is accepted. States with an
        older map are stale."""
        epoch = self.cluster.epoch()
        wait_until(lambda: all(state is not None and state["epoch"] >= epoch and accepts(state)
                               for state in self.states()), f"{self.name} is {what}")

    def wait_clean(self, accepts=lambda acting: NOWHERE not in acting):
        self.wait_for(lambda state: state["state"] == "active+clean" and accepts(state["acting"]),
                      "clean")

    def wait_active(self):
        self.wait_for(lambda state: state["state"].split("+")[0] == "active", "active")

    def locate(self, name):
        """Returns the placement group of an object and its OSDs by shard."""
        answer = self.cluster.monitor("osd map", pool=self.name, object=name)
        return answer["pgid"], answer["acting"]

    def request(self, command, groups, is_done):
        """Requests a scrub or repair of groups until is_done(group, state) holds for each."""
        asked = {}

        def ask():
            left = 0
            for group in groups:
                state = self.cluster.query(group)
                if state is not None and is_done(group, state):
                    continue
                left += 1
                is_busy = state is None or "scrubbing" in state["state"]
                if not is_busy and time.monotonic() > asked.get(group, 0) + AGAIN_SECONDS:
                    if self.cluster.manager(command, pgid=group) is not None:
                        asked[group] = time.monotonic()
            return left == 0
        wait_until(ask, f"{command} of {self.name}")

    def deep_scrub(self):
        """Returns the states of all placement groups after the scrub."""
        def stamp(state):
            return state["info"]["history"]["last_deep_scrub_stamp"]
        before = {group: stamp(state) for group, state in zip(self.groups, self.states())}
        self.request("pg deep-scrub", self.groups, lambda group, state: (
            stamp(state) != before[group] and "scrubbing" not in state["state"]))
        return [state["state"] for state in self.states()]

    def repair(self, group):
        self.request("pg repair", [group], lambda _, state: state["state"] == "active+clean")
