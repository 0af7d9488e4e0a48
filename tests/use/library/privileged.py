#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A setuid program that uses the library ignores the environment variables of the calling user.

Usage: privileged.py PROGRAM LIBRARY SOURCE. PROGRAM is every_backend, LIBRARY is built from
hostile_library.c, SOURCE is the repository. An ordinary user starts the program, which runs as
root. Every variable that the library reads is set to a value that leaves a trace. There must be no
trace, and the output must be that of an empty environment. As a control, the variables work
without setuid."""
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile

USER = 65534  # an ordinary user without files
LITERAL = re.compile(r'"(CALPE_[A-Z0-9_]+)"')
CALL = re.compile(r'\benvironment\w*\(\s*"([A-Z0-9_]+)"')


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def variables_in(source):
    """Every variable that the library names in a string, or passes to base/env.hpp."""
    found = set()
    for folder in ("src", "plugins"):
        for path in sorted((source / folder).rglob("*.[ch]pp")):
            text = path.read_text(encoding="utf-8")
            found |= set(LITERAL.findall(text)) | set(CALL.findall(text))
    return found


def make_script(path, trace):
    path.write_text(f'#!/bin/sh\n: > {trace}\nexec /usr/bin/cc "$@"\n')
    path.chmod(0o755)


class Lab:
    """Directories for traces, writable by everyone, so that a trace needs no privileges."""

    def __init__(self, root, library):
        self.traces = self.folder(root / "traces")
        programs = self.folder(root / "programs")
        for name in ("cc", "gcc", "clang"):
            make_script(programs / name, self.traces / "path_program")
        make_script(programs / "compiler", self.traces / "compiler")
        # Used only if they belong to the effective user and no other user may write to them.
        self.private = [self.folder(self.traces / name) for name in ("cache", "dump")]
        for folder in self.private:
            folder.chmod(0o700)
        self.hostile = {
            "AWS_PROFILE": "no such profile",
            "CALPE_BACKEND": "no such backend",
            "CALPE_CACHE_DIR": str(self.private[0]),
            "CALPE_CC": str(programs / "compiler"),
            "CALPE_CPU": "scalar",
            "CALPE_CUDA_DRIVER": str(library),
            "CALPE_DEVICE_COMPILE_TIMEOUT_MS": "1",
            "CALPE_DEVICE_COPIES": "1",
            "CALPE_DEVICE_KERNELS": "table",
            "CALPE_DEVICE_TIMEOUT_MS": "1",
            "CALPE_DEVICE_TUNE": "0",
            "CALPE_DUMP": str(self.private[1]),
            "CALPE_LOG": "stderr",
            "CALPE_OPENCL_LIBRARY": str(library),
            "CALPE_PROFILE": "1",
            "CALPE_VULKAN_CPU": "1",
            "CALPE_VULKAN_LIBRARY": str(library),
            "CALPE_WAIT_COMPILE": "1",
            "HOME": str(self.folder(self.traces / "home")),
            "PATH": f"{programs}:/usr/bin:/bin",
            "TMPDIR": str(self.folder(self.traces / "temporary")),
            "XDG_CACHE_HOME": str(self.folder(self.traces / "xdg")),
        }

    @staticmethod
    def folder(path):
        path.mkdir()
        path.chmod(0o777)
        return path

    def run(self, program, variables):
        """Returns the output of the program and the traces that it leaves."""
        before = self.found()
        environment = dict(variables, HOSTILE_TRACE=str(self.traces / "library"))
        done = subprocess.run([program], env=environment, user=USER, group=USER, extra_groups=[],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=300, check=True)
        return done.stdout, self.found() - before

    def found(self):
        return {path.relative_to(self.traces).as_posix() for path in self.traces.rglob("*")}


def check(claim, message):
    if not claim:
        sys.exit(f"wrong: {message}")


def main():
    program, library, source = (pathlib.Path(each) for each in sys.argv[1:])
    if os.geteuid() != 0:
        skip("only root can create a setuid program of root")
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        root.chmod(0o755)
        if os.statvfs(root).f_flag & os.ST_NOSUID:
            skip(f"{root} is on a file system without setuid")
        copy = pathlib.Path(shutil.copy(library, root))
        copy.chmod(0o755)
        lab = Lab(root, copy)
        known = variables_in(source)
        check(known == set(lab.hostile),
              f"this test does not cover {sorted(known - set(lab.hostile))}, or sets variables "
              f"that nothing reads: {sorted(set(lab.hostile) - known)}")
        plain = pathlib.Path(shutil.copy(program, root / "plain"))
        plain.chmod(0o755)
        setuid = pathlib.Path(shutil.copy(program, root / "setuid"))
        setuid.chmod(0o755 | stat.S_ISUID)

        expected, traces = lab.run(setuid, {})
        if "privileged 1, rights of root 1" not in expected:
            skip("setuid has no effect here (no_new_privs, or a container)")
        check(not traces, f"traces without any variable: {sorted(traces)}")
        check(all(f"{name}: refused" in expected for name in ("openmp", "opencl", "vulkan")),
              f"a compiler or a driver in a privileged process:\n{expected}")

        for variable, value in [*lab.hostile.items(), (None, None)]:
            variables = lab.hostile if variable is None else {variable: value}
            output, traces = lab.run(setuid, variables)
            check(not traces, f"{variable or 'all'} left {sorted(traces)}")
            check(output == expected,
                  f"{variable or 'all'} changed the output:\n{output}\nexpected:\n{expected}")

        # Control: without setuid, the variables have an effect.
        for folder in lab.private:
            os.chown(folder, USER, USER)
        output, traces = lab.run(plain, lab.hostile)
        for trace in ("library", "compiler"):
            check(trace in traces, f"the control left no trace {trace}: {sorted(traces)}\n{output}")
        for folder in ("dump/", "cache/"):
            check(any(each.startswith(folder) for each in traces),
                  f"the control wrote nothing into {folder}: {sorted(traces)}\n{output}")
        check("cpu:scalar" in output, f"CALPE_CPU had no effect in the control:\n{output}")
        check("gib_init: 0" not in output, f"CALPE_BACKEND had no effect in the control:\n{output}")
        _, traces = lab.run(plain, {"PATH": lab.hostile["PATH"]})
        check("path_program" in traces, f"PATH had no effect in the control: {sorted(traces)}")
        print(f"{len(lab.hostile)} variables: no effect on a setuid program")


if __name__ == "__main__":
    main()
