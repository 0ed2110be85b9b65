-- depends: 0011.people
-- A route that ended without being published although the answer to one of its attempts was lost. It is a dead letter, or its reader was
-- told in another way; "cancelled" would say that nothing was sent.
ALTER TABLE routes ADD COLUMN may_have_arrived boolean NOT NULL DEFAULT false;
ALTER TABLE routes ADD CONSTRAINT routes_doubt_is_told CHECK (NOT may_have_arrived OR status IN ('dead_letter', 'skipped'));
