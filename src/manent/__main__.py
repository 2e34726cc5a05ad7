"""`python -m manent` is the command `manent`."""

import sys

from manent.cli import main

sys.exit(main())
