"""Makes the table `audit`, for the migration of each service that brings it. What a migration has
done stays done: a later change of the table is another function.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op


def make(role: str = "") -> None:
    """Make it, with the triggers that keep it as it is. A `role` that may not change the service's
    books may add to it, where there is one.
    """
    op.create_table(
        "audit",
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("operator", sa.Text(), nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False, comment="the id of what was changed"),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("request_id", sa.Uuid(), nullable=False),
        sa.Column("request", sa.Text(), nullable=False, comment="the whole of it, as JSON"),
        sa.Column("hash", sa.LargeBinary(), nullable=False, comment="chains the rows"),
        sa.PrimaryKeyConstraint("number"),
    )
    op.execute(
        """
        CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            RAISE EXCEPTION 'the audit is only ever added to' USING ERRCODE = 'restrict_violation';
        END $$
        """
    )
    op.execute(
        "CREATE TRIGGER unchangeable BEFORE UPDATE OR DELETE OR TRUNCATE ON audit"
        " FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()"
    )
    if role:
        op.execute(
            f"""
            DO $$ BEGIN
                IF EXISTS (SELECT FROM pg_roles WHERE rolname = '{role}') THEN
                    GRANT SELECT, INSERT ON audit TO {role};
                END IF;
            END $$
            """
        )


def drop() -> None:
    """Forget what operators have done."""
    op.drop_table("audit")
    op.execute("DROP FUNCTION refuse_audit_change")
