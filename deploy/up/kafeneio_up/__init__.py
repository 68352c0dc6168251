"""The scaled house on one machine: PostgreSQL, NATS, Envoy, and replicas of every service."""
