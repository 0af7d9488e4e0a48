#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the install components: install_components_test.py <build directory> <scratch directory>

runtime, dev, tools and plugins have no file in common. Together they contain the whole installation
and the plugins in their hosts' directories, which are installed only on request.
"""
import pathlib
import re
import shutil
import subprocess
import sys

COMPONENTS = ("runtime", "dev", "tools", "plugins")
HOSTS = ("ceph", "nbdkit")


def installed(build, prefix, *options):
    subprocess.run(["cmake", "--install", build, "--prefix", prefix, *options], check=True,
                   stdout=subprocess.DEVNULL)
    return {str(path.relative_to(prefix)) for path in prefix.rglob("*")
            if path.is_symlink() or not path.is_dir()}


def faults(whole, hosts, parts):
    """Yields one message per problem with these sets of paths."""
    seen = {}
    for name, files in parts.items():
        for file in sorted(files):
            if file in seen:
                yield f"{file} is in {seen[file]} and in {name}"
            seen[file] = name
    yield from (f"{file} is in no component" for file in sorted((whole | hosts) - set(seen)))
    yield from (f"{file} of {seen[file]} is not in the whole installation"
                for file in sorted(set(seen) - whole - hosts))
    yield from (f"{file} of a host is in the whole installation" for file in sorted(whole & hosts))
    names = {name: {file.rsplit("/", 1)[-1] for file in files} for name, files in parts.items()}
    if any(not re.fullmatch(r"libcalpe\.so\.\d[\d.]*", name) for name in names["runtime"]):
        yield f"runtime has more than the library: {sorted(names['runtime'])}"
    for component, wanted in (("runtime", "libcalpe.so.1"), ("dev", "libcalpe.so"),
                              ("dev", "libcalpe.a"),
                              ("dev", "calpe.h"), ("dev", "calpe.pc")):
        if wanted not in names[component]:
            yield f"{wanted} is not in {component}"


def main():
    build, scratch = sys.argv[1], pathlib.Path(sys.argv[2])
    shutil.rmtree(scratch, ignore_errors=True)
    whole = installed(build, scratch / "whole")
    parts = {name: installed(build, scratch / name, "--component", name) for name in COMPONENTS}
    hosts = set().union(*(installed(build, scratch / name, "--component", name)
                          for name in HOSTS))
    messages = list(faults(whole, hosts, parts))
    # The check must find a file that is missing, and one that is installed twice.
    lost = {**parts, "dev": parts["dev"] - {min(parts["dev"])}}
    twice = {**parts, "tools": parts["tools"] | parts["runtime"]}
    if not list(faults(whole, hosts, lost)) or not list(faults(whole, hosts, twice)):
        messages.append("a lost file or a file in two components is not noticed")
    print("\n".join(messages))
    counts = ", ".join(f"{name} {len(files)}" for name, files in parts.items())
    print(f"install_components: {len(whole)} files, {len(hosts)} of hosts; {counts}")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
