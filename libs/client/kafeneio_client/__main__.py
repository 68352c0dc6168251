"""`python -m kafeneio_client` is the command `kafeneio`."""

from kafeneio_client.cli.app import main

main()
