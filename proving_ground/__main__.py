"""`python -m proving_ground`: the `proving-ground` command."""

from proving_ground.cli.main import main

raise SystemExit(main())
