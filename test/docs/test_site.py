"""The documentation site has every page of the repository, and its links lead to pages of the site."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from environment.docs_site.site_map import SiteMap
from environment.docs_site.source_text import with_fenced_examples
from file_tree import write_tree

ROOT = Path(__file__).parents[2]
FILES = {
    ".gitignore": "/site/\n",
    ".github/template.md": "",
    "README.md": "[soil](terrain/soil.py) [guide](docs/guide.md#top) [all](config) [room](terrain)",
    "CHANGELOG.md": "",
    "config/soils.yaml": "sand: {}",
    "docs/guide.md": "`terrain/soil.py:Soil.bear` `terrain/soil.py:_press`\n```\n`terrain/soil.py`\n```\n",
    "site/old.md": "",
    "terrain/README.md": "![hills](hills.png) [gone](gone.py)",
    "terrain/__init__.py": '"""Ground."""',
    "terrain/hills.png": "",
    "terrain/kernels.py": "def _press(): ...",
    "terrain/soil.py": "class Soil:\n    def bear(self): ...",
}


@pytest.fixture
def site(tmp_path: Path) -> SiteMap:
    """A small repository as a site."""
    return SiteMap(write_tree(tmp_path, FILES))


def leaves(nav: Any) -> Iterator[str]:
    """Pages of a navigation tree."""
    if isinstance(nav, str):
        yield nav
    else:
        for item in nav.values() if isinstance(nav, dict) else nav:
            yield from leaves(item)


def test_navigation_has_each_page_and_public_module_once(site: SiteMap) -> None:
    assert sorted(leaves(site.navigation())) == [
        "CHANGELOG.md", "README.md", "api/terrain/index.md", "api/terrain/soil.md", "docs/guide.md",
        "terrain/README.md",
    ]  # fmt: skip


def test_links_lead_to_api_pages_source_pages_and_rooms(site: SiteMap) -> None:
    text = site.with_site_links("README.md", FILES["README.md"])

    assert text == (
        "[soil](api/terrain/soil.md) [guide](docs/guide.md#top) [all](source/config.md) [room](terrain/README.md)"
    )
    assert site.sources() == ["config"]
    assert site.pictures() == ["terrain/hills.png"]


def test_a_file_and_name_in_code_leads_to_the_api_but_not_within_a_code_block(site: SiteMap) -> None:
    text = site.with_site_links("docs/guide.md", FILES["docs/guide.md"])

    assert text == (
        "[`terrain/soil.py:Soil.bear`][terrain.soil.Soil.bear] [`terrain/soil.py:_press`](../api/terrain/soil.md)\n"
        "```\n`terrain/soil.py`\n```\n"
    )


def test_a_link_to_nothing_is_left_for_mkdocs_to_report(site: SiteMap) -> None:
    assert site.with_site_links("terrain/README.md", "[gone](gone.py)") == "[gone](gone.py)"


def test_pages_of_this_repository_are_in_the_navigation_and_sources_exist() -> None:
    site = SiteMap(ROOT)

    assert {"README.md", "docs/architecture.md", "terrain/README.md", "proving_ground/cli/README.md"} <= set(site.pages)
    assert set(site.pages) <= set(leaves(site.navigation()))
    assert "api/proving_ground/scenarios/simulation.md" in set(leaves(site.navigation()))
    assert "config/pads" in site.sources()


def test_doctests_become_code_blocks() -> None:
    assert with_fenced_examples("Sum.\n\n>>> 1 + 1\n2\n\nMore.") == "Sum.\n\n```pycon\n>>> 1 + 1\n2\n```\n\nMore."
