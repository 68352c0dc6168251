"""Alembic's environment, shared by all services: `migrations.migrate` hands it a connection and the
tables.
"""

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=context.config.attributes.get("metadata"),
    transaction_per_migration=True,
)
with context.begin_transaction():
    context.run_migrations()
