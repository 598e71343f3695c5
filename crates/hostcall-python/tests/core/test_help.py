"""``help()`` of every public name says what it is, what it takes and what it raises."""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import pydoc
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hostcall as hc

#: Modules with public names. Those for other packages are read, not imported: the packages may be missing.
MODULES = {"hostcall": hc, "hostcall.sim": hc.sim, "hostcall.types": hc.types}
FACES = ["cuda_core", "cupy", "numba", "torch", "triton", "warp"]


def members(name: str, thing: type[Any]) -> Iterator[tuple[str, Any]]:
    """The public members of a class that this package defines: its own, and those of classes above it."""
    for above in thing.__mro__:
        if above.__module__.split(".")[0] != "hostcall":
            continue
        for member, value in vars(above).items():
            described = inspect.isroutine(value) or inspect.isdatadescriptor(value) or isinstance(value, (staticmethod, classmethod))
            if described and not member.startswith("_"):
                yield f"{name}.{member}", value


def public() -> Iterator[tuple[str, Any]]:
    """Every public name of the package with what it names, and the members of classes."""
    for module, contents in MODULES.items():
        names = getattr(contents, "__all__", None)
        if names is None:
            own = (name for name, value in vars(contents).items() if getattr(value, "__module__", "").split(".")[0] == "hostcall")
            names = [name for name in own if not name.startswith("_")]
        for name in names:
            thing = getattr(contents, name)
            yield f"{module}.{name}", thing
            if inspect.isclass(thing):
                yield from members(f"{module}.{name}", thing)


def raised(tree: ast.AST) -> set[str]:
    """Errors that the code raises by their names."""
    raises = (node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise))
    called = (exc.func if isinstance(exc, ast.Call) else exc for exc in raises)
    names = {name.id for name in called if isinstance(name, ast.Name) and name.id[0].isupper()}
    # What a class leaves to those below it.
    return names - {"NotImplementedError"}


def lacks(name: str, doc: str | None, words: Iterator[str] | list[str]) -> list[str]:
    """What the text does not say."""
    if not doc:
        return [f"{name}: nothing"]
    return [f"{name}: nothing of `{word}`" for word in words if word not in doc]


def of_function(name: str, function: Any, doc: str | None) -> list[str]:
    """What the text of a function, or of the class that it makes, does not say of what it takes and raises."""
    parameters = [parameter for parameter in inspect.signature(function).parameters if parameter not in ("self", "cls")]
    try:
        errors = raised(ast.parse(textwrap.dedent(inspect.getsource(function))))
    except TypeError:
        errors = set()  # of the extension module
    return lacks(name, doc, [*parameters, *errors])


def of_thing(name: str, thing: Any) -> list[str]:
    """What ``help`` does not say."""
    if inspect.isdatadescriptor(thing) or isinstance(thing, functools.cached_property):
        return lacks(name, inspect.getdoc(thing), [])
    if isinstance(thing, (staticmethod, classmethod)):
        thing = thing.__func__
    if inspect.ismodule(thing):
        return lacks(name, thing.__doc__, [])
    if inspect.isclass(thing):
        doc = vars(thing).get("__doc__")
        if dataclasses.is_dataclass(thing):
            return lacks(name, doc, [field.name for field in dataclasses.fields(thing) if not field.name.startswith("_")])
        # Who else makes one is no user's business: `Server.streams` makes `Streams`.
        if thing.__name__ in MADE_BY_OTHERS or "__init__" not in vars(thing):
            return lacks(name, doc, [])
        return of_function(name, thing.__init__, doc)
    if inspect.isroutine(thing):
        return of_function(name, thing, inspect.getdoc(thing))
    # A type of the wire: `help` shows the text of its class, unless it has one of its own.
    return lacks(name, thing.__doc__ if thing.__doc__ != type(thing).__doc__ else None, [])


#: Classes whose objects the package makes.
MADE_BY_OTHERS = {"KernelFailed", "ProgramFailed", "Service", "Stats", "Stream", "Streams", "Out", "Type"}


def test_every_public_name_says_what_it_is_what_it_takes_and_what_it_raises() -> None:
    seen = dict(public())
    assert len(seen) > 120 and {"hostcall.Server.wait", "hostcall.f32", "hostcall.RecordBatch.num_rows"} <= seen.keys()
    found = [problem for name, thing in seen.items() for problem in of_thing(name, thing)]
    assert not found, "\n".join(found)


def test_modules_for_other_packages_say_the_same() -> None:
    found = []
    for face in FACES:
        tree = ast.parse((Path(hc.__file__).parent / f"{face}.py").read_text())
        found += lacks(f"hostcall.{face}", ast.get_docstring(tree), [])
        functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]
        assert functions, face
        for function in functions:
            parameters = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
            further = [further for further in (function.args.vararg, function.args.kwarg) if further is not None]
            words = [parameter.arg for parameter in (*parameters, *further)] + sorted(raised(function))
            found += lacks(f"hostcall.{face}.{function.name}", ast.get_docstring(function), words)
    assert not found, "\n".join(found)


def test_help_shows_these_texts() -> None:
    def shown(thing: Any) -> str:
        return pydoc.plain(pydoc.render_doc(thing))

    assert "32 bits" in shown(hc.f32) and "Option<T>" in shown(hc.option) and "hostcall.struct" in shown(hc.struct("Pair", "<f4, <f4"))
    assert "Raises ``KernelFailed``" in shown(hc.Server.wait)

    @hc.service
    def documented(x: hc.u32) -> None:
        """Of the user's."""

    assert "Of the user's." in shown(documented)
