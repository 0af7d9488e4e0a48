# SPDX-License-Identifier: Apache-2.0
"""The allowed includes between directories. tidy.py checks the code against this table, and
tools/site/folders.py draws it (ARCHITECTURE.md).

A directory that is not listed belongs to the nearest listed one above it. All code may include the
public headers, base/ and its own directory. An entry includes the directories below it. The table
must not have a cycle; tidy.py checks this.
"""

CORE = {
    "src/base": [],
    "src/gf": [],
    "src/code": ["gf"],
    "src/plan": ["gf", "code"],
    "src/ir": ["gf"],
    "src/opt": ["ir"],
    "src/emit": ["gf", "ir"],
    "src/kernel_cache": ["ir"],
    "src/backend": ["gf", "ir", "opt", "emit", "kernel_cache"],
    "src/engine/run": ["code", "backend"],
    "src/engine/devices": ["ir", "backend", "engine/run"],
    "src/engine": ["gf", "code", "plan", "ir", "opt", "backend", "engine/run", "engine/devices"],
    "src/capi": [],
    "src/durability": [],
    "src/reram": ["gf"],
    "src/reram/device": ["gf", "ir", "backend", "reram"],
}

STORE = {
    "src/store/io": [],
    "src/store/format": [],
    "src/store/identify": [],
    "src/store/tree": ["store/io", "store/format"],
    "src/store/find": ["store/io", "store/format"],
    "src/store/read": ["store/io", "store/format", "store/tree", "store/find"],
    "src/store/write": ["store/io", "store/format", "store/tree", "store/find", "store/read"],
    "src/store/repair": ["store/io", "store/format", "store/tree", "store/find", "store/read"],
    "src/store/change": [
        "store/io", "store/format", "store/tree", "store/find", "store/read", "store/write",
        "store/repair",
    ],
    "src/ceph": ["store/io", "store/identify"],
}

ARRAY = {
    "src/array/format": ["store/format"],
    "src/array/members": ["array/format", "store/io"],
    "src/array/state": ["array/format"],
    "src/array/core": ["array/format", "array/state", "store/format"],
    "src/array": ["array/format", "array/members", "array/state", "array/core", "store/format"],
    "src/array/service": ["array", "store/format"],
}

REMOTE = {
    "src/remote/place": ["store/io"],
    "src/remote/format": ["store/io", "store/format"],
    "src/remote/set": ["store", "remote/place", "remote/format"],
}

COMMAND = {
    "tools/calpe/cli": ["backend"],
    "tools/calpe/charts": [],
    "tools/calpe/files": ["calpe/cli", "store"],
    "tools/calpe/array": ["calpe/cli", "array"],
    "tools/calpe/remote": ["calpe/cli", "calpe/files", "store", "remote"],
    "tools/calpe/ceph": ["calpe/cli", "calpe/files", "ceph"],
    "tools/calpe/codes": ["calpe/cli"],
    "tools/calpe/equations": [
        "calpe/cli", "calpe/codes", "ir", "opt", "emit", "kernel_cache", "backend",
    ],
    "tools/calpe/predict": ["calpe/cli", "ir", "emit", "backend"],
    "tools/calpe/devices": ["calpe/cli", "calpe/predict"],
    "tools/calpe/bench": [
        "calpe/cli", "calpe/devices", "calpe/equations", "calpe/predict", "bench", "ir", "emit",
    ],
    "tools/calpe/report": ["calpe/cli", "calpe/charts"],
    "tools/calpe/durability": ["calpe/cli", "calpe/charts", "durability"],
    "tools/calpe/reram": [
        "calpe/cli", "calpe/charts", "calpe/codes", "bench", "gf", "ir", "reram", "backend",
    ],
    "tools/calpe": ["calpe", "reram/device"],  # main.cpp
}

OTHERS = {
    "bench": [],
    "bench/disks": ["array"],
    "plugins": [],
    "python": ["durability", "ir", "opt", "emit"],
}

LAYERS = {**CORE, **STORE, **ARRAY, **REMOTE, **COMMAND, **OTHERS}

# Declares every verb for main.cpp; verbs are defined in the directories below.
VERBS = "calpe/verbs.hpp"


def include_name(layer):
    """The include prefix of a layer: store/io for src/store/io."""
    return layer.removeprefix("src/").removeprefix("tools/")


def layer_of(path):
    """The innermost layer that contains a path, or None."""
    folder = path.rsplit("/", 1)[0]
    while folder and folder not in LAYERS:
        folder = folder.rpartition("/")[0]
    return folder or None


def layer_of_include(target):
    """The layer of "store/io/names.hpp", or None."""
    return next((layer for prefix in ("src/", "tools/", "")
                 for layer in [layer_of(prefix + target)]
                 if layer and include_name(layer).split("/")[0] == target.split("/")[0]), None)


def may_include(layer, target):
    other = layer_of_include(target)
    if other is None or target == VERBS:
        return other == layer or target == VERBS
    name = include_name(other)
    return other in (layer, "src/base") or any(
        name == allowed or name.startswith(allowed + "/") for allowed in LAYERS[layer])


def circles():
    """Yields layers that may include themselves through others."""
    def next_of(layer):
        return [other for other in LAYERS if other != layer and any(
            include_name(other) == allowed or include_name(other).startswith(allowed + "/")
            for allowed in LAYERS[layer])]

    for start in LAYERS:
        waiting, seen = next_of(start), set()
        while waiting:
            layer = waiting.pop()
            if layer == start:
                yield start
                break
            if layer not in seen:
                seen.add(layer)
                waiting += next_of(layer)
