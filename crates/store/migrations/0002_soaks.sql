-- A soak of a variant: all of it but its windows. It is stored when its launch begins, and again when it is warm and when it has ended.
CREATE TABLE soak (
    run     TEXT    NOT NULL REFERENCES run (name) ON DELETE CASCADE,
    variant INTEGER NOT NULL,
    record  TEXT    NOT NULL,
    PRIMARY KEY (run, variant)
);

-- A window of a soak, stored while it goes on: what was seen must not be lost where it breaks off.
CREATE TABLE soak_window (
    run     TEXT    NOT NULL,
    variant INTEGER NOT NULL,
    number  INTEGER NOT NULL,
    record  TEXT    NOT NULL,
    PRIMARY KEY (run, variant, number),
    FOREIGN KEY (run, variant) REFERENCES soak (run, variant) ON DELETE CASCADE
);
