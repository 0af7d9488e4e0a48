#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes releases from a temporary clone; checks reproducibility, checksums and refusals.

Exits with 77 where there is no Git history to clone. Needs no network and builds nothing.
"""
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "packaging"))
import sbom  # noqa: E402

VERSION = re.search(r"^project\(calpe VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(),
                    re.MULTILINE)[1]
HEADING = f"## [{VERSION}] - 2026-01-01"
# Replaces the real script, which compiles for minutes.
BUILD_DEB = f"""#!/bin/sh
mkdir -p "$1" && echo deb > "$1/calpe_{VERSION}-1_all.deb" && echo x > "$1/calpe_0.0.1-1_all.deb"
"""
# Most of the files; clones without them are fast.
LEFT_OUT = ("bench", "src", "tests")
# Packages that CMake finds but does not link into the product.
NOT_LINKED = {"GTest", "PkgConfig", "Python3", "Threads", "benchmark", "rapidcheck"}


# Replaces the user's settings. In a container another user may own the repository.
SETTINGS = """[safe]
  directory = *
[user]
  name = test
  email = test@calpe.invalid
"""
temporary = tempfile.TemporaryDirectory()
settings = pathlib.Path(temporary.name, "gitconfig")
settings.write_text(SETTINGS)


def environment(**more):
    """The environment without the variables of a Git that runs this test."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**kept, "GIT_CONFIG_GLOBAL": str(settings), "GIT_CONFIG_NOSYSTEM": "1", **more}


def run(*command, umask=-1, **more):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          check=False, env=environment(**more), umask=umask)


def git(folder, *arguments):
    done = run("git", "-C", folder, *arguments)
    if done.returncode != 0:
        raise RuntimeError(f"git {arguments}: {done.stderr}")
    return done.stdout


def make_clone(folder):
    """A clone with the scripts of this work tree and a changelog section for VERSION."""
    done = run("git", "clone", "--quiet", "--local", "--no-tags", "--no-checkout", ROOT, folder)
    if done.returncode != 0:
        print(f"skipped: git clone: {done.stderr.strip()}")
        sys.exit(77)
    git(folder, "reset", "--quiet")
    git(folder, "rm", "--quiet", "-r", "--cached", *LEFT_OUT)
    git(folder, "checkout", ".")
    for name in ("packaging/release.py", "packaging/sbom.py", "packaging/debian/control",
                 "packaging/debian/changelog", "CMakeLists.txt"):
        shutil.copy(ROOT / name, folder / name)
    (folder / "packaging/build-deb.sh").write_text(BUILD_DEB)
    changelog = folder / "CHANGELOG.md"
    changelog.write_text(changelog.read_text() + ("" if HEADING in changelog.read_text() else
                                                  f"\n{HEADING}\n"))
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "test: prepare a release")


class Release(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(temporary.name)
        cls.clone = cls.folder / "clone"
        make_clone(cls.clone)

    def release(self, *arguments, umask=-1, **more):
        return run(sys.executable, "-B", self.clone / "packaging/release.py", *arguments,
                   umask=umask, **more)

    def test_help_has_an_example(self):
        done = self.release("--help")
        self.assertEqual(0, done.returncode)
        self.assertIn("packaging/release.py 0.1.0 build/release-0.1.0", done.stdout)

    def test_same_bytes_twice(self):
        one, two = self.folder / "one", self.folder / "two"
        done = self.release(VERSION, one)
        self.assertEqual(0, done.returncode, done.stderr)
        other = self.folder / "another clone"
        git(self.folder, "clone", "--quiet", "--local", self.clone, other)
        done = run(sys.executable, "-B", other / "packaging/release.py", VERSION, two, "--packages",
                   self.folder / "deb", umask=0o77, TZ="Asia/Tokyo", LC_ALL="C.UTF-8")
        self.assertEqual(0, done.returncode, done.stderr)
        names = {f"calpe-{VERSION}.tar.gz", f"calpe-{VERSION}.cdx.json", "SHA256SUMS"}
        package = f"calpe_{VERSION}-1_all.deb"
        self.assertEqual(names, {path.name for path in one.iterdir()})
        self.assertEqual(names | {package}, {path.name for path in two.iterdir()})
        for name in names - {"SHA256SUMS"}:
            self.assertEqual((one / name).read_bytes(), (two / name).read_bytes(), name)
        self.check_sums(one)
        self.check_sums(two)
        self.check_archive(one / f"calpe-{VERSION}.tar.gz")
        self.check_bill(one)

    def check_sums(self, out):
        lines = (out / "SHA256SUMS").read_text().splitlines()
        listed = dict(reversed(line.split("  ")) for line in lines)
        there = {path.name: hashlib.sha256(path.read_bytes()).hexdigest()
                 for path in out.iterdir() if path.name != "SHA256SUMS"}
        self.assertEqual(there, listed)
        self.assertEqual(sorted(listed), list(listed))

    def check_archive(self, path):
        seconds = int(git(self.clone, "log", "-1", "--format=%ct"))
        tracked = set(git(self.clone, "ls-files", "-z").split("\0")) - {""}
        with tarfile.open(path) as archive:
            members = archive.getmembers()
            self.assertEqual({seconds}, {member.mtime for member in members})
            self.assertEqual({0o644, 0o755},
                             {member.mode for member in members if member.isfile()})
            self.assertEqual({f"calpe-{VERSION}/{name}" for name in tracked},
                             {member.name for member in members if not member.isdir()})
        self.assertEqual(b"\0" * 5, path.read_bytes()[3:8], "gzip stores no name and no time")

    def check_bill(self, out):
        bill = json.loads((out / f"calpe-{VERSION}.cdx.json").read_text())
        archive = (out / f"calpe-{VERSION}.tar.gz").read_bytes()
        self.assertEqual(("CycloneDX", "1.5", 1),
                         (bill["bomFormat"], bill["specVersion"], bill["version"]))
        about = bill["metadata"]["component"]
        self.assertEqual(VERSION, about["version"])
        self.assertEqual(hashlib.sha256(archive).hexdigest(), about["hashes"][0]["content"])
        references = [entry["bom-ref"] for entry in bill["components"]]
        self.assertEqual([{"ref": "calpe", "dependsOn": references}], bill["dependencies"])
        self.assertIn("libxxhash-dev", references)
        self.assertNotIn("cmake", references)
        for entry in bill["components"]:
            found = sbom.installed(entry["bom-ref"])
            self.assertEqual(found and found[0], entry.get("version"))

    def refused(self, words, *arguments):
        done = self.release(*(arguments or (VERSION, self.folder / "refused")))
        self.assertEqual(1, done.returncode, done.stdout)
        self.assertEqual(1, len(done.stderr.splitlines()), done.stderr)
        self.assertIn(words, done.stderr)
        self.assertFalse((self.folder / "refused").exists())

    def with_commit(self, name, old, new):
        """Commits one edit, for the rest of a test."""
        path = self.clone / name
        text = path.read_text()
        self.assertIn(old, text)
        path.write_text(text.replace(old, new))
        git(self.clone, "commit", "--quiet", "--all", "--message", "test: edit")
        self.addCleanup(git, self.clone, "reset", "--quiet", "--hard", "HEAD~1")

    def test_refuses_a_changed_file(self):
        self.addCleanup(git, self.clone, "checkout", "--quiet", ".")
        with open(self.clone / "README.md", "a", encoding="utf-8") as file:
            file.write("more\n")
        self.refused("1 uncommitted changes, such as README.md; commit or remove them")

    def test_refuses_an_untracked_file(self):
        self.addCleanup((self.clone / "tools/new.cpp").unlink)
        (self.clone / "tools/new.cpp").touch()
        self.refused("such as tools/new.cpp")

    def test_refuses_a_version_that_the_changelog_lacks(self):
        self.with_commit("CHANGELOG.md", HEADING, f"## [{VERSION}]")
        self.refused(f"CHANGELOG.md has no section for {VERSION}; add a heading")

    def test_refuses_another_version_than_that_of_cmake(self):
        self.with_commit("CMakeLists.txt", f"project(calpe VERSION {VERSION}",
                         "project(calpe VERSION 9.8.7")
        self.refused(f"the version in CMakeLists.txt is 9.8.7; expected {VERSION}")

    def test_refuses_another_version_than_that_of_the_packages(self):
        self.with_commit("packaging/debian/changelog", f"calpe ({VERSION}-1)", "calpe (9.8.7-1)")
        self.refused(f"the version in packaging/debian/changelog is 9.8.7; expected {VERSION}")

    def test_refuses_what_is_no_version(self):
        self.refused("VERSION is 0.1; expected three numbers", "0.1", self.folder / "refused")

    def test_refuses_directories_that_are_in_use(self):
        self.refused("is not empty; name a new directory", VERSION, self.clone)
        self.refused("is not empty; name a new directory", VERSION, self.folder / "refused",
                     "--packages", self.clone)
        self.assertTrue((self.clone / "README.md").exists())

    def test_fails_without_checksums_when_the_packages_fail(self):
        self.with_commit("packaging/build-deb.sh", "mkdir", "exit 5; mkdir")
        out = self.folder / "failed"
        done = self.release(VERSION, out, "--packages", self.folder / "failed deb")
        self.assertEqual((1, "release: packaging/build-deb.sh failed with exit code 5\n"),
                         (done.returncode, done.stderr))
        self.assertFalse((out / "SHA256SUMS").exists())

    def test_refuses_a_library_that_the_bill_does_not_know(self):
        self.with_commit("packaging/debian/control", " cmake (>= 3.25),",
                         " cmake (>= 3.25),\n libnew-dev [amd64],")
        self.refused("packaging/debian/control needs libnew-dev; add it to LIBRARIES")


class Bill(unittest.TestCase):
    def test_every_library_of_cmake_is_listed(self):
        known = {library.cmake for library in sbom.LIBRARIES.values()}
        files = [ROOT / "CMakeLists.txt", *ROOT.glob("cmake/*.cmake")]
        for folder in ("src", "tools", "plugins", "python", "bench"):
            files += ROOT.glob(f"{folder}/**/CMakeLists.txt")
        found = {name for path in files for name in re.findall(
            r"^\s*(?:find_package|pkg_check_modules)\((\w+)", path.read_text(), re.MULTILINE)}
        self.assertIn("xxHash", found)
        self.assertEqual(set(), found - known - NOT_LINKED)

    def test_every_library_is_one_of_the_packages(self):
        self.assertEqual(sorted(sbom.LIBRARIES), sbom.linked_packages(ROOT))

    def test_a_library_that_is_not_installed_has_no_version(self):
        bill = json.loads(sbom.document(ROOT, "1.2.3", 0, "00", find=lambda package: None))
        self.assertEqual("1970-01-01T00:00:00Z", bill["metadata"]["timestamp"])
        for entry in bill["components"]:
            self.assertFalse({"version", "purl"} & set(entry))

    def test_versions_are_escaped(self):
        entry = sbom.component("libfmt-dev", lambda package: ("1:9.1.0+ds1-2", "amd64"))
        self.assertEqual("pkg:deb/debian/libfmt-dev@1%3A9.1.0%2Bds1-2?arch=amd64", entry["purl"])


if __name__ == "__main__":
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        print("skipped: there is no Git history to clone")
        sys.exit(77)
    unittest.main()
