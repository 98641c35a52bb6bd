-- A run: everything of a StudyRecord but its launches. JSON columns hold the types of `model` as they were when written.
-- Where these change so that an older record would be misread, this text changes too: a store is opened only if it was made by the very
-- same one.
CREATE TABLE run (
    name              TEXT NOT NULL PRIMARY KEY,
    version           TEXT NOT NULL,
    started           TEXT NOT NULL,
    status            TEXT NOT NULL CHECK (status IN ('running', 'finished', 'interrupted')),
    mode              TEXT NOT NULL CHECK (mode IN ('full', 'quick')),
    study_name        TEXT NOT NULL,
    study             TEXT NOT NULL,
    plan              TEXT NOT NULL,
    host              TEXT NOT NULL,
    -- How long every launch is warmed, and how many blocks the run uses at most, once they are fixed.
    warm_up_length    TEXT,
    horizon           TEXT,
    -- Why there are no profiling runs although they were wanted; `null` where there is no reason.
    profiling_skipped TEXT
);

CREATE INDEX run_by_start ON run (started);

-- A trial that ended. Rows are in the order in which trials ran.
CREATE TABLE trial (
    run      TEXT    NOT NULL REFERENCES run (name) ON DELETE CASCADE,
    pilot    INTEGER NOT NULL,
    block    INTEGER NOT NULL,
    position INTEGER NOT NULL,
    variant  INTEGER NOT NULL,
    started  TEXT    NOT NULL,
    record   TEXT    NOT NULL,
    PRIMARY KEY (run, pilot, block, position)
);

-- A profiling run that ended, with what it observed: at most one of each variant.
CREATE TABLE profiling_run (
    run     TEXT    NOT NULL REFERENCES run (name) ON DELETE CASCADE,
    variant INTEGER NOT NULL,
    started TEXT    NOT NULL,
    record  TEXT    NOT NULL,
    PRIMARY KEY (run, variant)
);
