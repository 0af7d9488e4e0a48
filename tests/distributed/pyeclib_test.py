#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pyeclib over liberasurecode with our libisal.so.2: pyeclib_test.py DIR [wheel]

Decodes and rebuilds every pattern of lost fragments of 10+4, with fragments of the other library;
fragments of both must be equal. Each library runs in its own process, which checks in
/proc/self/maps what it has loaded. Exits with 77 if pyeclib or ISA-L is not installed.

With `wheel`, tests pip's pyeclib (.ci/wheels.txt) instead of Debian's. It has its own ISA-L, which
liberasurecode opens by another name, so ours needs a link of that name.
"""
import hashlib
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import wheels  # noqa: E402

DEBIAN_PYTHON = "/usr/bin/python3"  # which has Debian's pyeclib
WHEEL_LIBRARY = "libisal-pyeclib.so.2"
TYPES = ("isa_l_rs_vand", "isa_l_rs_cauchy")
DATA, PARITY = 10, 4
SIZES = (1, 9999, 100_000)
SKIPPED = 77


def payload(size):
    return hashlib.shake_128(str(size).encode()).digest(size)


def driver(ec_type, k=DATA, m=PARITY):
    from pyeclib.ec_iface import ECDriver
    return ECDriver(k=k, m=m, ec_type=ec_type)


def loaded_library():
    """The file mapped as ISA-L, while a driver exists: without one it may be unloaded."""
    coder = driver(TYPES[0])
    with open("/proc/self/maps", encoding="ascii") as maps:
        files = {line.split()[-1] for line in maps if "/libisal" in line}
    del coder
    if len(files) != 1:
        sys.exit(f"this process has loaded {sorted(files)}; expected one libisal")
    return files.pop()


def write(folder):
    """Fragments of every payload."""
    for ec_type, size in itertools.product(TYPES, SIZES):
        for number, fragment in enumerate(driver(ec_type).encode(payload(size))):
            (folder / f"{ec_type}.{size}.{number}").write_bytes(fragment)
    return {"library": loaded_library()}


def read_every_pattern(folder):
    """Decodes and rebuilds each pattern of one to four lost fragments."""
    patterns = rebuilt = 0
    for ec_type, size in itertools.product(TYPES, SIZES):
        fragments = [(folder / f"{ec_type}.{size}.{n}").read_bytes() for n in range(DATA + PARITY)]
        coder = driver(ec_type)
        expected = payload(size)
        for count in range(1, PARITY + 1):
            for lost in itertools.combinations(range(DATA + PARITY), count):
                left = [f for n, f in enumerate(fragments) if n not in lost]
                if coder.decode(left) != expected:
                    sys.exit(f"{ec_type}, {size} bytes, lost {lost}: wrong bytes")
                patterns += 1
                if size == SIZES[1]:
                    if coder.reconstruct(left, [lost[-1]]) != [fragments[lost[-1]]]:
                        sys.exit(f"{ec_type}, lost {lost}: fragment {lost[-1]} was rebuilt wrong")
                    rebuilt += 1
    # Create and destroy instances, as in a server.
    for _ in range(50):
        coder = driver(TYPES[0], 4, 2)
        if coder.decode(coder.encode(expected)[2:]) != expected:
            sys.exit("4+2: wrong bytes")
        del coder
    return {"library": loaded_library(), "patterns": patterns, "rebuilt": rebuilt}


WORK = {"write": write, "read": read_every_pattern}


def run(python, work, folder, library_folder):
    environment = dict(os.environ)
    environment.pop("LD_LIBRARY_PATH", None)
    if library_folder:
        environment["LD_LIBRARY_PATH"] = str(library_folder)
    done = subprocess.run([python, "-B", __file__, "--work", work, folder], env=environment,
                          stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{work} with {library_folder or 'the stock library'} failed")
    return json.loads(done.stdout)


def is_installed(python):
    probe = ("import sys; from pyeclib.ec_iface import ALL_EC_TYPES, VALID_EC_TYPES;"
             f"sys.exit(0 if set({TYPES!r}) <= set(VALID_EC_TYPES) else 1)")
    try:
        return python is not None and subprocess.run(
            [python, "-c", probe], stderr=subprocess.DEVNULL, check=False).returncode == 0
    except FileNotFoundError:
        return False


def compare(python, ours, library):
    """`ours` is the directory in LD_LIBRARY_PATH that makes pyeclib load `library`."""
    with tempfile.TemporaryDirectory() as by_stock, tempfile.TemporaryDirectory() as by_ours:
        stock = run(python, "write", by_stock, None)["library"]
        assert stock != library, stock
        written = run(python, "write", by_ours, ours)
        assert written["library"] == library, written
        files = sorted(os.listdir(by_stock))
        assert files == sorted(os.listdir(by_ours)) and len(files) == 2 * 3 * 14, files
        for name in files:
            pair = [pathlib.Path(folder, name).read_bytes() for folder in (by_stock, by_ours)]
            if pair[0] != pair[1]:
                sys.exit(f"{name}: fragments differ")
        for folder, library_folder, file in ((by_stock, ours, library), (by_ours, None, stock)):
            read = run(python, "read", folder, library_folder)
            assert read["library"] == file, read
            assert (read["patterns"], read["rebuilt"]) == (2 * 3 * 1470, 2 * 1470), read
    print(f"pyeclib: {len(files)} fragments equal to stock's, {read['patterns']} patterns decoded,"
          f" {read['rebuilt']} rebuilt, by {library} and by {stock}")


def compare_wheel(python, ours, library):
    with tempfile.TemporaryDirectory() as links, tempfile.TemporaryDirectory() as scratch:
        # Without the link, docs/isal.md says, the wheel keeps its own library.
        without = run(python, "write", scratch, ours)["library"]
        assert os.path.basename(without) == WHEEL_LIBRARY, without
        os.symlink(library, pathlib.Path(links, WHEEL_LIBRARY))
        compare(python, links, library)


def main():
    ours = pathlib.Path(sys.argv[1]).resolve()
    library = os.path.realpath(ours / "libisal.so.2")
    is_wheel = sys.argv[2:] == ["wheel"]
    python = wheels.program("python") if is_wheel else DEBIAN_PYTHON
    if not is_installed(python):
        print("skipped: " + (".ci/install puts wheels into " + str(wheels.VENV) if is_wheel else
                             "apt install python3-pyeclib libisal2"))
        return SKIPPED
    (compare_wheel if is_wheel else compare)(python, ours, library)
    return 0


if __name__ == "__main__":
    if sys.argv[1] == "--work":
        print(json.dumps(WORK[sys.argv[2]](pathlib.Path(sys.argv[3]))))
    else:
        sys.exit(main())
