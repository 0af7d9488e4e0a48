#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for OSDs, kept in files, and for the parts of ceph-objectstore-tool and osdmaptool that
calpe ceph-scrub calls. Formats are those of Ceph 16.2, and of 20.2 for optimised pools.

A shard is osdN/PGID/OBJECT. OBJECT.json next to it holds the object's size, the shard's version and
the versions of shards that the last changes left out.
"""
import json
import os
import pathlib
import struct
import sys

POOL, GROUPS, HEAD, BLOCK = 2, 2, -2, 4096


# --- ISA-L's Cauchy code, from its definition ----------------------------------------------------

def multiply(a, b):
    product = 0
    while b:
        product ^= a if b & 1 else 0
        a = a << 1 ^ (0x11D if a & 0x80 else 0)
        b >>= 1
    return product


def encode(content, data, parity, chunk):
    """Returns the shards of an object. Entry j of parity row i is 1 / ((k + i) xor j)."""
    inverse = {a: b for a in range(1, 32) for b in range(256) if multiply(a, b) == 1}
    width = data * chunk
    content = content.ljust(-(-len(content) // width) * width, b"\0")
    shards = [b"".join(content[at + shard * chunk:][:chunk] for at in range(0, len(content), width))
              for shard in range(data)]
    for row in range(parity):
        total = 0
        for column in range(data):
            factor = inverse[(data + row) ^ column]
            table = bytes(multiply(factor, value) for value in range(256))
            total ^= int.from_bytes(shards[column].translate(table), "little")
        shards.append(total.to_bytes(len(shards[0]), "little"))
    return shards


# --- exports -------------------------------------------------------------------------------------

def structure(inside, version=1):
    return struct.pack("<BBI", version, 1, len(inside)) + inside


def string(text):
    return struct.pack("<I", len(text.encode())) + text.encode()


def section(kind, payload=b""):
    header = structure(struct.pack("<IQ", kind << 24 | kind << 16 | 0xFFCE, len(payload)))
    return header + payload + (structure(struct.pack("<I", 0xECFFFFCE)) if payload else b"")


def object_name(name):
    return structure(string("") + string(name) + struct.pack("<qIB", HEAD, hash_of(name), 0)
                     + string("") + struct.pack("<q", POOL))


def hash_of(name):
    return sum(name.encode()) * 2654435761 % (1 << 32)


def info_end(others):
    """Returns the end of Ceph 20's object info: no watchers, and the versions of other shards."""
    out = bytes(8) + structure(b"lock") + bytes(17) + bytes(4) + bytes(13) + bytes(4) + bytes(40)
    return out + struct.pack("<I", len(others)) + b"".join(
        struct.pack("<BQI", int(shard), version, 7) for shard, version in others.items())


def trimmed_bytes(size, shard, data, chunk):
    """Returns the length of a shard in an optimised pool, from its definition."""
    shard = shard if shard < data else 0
    whole, rest = divmod(size, data * chunk)
    length = whole * chunk + min(max(rest - shard * chunk, 0), chunk)
    return -(-length // BLOCK) * BLOCK


def export(folder, group):
    """Returns the export of one placement group of one OSD."""
    seed, shard = (int(word, 16) for word in group.split(".")[1].split("s"))
    out = struct.pack("<IIII", 0xFFCEFFCE, 2, 18, 10)
    out += section(1, structure(struct.pack("<BQIi", 1, POOL, seed, -1) + structure(b"superblock")
                                + struct.pack("<B", shard)))
    for path in sorted((folder / group).glob("*.json")):
        about = json.loads(path.read_text())
        content = path.with_suffix("").read_bytes()
        name = object_name(path.stem)
        info = structure(name + structure(b"locator") + struct.pack("<IQIQI", 0, about["version"],
                                                                    7, 1, 7)
                         + structure(b"request") + struct.pack("<Q", about["size"])
                         + info_end(about["others"]), 18)
        out += section(3, structure(name + struct.pack("<QB", (1 << 64) - 1, shard) + info))
        for at in range(0, len(content), 700):
            piece = content[at:at + 700]
            out += section(5, structure(struct.pack("<QQI", at, len(piece), len(piece)) + piece))
        out += section(6, structure(b"attributes")) + section(4)
    return out + section(2)


# --- for the test --------------------------------------------------------------------------------

class Osds:
    def __init__(self, folder, data, parity, chunk, is_optimised=False):
        self.folder, self.data, self.parity, self.chunk = folder, data, parity, chunk
        self.is_optimised = is_optimised
        self.objects = {}
        for osd in range(data + parity):
            (folder / f"osd{osd}").mkdir()
            (folder / f"osd{osd}/whoami").write_text(f"{osd}\n")
        keys = {"plugin": "isa", "technique": "cauchy", "k": str(data), "m": str(parity)}
        (folder / "map.json").write_text(json.dumps({
            "pools": [{"pool": 1, "pool_name": "replicas", "type": 1},
                      {"pool": POOL, "pool_name": "images", "type": 3, "stripe_width": data * chunk,
                       "flags": 1 << 19 if is_optimised else 5, "erasure_code_profile": "p"}],
            "erasure_code_profiles": {"p": keys}}))
        tools = folder / "tools"
        tools.mkdir()
        for name in ("ceph-objectstore-tool", "osdmaptool"):
            (tools / name).write_text(f"#!/bin/sh\nexec {sys.executable} -B "
                                      f"{pathlib.Path(__file__).resolve()} {name} \"$@\"\n")
            (tools / name).chmod(0o755)
        self.environment = {"PATH": f"{tools}:{os.environ['PATH']}", "STANDIN": str(folder)}

    def paths(self):
        return sorted(path for path in self.folder.glob("osd*") if path.is_dir())

    def place(self, name, shard):
        """Returns the OSD of a shard; groups start at different OSDs."""
        group = hash_of(name) % GROUPS
        return self.folder / f"osd{(shard + group) % (self.data + self.parity)}"

    def shard_path(self, name, shard):
        return self.place(name, shard) / f"{POOL}.{hash_of(name) % GROUPS:x}s{shard}" / name

    def put(self, name, content):
        self.objects[name] = content
        for shard, piece in enumerate(encode(content, self.data, self.parity, self.chunk)):
            path = self.shard_path(name, shard)
            path.parent.mkdir(exist_ok=True)
            if self.is_optimised:
                piece = piece[:trimmed_bytes(len(content), shard, self.data, self.chunk)]
            path.write_bytes(piece)
            self.set_version(path, len(content), 5)

    @staticmethod
    def set_version(path, size, version, others=None):
        about = {"size": size, "version": version, "others": others or {}}
        pathlib.Path(f"{path}.json").write_text(json.dumps(about))

    def leave_out(self, name, left_out):
        """Makes it look as if the last change of an object did not involve some data shards."""
        others = {shard: 5 for shard in left_out}
        for shard in range(self.data + self.parity):
            if shard not in left_out:
                self.set_version(self.shard_path(name, shard), len(self.objects[name]), 6, others)

    def images(self):
        return {path: path.read_bytes() for path in self.folder.glob("osd*/*/*")}

    def make_older(self, name, shard):
        path = self.shard_path(name, shard)
        path.write_bytes(bytes(len(path.read_bytes())))
        self.set_version(path, 1, 4)

    def export_all(self, folder):
        folder.mkdir()
        files = []
        for path in self.folder.glob("osd*/*s*"):
            files.append(folder / f"{path.name}-{path.parent.name}")
            files[-1].write_bytes(export(path.parent, path.name))
        return files

    def set_running(self, osd):
        (self.folder / f"osd{osd}/running").touch()

    def set_stopped(self, osd):
        (self.folder / f"osd{osd}/running").unlink()

    def forget_writes(self):
        (self.folder / "forget").touch()


# --- as a program --------------------------------------------------------------------------------

def object_tool(words):
    assert words[:2] == ["--no-mon-config", "--data-path"], words
    osd, rest = pathlib.Path(words[2]), words[3:]
    if (osd / "running").exists():
        sys.exit("Mount failed with '(11) Resource temporarily unavailable'")
    if rest == ["--op", "list-pgs"]:
        print("\n".join([f"1.{osd.name[-1]}", *(path.name for path in osd.glob("*s[0-9]*"))]))
    elif rest[:2] == ["--op", "list"]:
        for path in osd.glob(f"*/{rest[2]}"):
            print(json.dumps([path.parent.name, {"oid": path.name}]))
    elif rest[:2] == ["--op", "get-osdmap"]:
        pathlib.Path(rest[3]).write_bytes(b"map")
        print("osdmap#7 exported.")
    elif rest[:2] == ["--op", "export"]:
        assert rest[2] == "--pgid" and rest[4] == "--file", rest
        pathlib.Path(rest[5]).write_bytes(export(osd, rest[3]))
    else:
        assert rest[0] == "--pgid" and rest[3] in ("set-bytes", "get-bytes"), rest
        group, about = json.loads(rest[2])
        shard = int(group.split("s")[1])
        expected = {"oid": about["oid"], "key": "", "snapid": HEAD, "hash": hash_of(about["oid"]),
                    "max": 0, "pool": POOL, "namespace": "", "shard_id": shard}
        assert group == rest[1] and about == expected, rest
        path = osd / group / about["oid"]
        assert path.exists(), path
        file = pathlib.Path(rest[4])
        if rest[3] == "get-bytes":
            file.write_bytes(path.read_bytes())
        elif not (pathlib.Path(os.environ["STANDIN"]) / "forget").exists():
            path.write_bytes(file.read_bytes())


def main():
    if sys.argv[1] == "osdmaptool":
        print(f"osdmaptool: osdmap file '{sys.argv[2]}'", file=sys.stderr)
        print((pathlib.Path(os.environ["STANDIN"]) / "map.json").read_text())
    else:
        object_tool(sys.argv[2:])


if __name__ == "__main__":
    main()
