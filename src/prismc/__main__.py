"""`python -m prismc`."""

from __future__ import annotations

import sys

from prismc.cli.entry import main

if __name__ == "__main__":
    sys.exit(main())
