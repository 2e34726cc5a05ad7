"""`python -m manent` is the command `manent`."""

from manent.cli import main

main()
