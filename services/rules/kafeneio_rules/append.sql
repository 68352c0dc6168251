-- Append rows to many games at once; the first row of each game is the gate. Where its version is taken, or
-- its request has been answered, nothing of that game is written and its neighbours are not disturbed.
WITH moment AS MATERIALIZED (
    SELECT clock_timestamp() AS at
), gate AS (
    INSERT INTO log (game_id, version, entries, digest, drawn, sequence, caller, request_id, request_digest, at)
    SELECT game_id, version, string_to_array(entries, E'\n'), digest, drawn, sequence,
           caller, request_id, request_digest, moment.at
    FROM moment, unnest($1::uuid[], $2::int[], $3::text[], $4::bytea[], $5::bigint[], $6::bigint[],
                $7::text[], $8::uuid[], $9::bytea[])
         AS row(game_id, version, entries, digest, drawn, sequence, caller, request_id, request_digest)
    ON CONFLICT DO NOTHING
    RETURNING game_id, at
), house AS (
    INSERT INTO log (game_id, version, entries, digest, drawn, sequence, at)
    SELECT game_id, row.version, string_to_array(entries, E'\n'), digest, drawn, sequence, gate.at
    FROM unnest($10::uuid[], $11::int[], $12::text[], $13::bytea[], $14::bigint[], $15::bigint[])
         AS row(game_id, version, entries, digest, drawn, sequence)
    JOIN gate USING (game_id)
), announced AS (
    INSERT INTO outbox (event_id, subject_id, sequence, type, payload, occurred_at)
    SELECT event_id, game_id, sequence, type, payload, gate.at
    FROM unnest($16::uuid[], $17::uuid[], $18::bigint[], $19::text[], $20::bytea[])
         AS event(event_id, game_id, sequence, type, payload)
    JOIN gate USING (game_id)
), turned AS (
    UPDATE games SET status = turn.status, outcome = turn.outcome::jsonb, reason = turn.reason,
                     computers = computers OR turn.computer
    FROM unnest($21::uuid[], $22::text[], $23::text[], $24::text[], $25::boolean[])
         AS turn(game_id, status, outcome, reason, computer)
    JOIN gate USING (game_id)
    WHERE games.game_id = turn.game_id
)
SELECT game_id, at FROM gate
