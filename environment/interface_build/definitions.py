"""Content of an interface package folder: package.xml, msg/*.msg, srv/*.srv and action/*.action."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

KINDS = ("msg", "srv", "action")  # names of folders, and endings of their files


@dataclass(frozen=True)
class InterfacePackage:
    """An interface package in source form."""

    folder: Path
    name: str
    version: str
    description: str
    license: str
    run_dependencies: tuple[str, ...]
    interfaces: tuple[str, ...]  # "msg/TFMessage.msg", sorted within each kind

    @classmethod
    def read(cls, folder: Path) -> InterfacePackage:
        manifest = ElementTree.parse(folder / "package.xml").getroot()
        return cls(
            folder=folder.resolve(),
            name=_text(manifest, "name"),
            version=_text(manifest, "version"),
            description=_text(manifest, "description"),
            license=_text(manifest, "license"),
            run_dependencies=tuple(
                (element.text or "").strip()
                for element in manifest
                if element.tag in ("depend", "exec_depend", "run_depend")
            ),
            interfaces=tuple(
                str(path.relative_to(folder)) for kind in KINDS for path in sorted(folder.glob(f"{kind}/*.{kind}"))
            ),
        )

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of which the package has an interface."""
        return tuple(kind for kind in KINDS if any(name.startswith(f"{kind}/") for name in self.interfaces))


def _text(manifest: ElementTree.Element, tag: str) -> str:
    text = manifest.findtext(tag)
    if not text:
        raise ValueError(f"package.xml has no <{tag}>")
    return text.strip()
