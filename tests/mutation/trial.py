# SPDX-License-Identifier: Apache-2.0
"""A copy of the repository, in which bugs are planted, built and tested."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOT_COPIED = shutil.ignore_patterns("build", ".git", "__pycache__")
TEST_SECONDS_MAX = 900
UNIT_TEST_SECONDS_MAX = 300  # a bug may cause an endless loop
UNIT_TEST_BYTES_MAX = 8 << 30  # an endless loop may allocate
THREADS = "label threads"  # all tests of this label
# A bug may signal process -1, which means all processes; a namespace limits it to the test's own.
# The test is not process 1, which would inherit orphans.
ALONE = ["unshare", "--fork", "--pid", "--mount-proc", "--kill-child=SIGKILL",
         "sh", "-c", '"$@"; exit $?', "sh"]
# Targets that a test needs besides its own.
ALSO_BUILT = {"python:texts": ["calpe_command"]}
# A fixed seed, so that survivors are reproducible; no shrinking.
ENVIRONMENT = {**os.environ, "RC_PARAMS": "seed=1 noshrink=1", "CALPE_TEST_SEED": "1",
               "GTEST_FAIL_FAST": "1", "GTEST_BRIEF": "1", "PYTEST_ADDOPTS": "-x"}


class DoesNotCompile(RuntimeError):
    pass


def target_of(test):
    if test == THREADS:
        return "tests_threads"
    return "calpe_" + test.split("/")[0].split(":")[0]


def build(folder, tests):
    """"" on success, otherwise the end of the compiler output."""
    targets = sorted({target for test in tests
                      for target in [target_of(test), *ALSO_BUILT.get(test, [])]})
    done = subprocess.run(["ninja", "-C", folder, *targets], capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stdout[-3000:]


def command_of(folder, test):
    name = test.partition("/")[0]
    ctest = ["ctest", "--test-dir", folder, "--no-tests=error", "--stop-on-failure"]
    if test == THREADS:
        return [*ctest, "-L", "^threads$"]
    if ":" in name:  # ctest sets the environment of a device setup
        return [*ctest, "-R", f"^calpe_{name.replace(':', '_')}$"]
    program = folder / "tests" / target_of(test)
    if not name.startswith("unit_"):
        return [program]
    return ["prlimit", f"--data={UNIT_TEST_BYTES_MAX}", "--core=0", program]


def fails(folder, test):
    with tempfile.TemporaryDirectory() as scratch:  # a killed test leaves its files
        os.chmod(scratch, 0o755)  # some tests continue as another user
        environment = {**ENVIRONMENT, "GTEST_FILTER": test.partition("/")[2] or "*",
                       "TMPDIR": scratch}
        command = [*(ALONE if os.geteuid() == 0 else []), *command_of(folder, test)]
        process = subprocess.Popen(command, env=environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            is_unit = test.startswith("unit_")
            return process.wait(UNIT_TEST_SECONDS_MAX if is_unit else TEST_SECONDS_MAX) != 0
        except subprocess.TimeoutExpired:
            return True
        finally:
            end_session(process)


def end_session(process):
    """Kills a running test and its children."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def noticed_by(path, text, folder, tests):
    """The test that fails if the file at `path` has `text`; "" if none does."""
    original = path.read_text()
    path.write_text(text)
    try:
        trouble = build(folder, tests)
        if trouble:
            raise DoesNotCompile("does not compile:\n" + trouble)
        return next((test for test in tests if fails(folder, test)), "")
    finally:
        path.write_text(original)


def copy(work):
    source = work / "source"
    for path in source.glob("*"):
        if path.name != "build":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    # Use new times, so that objects of an earlier mutation are rebuilt.
    shutil.copytree(ROOT, source, ignore=NOT_COPIED, copy_function=shutil.copy, dirs_exist_ok=True)
    return source


def prepare(source, preset, tests):
    """Builds the copy. Its tests must pass, because a failing one would detect every bug."""
    folder = source / "build" / preset  # a fixed path, for the compiler cache
    # A mutation may cause a warning; the tests must detect it, not the compiler.
    subprocess.run(["cmake", "--preset", preset, "-D", "CALPE_WERROR=OFF", "-B", folder],
                   cwd=source, check=True, stdout=subprocess.DEVNULL)
    trouble = build(folder, tests)
    if trouble:
        sys.exit("the sound copy does not build:\n" + trouble)
    red = [test for test in tests if fails(folder, test)]
    if red:
        sys.exit("fail without any mutation: " + ", ".join(red))
    return folder
