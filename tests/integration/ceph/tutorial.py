# SPDX-License-Identifier: Apache-2.0
"""Runs docs/tutorial-ceph.md in a cluster of eight OSDs. Without systemd, this file carries out the
systemctl commands."""
import os
import pathlib
import re
import sys

from cluster import wait_until

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(REPOSITORY / "tests/integration"))
from console import Shell, update  # noqa: E402

POOL = "photos"


class ClusterShell(Shell):
    def __init__(self, cluster, calpe):
        folder = cluster.root / "tutorial"
        (folder / "osds").mkdir(parents=True)
        for osd in range(cluster.osds):
            (folder / f"osds/ceph-{osd}").symlink_to(cluster.root / f"osd{osd}")
        path = f"{pathlib.Path(calpe).parent}:{os.environ['PATH']}"
        super().__init__(folder, dict(cluster.environment, PATH=path, OSDS=f"{folder}/osds"))
        self.cluster = cluster

    def run(self, command):
        if not command.startswith("systemctl "):
            return super().run(command)
        for osd in map(int, re.findall(r"ceph-osd@(\d+)", command)):
            if " stop " in command:
                self.cluster.stop_osd(osd)
            else:
                self.cluster.start_osd(osd)
        if " start " in command:
            self.cluster.wait_for_up(self.cluster.osds)
            wait_until(self.is_clean, f"{POOL} is clean")
        return 0, ""

    def is_clean(self):
        state = self.cluster.query(f"{self.cluster.client.pool_lookup(POOL)}.0")
        return (state is not None and state["epoch"] >= self.cluster.epoch()
                and state["state"] == "active+clean")


def run_tutorial(cluster, calpe):
    """Returns the number of commands that were run."""
    shell = ClusterShell(cluster, calpe)
    document = REPOSITORY / "docs/tutorial-ceph.md"
    shell.run_document(document)
    if shell.errors and not shell.failed and os.environ.get("CALPE_UPDATE_DOCS"):
        update(document, shell.outputs, shell.outputs)
    if shell.errors:
        raise AssertionError("\n".join(shell.errors))
    return shell.count
