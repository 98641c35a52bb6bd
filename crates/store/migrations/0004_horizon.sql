-- How many blocks a run uses at most, once that is fixed: JSON of `model`.
ALTER TABLE run ADD COLUMN horizon TEXT;
