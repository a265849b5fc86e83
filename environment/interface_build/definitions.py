"""Content of an interface package folder: package.xml and msg/*.msg."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class InterfacePackage:
    """An interface package in source form."""

    folder: Path
    name: str
    version: str
    description: str
    license: str
    run_dependencies: tuple[str, ...]
    messages: tuple[str, ...]  # "msg/TFMessage.msg", sorted

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
            messages=tuple(sorted(str(path.relative_to(folder)) for path in folder.glob("msg/*.msg"))),
        )


def _text(manifest: ElementTree.Element, tag: str) -> str:
    text = manifest.findtext(tag)
    if not text:
        raise ValueError(f"package.xml has no <{tag}>")
    return text.strip()
