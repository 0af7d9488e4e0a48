# SPDX-License-Identifier: Apache-2.0
"""Runs the examples in docstrings, docs/python.md and docs/tags.md, and the calls of
docs/coming-from.md."""
import doctest
import pathlib
import sys

import calpe

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests/integration"))
import snippets  # noqa: E402
OPTIONS = doctest.ELLIPSIS


def test_docstrings():
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner(optionflags=OPTIONS)
    things = {name: getattr(calpe, name) for name in calpe.__all__}
    parts = {part.__name__: part for part in calpe.Codec.__mro__[1:-1]}  # its base classes
    for name, thing in {"__doc__": calpe, **things, **parts}.items():
        # All examples can use public names directly, as after `from calpe import *`.
        for test in finder.find(thing, name, module=False, globs=dict(vars(calpe))):
            runner.run(test)
    failed, tried = runner.summarize()
    print(f"{tried} examples of docstrings")
    assert tried >= 50 and not failed


def test_every_public_name_has_a_docstring():
    for name in calpe.__all__:
        thing = getattr(calpe, name)
        if callable(thing):
            assert thing.__doc__, name
            assert thing.__module__ == "calpe", name
    for name in dir(calpe.Codec):
        if not name.startswith("_"):
            assert getattr(calpe.Codec, name).__doc__, name


def test_guide():
    failed, count = doctest.testfile(str(ROOT / "docs/python.md"), module_relative=False,
                                     optionflags=OPTIONS)
    print(f"{count} examples of docs/python.md")
    assert count >= 20 and not failed


def test_tags_page():
    failed, count = doctest.testfile(str(ROOT / "docs/tags.md"), module_relative=False)
    assert count >= 8 and not failed


def test_calls_for_users_of_other_libraries():
    text = (ROOT / "docs/coming-from.md").read_text()
    results = {}
    for _, call in snippets.calls(text, "Python"):
        names = {}
        exec(snippets.setup(text, "python"), names)
        results[call] = eval(call, names)
    rebuilt = [result for call, result in results.items() if "rebuild(" in call]
    assert len(results) >= 10 and rebuilt == [names["data"][:1]] * 3
