"""Content of the site: pages of the repository, API pages, and sources that pages link to."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from environment.docs_site.modules import Module, api_modules, children, module_name
from environment.docs_site.tree import README, markdown_pages

FIRST = ("concepts", "scenarios")  # of the guide; the rest by name
PICTURES = (".png", ".svg", ".jpg")
FENCE = r"^(?P<fence>```+)[^\n]*\n.*?^(?P=fence)"
LINK = r"(?<=\]\()(?P<link>[^)#\s:]+)"
CODE = r"(?<![\[`])`(?P<file>[\w/]+\.py)(?::(?P<name>[\w.]+))?`(?!`)"  # `terrain/soil_law.py:SoilLaw.record`
REFERENCE = re.compile(f"{FENCE}|{LINK}|{CODE}", re.MULTILINE | re.DOTALL)


class SiteMap:
    """Maps paths of the repository to pages of the site; a page has the same path in both."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.pages = markdown_pages(root)
        self.modules = api_modules(root)

    @cached_property
    def linked(self) -> set[str]:
        """Files and folders of the repository that pages link to and that are not pages themselves."""
        targets = (target for page in self.pages for target in self._targets(page))
        return {target for target in targets if target not in self.pages and (self.root / target).exists()}

    def pictures(self) -> list[str]:
        return sorted(target for target in self.linked if target.endswith(PICTURES))

    def sources(self) -> list[str]:
        """Linked files and folders that are shown as a page of source text."""
        return sorted(target for target in self.linked if self.page_of(target) == source_page(target))

    def page_of(self, target: str) -> str:
        """The page or picture of the site that stands for a path of the repository."""
        module = self.modules.get(module_name(target)) if target.endswith(".py") else None
        if target in self.pages or target.endswith(PICTURES):
            return target
        if posixpath.join(target, README) in self.pages:
            return posixpath.join(target, README)
        return module.page if module else source_page(target)

    def with_site_links(self, page: str, text: str) -> str:
        """The text of a page with links to sources turned into links to the pages that show them."""

        def replaced(match: re.Match[str]) -> str:
            if match["link"]:
                target = _resolved(page, match["link"])
                return _relative(page, self.page_of(target)) if target in self.linked else match["link"]
            return self._code_link(page, match) if match["file"] else match[0]

        return REFERENCE.sub(replaced, text)

    def navigation(self) -> list[dict[str, Any]]:
        """The tree of pages in the form of `nav` in mkdocs.yml."""
        top = [page for page in self.pages if "/" not in page and page != README]
        rooms = [page for page in self.pages if "/" in page and page.endswith(f"/{README}")]
        guide = [page for page in self.pages if page not in (README, *top, *rooms)]
        return [
            {"Home": README},
            {"Guide": sorted(guide, key=_guide_order)},
            {"Rooms": [{posixpath.dirname(page): page} for page in rooms]},
            {"API": [self._branch(module) for module in self.modules.values() if "." not in module.name]},
            {"Project": top},
        ]

    def _branch(self, module: Module) -> dict[str, Any]:
        title = module.name.rpartition(".")[2]
        if not module.is_package:
            return {title: module.page}
        return {title: [module.page, *(self._branch(child) for child in children(module, self.modules))]}

    def _targets(self, page: str) -> Iterator[str]:
        for match in REFERENCE.finditer((self.root / page).read_text()):
            if match["link"]:
                yield _resolved(page, match["link"])

    def _code_link(self, page: str, match: re.Match[str]) -> str:
        module = self.modules.get(module_name(match["file"]))
        if module is None:
            return match[0]
        if match["name"] in module.names:
            return f"[{match[0]}][{module.name}.{match['name']}]"
        return f"[{match[0]}]({_relative(page, module.page)})"


def source_page(target: str) -> str:
    return f"source/{target}.md"


def _resolved(page: str, link: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), link))


def _relative(page: str, target: str) -> str:
    return posixpath.relpath(target, posixpath.dirname(page) or ".")


def _guide_order(page: str) -> tuple[int, str]:
    name = Path(page).stem
    return (FIRST.index(name) if name in FIRST else len(FIRST), name)
