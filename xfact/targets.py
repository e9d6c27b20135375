"""The classes that a config names by `_target_`: read from their source without an import, and had only if trusted.

A class of the suite's own may be named by any file. One from elsewhere is imported only if this command, or the caller,
names it: a run's folder may come from a stranger.
"""

import ast
import hashlib
import importlib
import inspect
import os
import sys
from collections.abc import Collection, Iterator
from contextlib import nullcontext, suppress
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

from xfact.errors import DataError, UserError


def is_own(target: str) -> bool:
    """Whether a class is of the suite."""
    return target.startswith("xfact.")


def load_class(target: str, base: type | tuple[type, ...], named: Collection[str]) -> Any:
    """The class of a _target_, one of `base`'s; DataError, with nothing imported, if nobody here named it."""
    if not (is_own(target) or target in named):
        raise DataError(
            f"{target}: this class is not of the suite, and its code runs only if you name it: choose its model= or "
            f"split= from your --config-dir, set model._target_={target}, or xfact.load(folder, model={target!r})"
        )
    module, _, name = target.rpartition(".")
    try:
        class_node(target)
        cls = getattr(importlib.import_module(module), name)
    except (UserError, ImportError, AttributeError, ValueError) as error:
        raise DataError(f"{target}: the class cannot be had ({error})") from None
    if not (inspect.isclass(cls) and issubclass(cls, base)):
        kinds = " or ".join(kind.__name__ for kind in (base if isinstance(base, tuple) else (base,)))
        raise DataError(f"{target}: not derived from {kinds}")
    return cls


def load(target: str, place: str) -> Any:
    """What `package.module.name` is, which this command itself names at `place`; UserError if it cannot be had."""
    module, _, name = target.rpartition(".")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError, SyntaxError) as error:
        raise UserError(f"{place}: {target} cannot be had ({error})") from None


def module_file(module: str) -> Path | None:
    """The file of a module, found without importing its parents; None for a package without __init__.py."""
    path: list[str] | None = None
    file, name = None, ""
    for part in module.split("."):
        name = f"{name}.{part}".lstrip(".")
        spec = module_spec(name, path) if part else None
        folders = [str(Path(entry, part)) for entry in (sys.path if path is None else path) if part]
        if spec is not None and spec.origin is not None:
            file, path = Path(spec.origin), spec.submodule_search_locations or []
        elif any(map(os.path.isdir, folders)):
            file, path = None, folders
        else:
            raise UserError(f"_target_: there is no module {module!r}")
    return file


def module_spec(name: str, path: list[str] | None) -> ModuleSpec | None:
    """Python's own search for one part of a module's name."""
    with suppress(KeyError, OSError):  # a folder without __init__.py in another asks for its imported parent
        finders = (finder.find_spec for finder in sys.meta_path if hasattr(finder, "find_spec"))
        return next((spec for find in finders if (spec := find(name, path)) is not None), None)
    return None


def class_node(target: str) -> ast.ClassDef:
    """The source of the class `package.module.Class`."""
    module, _, name = target.rpartition(".")
    file = module_file(module)
    if file is None:
        raise UserError(f"_target_: {module} is a folder, no module")
    if file.suffix != ".py":
        raise UserError(f"_target_: {module} is not written in Python")
    for node in parsed(file).body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return node
    raise UserError(f"_target_: {module} has no class {name!r}")


def parsed(file: Path) -> ast.Module:
    """The syntax of a source file."""
    try:
        return ast.parse(file.read_bytes(), str(file))
    except (OSError, SyntaxError, ValueError) as error:
        raise UserError(f"{file}: cannot be read as Python ({error})") from None


def lineage(target: str) -> Iterator[ast.ClassDef]:
    """The sources of a class and of the bases whose sources are found, nearest first."""
    waiting, seen = [target], set[str]()
    while waiting:
        name = waiting.pop(0)
        if name in seen:
            continue
        seen.add(name)
        with suppress(UserError) if name != target else nullcontext():
            node = class_node(name)
            yield node
            waiting += bases(node, name.rpartition(".")[0])


def bases(node: ast.ClassDef, module: str) -> list[str]:
    """The whole names of a class's bases, as its module imports or defines them."""
    file = module_file(module)
    assert file is not None
    places = {
        alias.asname or alias.name: f"{imported_from(item, module, file)}.{alias.name}"
        for item in parsed(file).body
        if isinstance(item, ast.ImportFrom)
        for alias in item.names
    }
    names = [ast.unparse(base) for base in node.bases]
    return [name if "." in name else places.get(name, f"{module}.{name}") for name in names]


def constructor_arguments(target: str) -> dict[str, tuple[str | None, Any]]:
    """Argument -> (annotation, default) of a class's or its nearest base's constructor, from its source; `...` is no
    default."""
    for node in lineage(target):
        for item in node.body:
            if isinstance(item, ast.FunctionDef) and item.name == "__init__":
                return _arguments(item.args)
    raise UserError(f"_target_: {target} needs an __init__, its own or a base's, that lists its arguments")


def _arguments(node: ast.arguments) -> dict[str, tuple[str | None, Any]]:
    def default(value: ast.expr | None) -> Any:
        if value is None:
            return ...
        try:
            return ast.literal_eval(value)
        except ValueError:
            return ast.unparse(value)

    positional = node.posonlyargs + node.args
    missing: list[ast.expr | None] = [None] * (len(positional) - len(node.defaults))
    pairs = list(zip(positional, missing + list(node.defaults), strict=True))
    pairs += list(zip(node.kwonlyargs, node.kw_defaults, strict=True))
    return {
        arg.arg: (ast.unparse(arg.annotation) if arg.annotation else None, default(value))
        for arg, value in pairs
        if arg.arg != "self"
    }


def class_constant(target: str, name: str) -> Any:
    """A constant that stands in the source of a class or its nearest base that has it; None if none does."""
    for node in lineage(target):
        for item in node.body:
            places = item.targets if isinstance(item, ast.Assign) else [getattr(item, "target", None)]
            value = getattr(item, "value", None)
            if value is not None and any(isinstance(place, ast.Name) and place.id == name for place in places):
                return ast.literal_eval(value)
    return None


def imported_from(node: ast.ImportFrom, module: str, file: Path | None) -> str:
    """The whole name of the module of a `from ... import`."""
    if not node.level:
        return node.module or ""
    package = module.split(".")
    if file is None or file.name != "__init__.py":
        package.pop()
    return ".".join([*package[: len(package) - node.level + 1], *([node.module] if node.module else [])])


def code_version(target: str) -> str:
    """A digest of the sources of a class that is not of the suite: its module, and what that imports of its folder."""
    module = target.rpartition(".")[0]
    first = module_file(module)
    assert first is not None
    root = first.parents[module.count(".") + (first.name == "__init__.py")]
    if "site-packages" in root.parts:
        root = root / module.partition(".")[0]
    files: set[Path] = {first}
    waiting, seen = [module], set()
    while waiting:
        name = waiting.pop()
        if name in seen or is_own(f"{name}."):
            continue
        seen.add(name)
        waiting += [name.rpartition(".")[0]] if "." in name else []
        with suppress(UserError):
            file = module_file(name)
            if file is None or file.suffix != ".py" or not is_below(file, root):
                continue
            files.add(file)
            waiting += imports(file, name)
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(f"{os.path.relpath(file, root)}\0".encode() + file.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


def is_below(file: Path, root: Path) -> bool:
    """Whether a file is of a folder, and not of an environment installed in it."""
    return file.is_relative_to(root) and "site-packages" not in file.relative_to(root).parts


def imports(file: Path, module: str) -> Iterator[str]:
    """The modules that a source file may import."""
    for node in ast.walk(parsed(file)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            whole = imported_from(node, module, file)
            yield whole
            yield from (f"{whole}.{alias.name}" for alias in node.names)
