"""What `matchmaking` is called in PostgreSQL."""

from typing import Final

SCHEMA: Final = "matchmaking"
"""Also the channel on which changes of tickets and tables are notified."""
