"""Hooks that MkDocs calls while it builds the site: they add files, make the navigation and mend links."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel

from environment.docs_site.modules import Module, package_page
from environment.docs_site.site_map import SiteMap, source_page
from environment.docs_site.source_text import source_text

_maps: dict[str, SiteMap] = {}  # of the build that runs, by configuration file


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add all pages; each has the path that it has in the repository, so relative links hold."""
    root = Path(config.config_file_path).parent
    site = _maps[config.config_file_path] = SiteMap(root)
    for path in (*site.pages, *site.pictures()):
        files.append(File.generated(config, path, abs_src_path=str(root / path)))
    for module in site.modules.values():
        files.append(File.generated(config, module.page, content=_api_text(module, site)))
    for target in site.sources():
        text = source_text(root, target)
        files.append(File.generated(config, source_page(target), content=text, inclusion=InclusionLevel.NOT_IN_NAV))
    config.nav = site.navigation()
    return files


def on_page_markdown(markdown: str, page: Any, config: MkDocsConfig, files: Files) -> str:
    site = _maps[config.config_file_path]
    uri = page.file.src_uri
    return site.with_site_links(uri, markdown) if uri in site.pages else markdown


def _api_text(module: Module, site: SiteMap) -> str:
    return package_page(module, site.modules) if module.is_package else f"::: {module.name}\n"
