"""Kafeneio for Python: `House` and its clients, programs that play, and the command `kafeneio`."""

from kafeneio_client.channel import new_id
from kafeneio_client.client import Client, House
from kafeneio_client.errors import KafeneioError, Refused, Unreachable
from kafeneio_client.money import Money

__all__ = ["Client", "House", "KafeneioError", "Money", "Refused", "Unreachable", "new_id"]
