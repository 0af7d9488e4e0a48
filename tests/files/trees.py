# SPDX-License-Identifier: Apache-2.0
"""Random trees of files for tests, and snapshots to compare them."""
import os
import pathlib
import stat
import subprocess

NAMES = ["a", "b.txt", "photo 1.jpg", "ümlaut", "new\nline", "-rf", "x" * 60, ".hidden", "é.bin"]
SIZES = [0, 1, 63, 64, 65, 511, 4095, 4096, 4097, 20000]


def make_file(path, chance, size):
    content = chance.randbytes(size)
    with open(path, "wb") as out:
        if chance.random() < 0.3:  # with holes, perhaps one at the end
            at = 0
            for _ in range(chance.randrange(3)):
                at += chance.randrange(1, 4) * 8192
                piece = chance.randbytes(chance.randrange(1, 9000))
                out.seek(at)
                out.write(piece)
                at += len(piece)
            out.truncate(at + chance.choice([0, 0, 5, 70000]))
        else:
            out.write(content)


def random_name(chance, number):
    return f"{number}{chance.choice(NAMES)}"


def fill_folder(folder, chance, depth, file_bytes_max):
    for number in range(chance.randrange(1, 5)):
        path = os.path.join(folder, random_name(chance, number))
        kind = chance.random()
        if kind < 0.2 and depth < 3:
            os.mkdir(path)
            if chance.random() < 0.8:
                fill_folder(path, chance, depth + 1, file_bytes_max)
        elif kind < 0.35:
            os.symlink(chance.choice(["nowhere", "/etc/passwd", "../..", "a" * 200]), path)
        else:
            size = chance.choice(SIZES + [chance.randrange(file_bytes_max + 1)] * 3)
            make_file(path, chance, min(size, file_bytes_max))
            os.chmod(path, chance.choice([0o644, 0o600, 0o444, 0o755, 0o711]))
        if not os.path.islink(path):
            if os.path.isdir(path):
                os.chmod(path, chance.choice([0o755, 0o700, 0o1777, 0o750]))
        time = chance.choice([0, -1, 1, 10**9]) * 10**9 + chance.randrange(4 * 10**9)
        os.utime(path, ns=(time, time), follow_symlinks=False)


def random_tree(folder, chance, file_bytes_max=60000):
    """Fills a new directory."""
    os.mkdir(folder)
    fill_folder(folder, chance, 0, file_bytes_max)
    os.chmod(folder, chance.choice([0o755, 0o750]))


def copy_tree(folder, target):
    """Copies a tree with holes and all times."""
    subprocess.run(["cp", "-a", folder, target], check=True)
    # cp ignores holes in files that are shorter than a sector.
    for path in sorted(pathlib.Path(folder).rglob("*")):
        status = path.lstat()
        copy = pathlib.Path(target, path.relative_to(folder))
        if stat.S_ISREG(status.st_mode) and holes_of(path, status.st_size) == [(0, status.st_size)]:
            os.truncate(copy, 0)
            os.truncate(copy, status.st_size)
            os.utime(copy, ns=(status.st_mtime_ns, status.st_mtime_ns))


def holes_of(path, size):
    found, at = [], 0
    with open(path, "rb") as source:
        while at < size:
            start = os.lseek(source.fileno(), at, os.SEEK_HOLE)
            if start >= size:
                break
            try:
                at = os.lseek(source.fileno(), start, os.SEEK_DATA)
            except OSError:
                at = size
            found.append((start, at))
    return found


def seen(path):
    """Everything that must be equal in a protected file and the restored one."""
    status = os.lstat(path)
    kind = stat.S_IFMT(status.st_mode)
    if kind == stat.S_IFLNK:
        return ("link", os.readlink(path), status.st_mtime_ns)
    mode = stat.S_IMODE(status.st_mode)
    if kind == stat.S_IFDIR:
        return ("folder", mode, status.st_mtime_ns)
    with open(path, "rb") as source:
        content = source.read()
    return ("file", mode, status.st_mtime_ns, content, holes_of(path, len(content)))


def snapshot(folder):
    """Snapshot by relative path; "." is the directory itself."""
    found = {".": seen(folder)}
    for parent, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(parent, name)
            found[os.path.relpath(path, folder)] = seen(path)
    return found


def difference(expected, got):
    """The first difference as text, or None."""
    for path in sorted(set(expected) | set(got)):
        a, b = expected.get(path), got.get(path)
        if a != b:
            def short(x):
                return repr(x) if x is None else repr([str(part)[:80] for part in x])
            return f"{path!r}: expected {short(a)}, got {short(b)}"
    return None
