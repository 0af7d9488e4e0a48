# SPDX-License-Identifier: Apache-2.0
"""Code that make_images.py and images_test.py share. An image is an archive of files that a release
wrote, with their description in expected.json.

  set/                  shards, or originals/ and parity files next to them
  m0, m1 ..             or members of an array
  expected.json         {"kind": .., "parity": m, "digest": SHA-256 of the content, ..}
"""
import hashlib
import io
import json
import os
import pathlib
import tarfile

HERE = pathlib.Path(__file__).resolve().parent


def tree_digest(folder):
    """Of names, kinds, modes, contents and targets of links."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            line = f"link {name} {os.readlink(path)}"
        elif path.is_dir():
            line = f"folder {name}"
        else:
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            line = f"file {name} {path.stat().st_mode & 0o777:o} {content}"
        found.update(line.encode() + b"\n")
    return found.hexdigest()


def pack(folder, expected, target):
    (folder / "expected.json").write_text(json.dumps(expected, sort_keys=True) + "\n")

    def plain(member):
        member.uid = member.gid = member.mtime = 0
        member.uname = member.gname = "root"
        return member
    memory = io.BytesIO()
    with tarfile.open(fileobj=memory, mode="w:xz", preset=9) as archive:
        for path in sorted(folder.iterdir()):
            archive.add(path, arcname=path.name, filter=plain)
    target.write_bytes(memory.getvalue())


def unpack(source, folder):
    folder.mkdir()
    with tarfile.open(source) as archive:
        archive.extractall(folder)
    return json.loads((folder / "expected.json").read_text())


def all_images():
    return sorted(HERE.glob("*.tar.xz"))
