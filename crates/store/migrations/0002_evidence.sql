-- An evidence launch that ended: at most one of each variant.
CREATE TABLE evidence (
    run     TEXT    NOT NULL REFERENCES run (name) ON DELETE CASCADE,
    variant INTEGER NOT NULL,
    started TEXT    NOT NULL,
    record  TEXT    NOT NULL,
    PRIMARY KEY (run, variant)
);
