#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the files of a release from the last commit: source archive, SBOM, checksums, packages.

RELEASING.md describes the whole release. The archive depends on the commit alone; the SBOM also
has the versions of the libraries on this machine. Needs git; --packages needs what
packaging/build-deb.sh needs.
"""
import argparse
import gzip
import hashlib
import io
import pathlib
import re
import shutil
import subprocess
import sys

import sbom

ROOT = pathlib.Path(__file__).resolve().parents[1]
EXAMPLE = """example:
  packaging/release.py 0.1.0 build/release-0.1.0 --packages build/deb-0.1.0

SHA256SUMS is written last; if it exists, the files are complete."""


def git(*arguments):
    # User settings must not change the archive.
    settings = ["core.autocrlf=false", "core.attributesFile=/dev/null", "tar.umask=0022"]
    options = [part for setting in settings for part in ("-c", setting)]
    done = subprocess.run(["git", "-C", str(ROOT), *options, *arguments], capture_output=True,
                          check=False)
    if done.returncode != 0:
        sys.exit(f"release: git {arguments[0]}: {done.stderr.decode().strip()}")
    return done.stdout


def first(pattern, name):
    found = re.search(pattern, (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else "not found"


def is_in_use(folder):
    return folder.exists() and (not folder.is_dir() or any(folder.iterdir()))


def refusals(version, folders):
    """Yields each reason not to make this release, with what to do."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        yield f"VERSION is {version}; expected three numbers, such as 0.1.0"
        return
    changes = git("status", "--porcelain", "--untracked-files=normal").decode().splitlines()
    if changes:
        yield (f"the work tree has {len(changes)} uncommitted changes, such as "
               f"{changes[0][3:]}; commit or remove them")
    for name, pattern in (("CMakeLists.txt", r"^project\(calpe VERSION ([0-9.]+)"),
                          ("packaging/debian/changelog", r"\Acalpe \(([^-)]+)")):
        found = first(pattern, name)
        if found != version:
            yield f"the version in {name} is {found}; expected {version}"
    heading = rf"^## \[({re.escape(version)})\] - \d{{4}}-\d{{2}}-\d{{2}}$"
    if first(heading, "CHANGELOG.md") != version:
        yield (f"CHANGELOG.md has no section for {version}; "
               f"add a heading '## [{version}] - YYYY-MM-DD'")
    try:
        sbom.linked_packages(ROOT)
    except sbom.UnknownPackage as error:
        yield str(error)
    for folder in folders:
        if is_in_use(folder):
            yield f"{folder} is not empty; name a new directory"


def source_archive(version):
    """Writes the tracked files as .tar.gz, with the time of the commit."""
    tar = git("archive", "--format=tar", f"--prefix=calpe-{version}/", "HEAD")
    packed = io.BytesIO()
    # Like gzip -n: no name, no time.
    with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=packed, mtime=0) as file:
        file.write(tar)
    return packed.getvalue()


def build_packages(version, folder, out):
    """Runs build-deb.sh in `folder`, which it empties first, and copies the packages to `out`."""
    done = subprocess.run([ROOT / "packaging/build-deb.sh", folder], check=False)
    if done.returncode != 0:
        sys.exit(f"release: packaging/build-deb.sh failed with exit code {done.returncode}")
    packages = sorted(folder.glob(f"*_{version}-*.deb"))
    if not packages:
        sys.exit(f"release: packaging/build-deb.sh made no package of {version} in {folder}")
    for package in packages:
        shutil.copy(package, out)


def write_checksums(out):
    """Checksums in the format of sha256sum, sorted by name."""
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
             for path in sorted(out.iterdir())]
    (out / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLE,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("version", metavar="VERSION", help="version of the release: 0.1.0")
    parser.add_argument("out", metavar="OUT", type=pathlib.Path,
                        help="new directory for the files")
    parser.add_argument("--packages", metavar="BUILD_DIR", type=pathlib.Path,
                        help="also build the Debian packages, in this new directory")
    arguments = parser.parse_args()
    version, out = arguments.version, arguments.out.absolute()
    folders = [out, *([arguments.packages.absolute()] if arguments.packages else [])]

    problems = list(refusals(version, folders))
    if problems:
        sys.exit("\n".join(f"release: {problem}" for problem in problems))
    archive = source_archive(version)
    digest = hashlib.sha256(archive).hexdigest()
    bill = sbom.document(ROOT, version, int(git("log", "-1", "--format=%ct")), digest)

    out.mkdir(parents=True, exist_ok=True)
    (out / f"calpe-{version}.tar.gz").write_bytes(archive)
    (out / f"calpe-{version}.cdx.json").write_text(bill, encoding="utf-8")
    if arguments.packages:
        build_packages(version, folders[1], out)
    write_checksums(out)
    for path in sorted(out.iterdir()):
        print(f"{path.stat().st_size:9d} bytes  {path.name}")
    print(f"release: {version} is in {out}; check it with sha256sum -c SHA256SUMS")


if __name__ == "__main__":
    main()
