# SPDX-License-Identifier: Apache-2.0
"""The software bill of materials of a release, in CycloneDX 1.5. Used by release.py.

It lists the libraries that the build compiles in or links: the Build-Depends of
packaging/debian/control without the build tools. Versions are those of the packages on this
machine. The C and C++ run-time libraries of the compiler are not listed.
"""
import datetime
import json
import pathlib
import re
import subprocess
import typing
import urllib.parse
import uuid


class Library(typing.NamedTuple):
    name: str
    cmake: str  # name for find_package or pkg_check_modules; empty if found by its header
    use: str  # shared or header
    licence: str  # an SPDX expression


LIBRARIES = {
    "libasmjit-dev": Library("asmjit", "asmjit", "shared", "Zlib"),
    "libblkid-dev": Library("libblkid", "blkid", "shared", "LGPL-2.1-or-later"),
    "libcli11-dev": Library("CLI11", "CLI11", "header", "BSD-3-Clause"),
    "libcurl4-openssl-dev": Library("libcurl", "libcurl", "shared", "curl"),
    "libfmt-dev": Library("fmt", "fmt", "shared", "MIT"),
    "librados-dev": Library("librados", "", "header", "LGPL-2.1-only"),
    "libradospp-dev": Library("libradospp", "", "header", "LGPL-2.1-only"),
    "libssl-dev": Library("libcrypto", "OpenSSL", "shared", "Apache-2.0"),
    "liburing-dev": Library("liburing", "liburing", "shared", "LGPL-2.1-or-later OR MIT"),
    "libvulkan-dev": Library("Vulkan-Headers", "", "header", "Apache-2.0"),
    "libxxhash-dev": Library("xxHash", "xxHash", "header", "BSD-2-Clause"),
    "nbdkit-plugin-dev": Library("nbdkit", "", "header", "BSD-3-Clause"),
    "nlohmann-json3-dev": Library("nlohmann-json", "nlohmann_json", "header", "MIT"),
    "pybind11-dev": Library("pybind11", "pybind11", "header", "BSD-3-Clause"),
    "python3-dev": Library("Python", "Python", "header", "PSF-2.0"),
}
BUILD_TOOLS = {"cmake", "debhelper-compat", "dh-sequence-python3", "ninja-build", "pkgconf"}
# Namespace of the serial number, which must be equal for equal releases.
NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "calpe/packaging/sbom.py")


class UnknownPackage(Exception):
    pass


def build_depends(control):
    """The names in Build-Depends of a debian/control, without versions and architectures."""
    field = re.search(r"^Build-Depends:(.*?)(?=^\S|^$|\Z)", control, re.MULTILINE | re.DOTALL)
    entries = field[1].split(",") if field else []
    return sorted(re.match(r"[a-z0-9.+-]+", entry.strip())[0] for entry in entries
                  if entry.strip())


def linked_packages(root):
    """Packages of the libraries; raises UnknownPackage if LIBRARIES lacks one."""
    control = pathlib.Path(root, "packaging/debian/control").read_text(encoding="utf-8")
    packages = [name for name in build_depends(control) if name not in BUILD_TOOLS]
    unknown = [name for name in packages if name not in LIBRARIES]
    if unknown:
        raise UnknownPackage(f"packaging/debian/control needs {', '.join(unknown)}; add it to "
                             "LIBRARIES or BUILD_TOOLS in packaging/sbom.py")
    return packages


def installed(package):
    """(version, architecture) of an installed Debian package, or None."""
    query = ["dpkg-query", "--show", "--showformat", "${Status}\t${Version}\t${Architecture}\n",
             package]
    try:
        found = subprocess.run(query, capture_output=True, text=True, check=False).stdout
    except FileNotFoundError:
        return None
    for line in found.splitlines():
        status, version, architecture = line.split("\t")
        if status == "install ok installed":
            return version, architecture
    return None


def component(package, find):
    library = LIBRARIES[package]
    entry = {"type": "library", "bom-ref": package, "name": library.name}
    found = find(package)
    if found:
        version, architecture = found
        entry["version"] = version
    entry["licenses"] = [{"expression": library.licence}]
    if found:
        entry["purl"] = (f"pkg:deb/debian/{package}@{urllib.parse.quote(version, safe='.-~_')}"
                         f"?arch={architecture}")
    entry["properties"] = [{"name": "calpe:use", "value": library.use}]
    return entry


def document(root, version, seconds, archive_sha256, find=installed):
    """The SBOM as text. `seconds` is the time of the commit, so the result is reproducible."""
    components = [component(package, find) for package in linked_packages(root)]
    identity = json.dumps([archive_sha256, components], sort_keys=True)
    moment = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    bill = {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": uuid.uuid5(NAMESPACE, identity).urn,
        "version": 1,
        "metadata": {
            "timestamp": moment.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "lifecycles": [{"phase": "build"}],
            "tools": {"components": [{"type": "application", "name": "packaging/release.py"}]},
            "component": {
                "type": "library",
                "bom-ref": "calpe",
                "name": "calpe",
                "version": version,
                "hashes": [{"alg": "SHA-256", "content": archive_sha256}],
                "licenses": [{"license": {"id": "Apache-2.0"}}],
                "purl": f"pkg:generic/calpe@{version}",
            },
        },
        "components": components,
        "dependencies": [{"ref": "calpe", "dependsOn": [entry["bom-ref"] for entry in components]}],
    }
    return json.dumps(bill, indent=2) + "\n"
