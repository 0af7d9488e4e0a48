# SPDX-License-Identifier: Apache-2.0
"""Scenarios of clients on top of pools: S3 through radosgw (boto3), block devices through librbd
(fio's rbd engine)."""
import random

from cluster import free_ports, is_listening, wait_until
from pool import Pool
from pools import KEYS
from report import require, say
import steps

BUCKET = "calpe"
SECRET = "secret"
PART = 5 << 20  # the smallest part of a multipart upload, except for the last
METADATA = "metadata"  # an image needs a replicated pool for its header
# Jobs of fio: block, offset in MiB, size in MiB. A job writes each block once, in random order.
JOBS = {"small": ("4k", 0, 8), "odd": ("20k", 8, 20), "large": ("256k", 28, 32)}
IMAGE_MIB = 60


class Bucket:
    """Objects in S3 and a copy of their expected content."""

    def __init__(self, port):
        import boto3  # only this scenario needs it
        self.s3 = boto3.client(
            "s3", endpoint_url=f"http://127.0.0.1:{port}", region_name="default",
            aws_access_key_id="key", aws_secret_access_key=SECRET)
        self.random = random.Random(port)
        self.objects = {}
        self.s3.create_bucket(Bucket=BUCKET)

    def put(self, name, size):
        self.objects[name] = self.random.randbytes(size)
        self.s3.put_object(Bucket=BUCKET, Key=name, Body=self.objects[name])

    def put_parts(self, name, sizes):
        content = [self.random.randbytes(size) for size in sizes]
        target = {"Bucket": BUCKET, "Key": name}
        upload = self.s3.create_multipart_upload(**target)["UploadId"]
        parts = [{"PartNumber": number, "ETag": self.s3.upload_part(
            **target, PartNumber=number, UploadId=upload, Body=part)["ETag"]}
            for number, part in enumerate(content, 1)]
        self.s3.complete_multipart_upload(**target, UploadId=upload,
                                          MultipartUpload={"Parts": parts})
        self.objects[name] = b"".join(content)

    def read(self, name, **options):
        return self.s3.get_object(Bucket=BUCKET, Key=name, **options)["Body"].read()

    def require_equal(self, when):
        ranges = 0
        for name, content in self.objects.items():
            if self.read(name) != content:
                raise AssertionError(f"{when}: {name} has other bytes")
            for _ in range(5 if len(content) > 1 else 0):
                first, last = sorted(self.random.sample(range(len(content)), 2))
                if self.read(name, Range=f"bytes={first}-{last}") != content[first:last + 1]:
                    raise AssertionError(f"{when}: {name} has other bytes in {first}-{last}")
                ranges += 1
        say(f"{when}: {len(self.objects)} objects and {ranges} ranges are equal")


def rgw(cluster, _):
    pool = Pool(cluster, "default.rgw.buckets.data", KEYS, groups=8)
    cluster.monitor("osd pool application enable", pool=pool.name, app="rgw")
    cluster.run("radosgw-admin", "user", "create", "--uid=calpe", "--display-name=calpe",
                "--access-key=key", f"--secret-key={SECRET}")
    port = free_ports(1)
    cluster.start_daemon("radosgw", "admin", f"--rgw-frontends=beast endpoint=127.0.0.1:{port}")
    wait_until(lambda: is_listening(port), "radosgw listens")
    say("radosgw listens")
    bucket = Bucket(port)
    for index, size in enumerate(steps.SIZES):
        bucket.put(f"object{index}", size)
    bucket.put_parts("parts", [PART, 2 * PART, 12345])
    bucket.require_equal("healthy")
    stored = [entry.key for entry in pool.handle.list_objects()]
    require(len(stored) >= len(bucket.objects), f"{len(stored)} objects are in the pool")
    _, acting = pool.locate(stored[0])
    victims = [acting[0], acting[2]]
    steps.kill(cluster, victims)
    pool.wait_active()
    bucket.require_equal("two OSDs dead")
    bucket.put("late", 3000000)
    bucket.put_parts("late parts", [PART, PART, 1])
    bucket.require_equal("written while degraded")
    steps.bring_back(cluster, victims)
    pool.wait_clean()
    bucket.require_equal("back")


class Image:
    """A block device. fio fills each block with its offset and a pattern of the job, which changes
    when the job runs again; so fio also detects a block at the wrong place and an old block."""

    def __init__(self, pool):
        self.pool, self.cluster = pool, pool.cluster
        self.runs = dict.fromkeys(JOBS, 1)
        self.cluster.run("rbd", "create", f"{METADATA}/{pool.name}", "--size", f"{IMAGE_MIB}M",
                         "--data-pool", pool.name)
        for job in JOBS:
            self.fio(job)
        say(f"fio wrote and verified {', '.join(JOBS)} blocks in {pool.name}")

    def fio(self, job, *options):
        block, offset_mib, size_mib = JOBS[job]
        pattern = random.Random(f"{job} {self.runs[job]}").randbytes(200).hex()
        self.cluster.run(
            "fio", f"--name={job}", "--thread", "--ioengine=rbd", "--clientname=admin",
            f"--pool={METADATA}", f"--rbdname={self.pool.name}", "--rw=randwrite",
            f"--bs={block}", f"--offset={offset_mib}M", f"--size={size_mib}M", "--iodepth=8",
            "--verify=pattern", f"--verify_pattern=%o0x{pattern}", "--verify_fatal=1",
            "--verify_state_save=0", *options, seconds=600)

    def rewrite(self, job):
        self.runs[job] += 1
        self.fio(job)
        say(f"fio wrote and verified {job} blocks again in {self.pool.name}")

    def verify(self, when):
        for job in JOBS:
            self.fio(job, "--verify_only")
        say(f"{when}: fio verified {IMAGE_MIB} MiB in {self.pool.name}")


def rbd(cluster, _):
    cluster.monitor("osd pool create", pool=METADATA, pool_type="replicated")
    cluster.run("rbd", "pool", "init", METADATA)
    pools = [Pool(cluster, name, KEYS) for name in ("overwrites", "optimised")
             if name != "optimised" or cluster.release >= 20]
    for pool in pools:
        pool.allow_overwrites()
        cluster.monitor("osd pool application enable", pool=pool.name, app="rbd")
        if pool.name == "optimised":
            pool.optimise()
    images = [Image(pool) for pool in pools]
    stale = images[0]
    stale.runs["small"] += 1
    try:
        stale.fio("small", "--verify_only")
    except RuntimeError as error:
        require("verify" in str(error), "fio detects old blocks")
        stale.runs["small"] -= 1
    else:
        raise AssertionError("fio accepts blocks that it did not write")
    stored = [entry.key for entry in pools[0].handle.list_objects()]
    _, acting = pools[0].locate(stored[0])
    victims = [acting[0], acting[2]]
    steps.kill(cluster, victims)
    for image in images:
        image.pool.wait_active()
        image.verify("two OSDs dead")
        image.rewrite("small")
        image.rewrite("odd")
        image.verify("written while degraded")
    steps.bring_back(cluster, victims)
    for image in images:
        image.pool.wait_clean()
        image.verify("back")
