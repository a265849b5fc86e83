"""Makes `environment` importable however pytest was started: it is a tool of the repository, never installed."""

import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]

if str(REPOSITORY) not in sys.path:
    sys.path.insert(0, str(REPOSITORY))
