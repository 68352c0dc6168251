"""What `settlement` is called in PostgreSQL."""

from typing import Final

SCHEMA: Final = "settlement"
"""Also the channel on which changes of accounts are hinted."""
ROLE: Final = "kafeneio_settlement"
"""The role of the database that may add to the ledger and change nothing of it."""
