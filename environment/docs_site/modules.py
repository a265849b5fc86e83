"""Modules that get an API page, found by reading their source; nothing is imported."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from environment.docs_site.source_text import with_fenced_examples
from environment.docs_site.tree import visible_files

TOOLS = ("benchmark", "environment")  # packages of the repository that users do not import
NODES = "ros"  # folders of thin nodes: docs/topics.md describes what these do


@dataclass(frozen=True)
class Module:
    """A module or package as its source describes it."""

    name: str  # dotted
    is_package: bool
    docstring: str
    names: frozenset[str]  # public classes, functions and methods, dotted from the module
    imports: dict[str, str]  # names taken from other modules, with their full dotted name

    @property
    def summary(self) -> str:
        return self.docstring.partition("\n")[0]

    @property
    def page(self) -> str:
        """Path of its page in the site's sources."""
        path = "api/" + self.name.replace(".", "/")
        return f"{path}/index.md" if self.is_package else f"{path}.md"


def api_modules(root: Path) -> dict[str, Module]:
    """Packages, and modules that have a public class or function, by dotted name."""
    rooms = sorted(path.parent.name for path in root.glob("*/__init__.py") if path.parent.name not in TOOLS)
    files = (file for room in rooms for file in visible_files(root, room))
    sources = [file for file in files if file.endswith(".py") and NODES not in file.split("/")]
    modules = (_read(root, file) for file in sources)
    return {module.name: module for module in sorted(modules, key=lambda module: module.name) if _is_shown(module)}


def module_name(file: str) -> str:
    """Dotted name of a source file: terrain/__init__.py is terrain."""
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def package_page(package: Module, modules: dict[str, Module]) -> str:
    """Markdown of a package: its docstring, names it exports, and a table of its modules."""
    lines = [f"# {package.name}", "", with_fenced_examples(package.docstring), ""]
    exported = {name: _home(full, modules) for name, full in sorted(package.imports.items())}
    shown = [f"[`{name}`][{full}]" for name, full in exported.items() if full is not None]
    if shown:
        lines += [f"`from {package.name} import`: " + ", ".join(shown) + ".", ""]
    lines += ["| module | |", "| --- | --- |"]
    for module in children(package, modules):
        link = module.page.removeprefix(package.page.removesuffix("index.md"))
        lines.append(f"| [{module.name.rpartition('.')[2]}]({link}) | {module.summary.replace('|', chr(92) + '|')} |")
    return "\n".join(lines) + "\n"


def children(package: Module, modules: dict[str, Module]) -> list[Module]:
    """Direct members of a package, modules before packages."""
    members = (module for module in modules.values() if module.name.rpartition(".")[0] == package.name)
    return sorted(members, key=lambda module: (module.is_package, module.name))


def _is_shown(module: Module) -> bool:
    return module.is_package or bool(module.names)


def _read(root: Path, file: str) -> Module:
    tree = ast.parse((root / file).read_text())
    return Module(
        name=module_name(file),
        is_package=file.endswith("/__init__.py"),
        docstring=ast.get_docstring(tree) or "",
        names=frozenset(_public_names(tree, "")),
        imports={
            alias.asname or alias.name: f"{node.module}.{alias.name}"
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        },
    )


def _public_names(parent: ast.Module | ast.ClassDef, prefix: str) -> Iterator[str]:
    for node in parent.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
            yield prefix + node.name
            if isinstance(node, ast.ClassDef):
                yield from _public_names(node, f"{prefix}{node.name}.")


def _home(full: str, modules: dict[str, Module]) -> str | None:
    """The module that defines an exported name; None if that has no page."""
    module, _, name = full.rpartition(".")
    if module not in modules:
        return None
    if name in modules[module].names:
        return full
    further = modules[module].imports.get(name)
    return _home(further, modules) if further else None
