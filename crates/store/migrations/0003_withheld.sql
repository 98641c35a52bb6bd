-- Why no evidence launches were made although they were wanted: JSON of `model`, `null` where there is no reason.
ALTER TABLE run ADD COLUMN withheld TEXT;
