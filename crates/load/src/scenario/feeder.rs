//! Rows of files that give values to variables.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use model::scenario::{self, Each, Take};
use serde_json::{Map, Value};

use super::content::text_of;
use super::error::ScriptError;
use super::template::Names;

/// A feeder's rows, shared by all users.
#[derive(Debug)]
pub(crate) struct Feeder {
    file: PathBuf,
    take: Take,
    each: Each,
    /// The variables that get values, in the order of a row.
    variables: Vec<usize>,
    rows: Vec<Vec<String>>,
    /// How many rows were taken, where users take them in turn.
    taken: AtomicUsize,
}

/// A feeder has no row left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FeederExhausted {
    pub file: PathBuf,
    pub rows: usize,
}

impl Feeder {
    /// Reads the file; returns the names of its columns as well.
    pub fn read(feeder: &scenario::Feeder, names: &mut Names) -> Result<(Self, Vec<String>), ScriptError> {
        let (columns, rows) = rows(&feeder.file)?;
        if rows.is_empty() {
            return Err(wrong(&feeder.file, "has no rows"));
        }
        let read = Self {
            file: feeder.file.clone(),
            take: feeder.take,
            each: feeder.each,
            variables: columns.iter().map(|name| names.place(name)).collect(),
            rows,
            taken: AtomicUsize::new(0),
        };
        Ok((read, columns))
    }

    /// When a user takes a row.
    pub fn each(&self) -> Each {
        self.each
    }

    /// Takes a row for a user and puts its values where they belong. `turn` is the user's number plus the rows that
    /// it has taken before.
    pub fn feed(&self, turn: &mut usize, values: &mut [String]) -> Result<(), FeederExhausted> {
        let next = || self.taken.fetch_add(1, Ordering::Relaxed);
        let index = match self.take {
            Take::Shared => next() % self.rows.len(),
            Take::Unique => next(),
            Take::Recycled => *turn % self.rows.len(),
        };
        *turn += 1;
        let ran_out = || FeederExhausted { file: self.file.clone(), rows: self.rows.len() };
        let row = self.rows.get(index).ok_or_else(ran_out)?;
        for (variable, value) in self.variables.iter().zip(row) {
            values[*variable].clone_from(value);
        }
        Ok(())
    }
}

/// The names of the columns, and the rows.
fn rows(file: &Path) -> Result<(Vec<String>, Vec<Vec<String>>), ScriptError> {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("csv") => csv_rows(file),
        Some("jsonl" | "ndjson") => json_rows(file),
        _ => Err(wrong(file, "is neither .csv nor .jsonl")),
    }
}

fn csv_rows(file: &Path) -> Result<(Vec<String>, Vec<Vec<String>>), ScriptError> {
    let unreadable = |error: csv::Error| wrong(file, &error.to_string());
    let opened = File::open(file).map_err(|source| ScriptError::File { file: file.to_owned(), source })?;
    let mut reader = csv::Reader::from_reader(opened);
    let texts = |record: &csv::StringRecord| record.iter().map(str::to_owned).collect();
    let columns = texts(reader.headers().map_err(unreadable)?);
    let rows = reader.records().map(|record| Ok(texts(&record.map_err(unreadable)?))).collect::<Result<_, _>>()?;
    Ok((columns, rows))
}

fn json_rows(file: &Path) -> Result<(Vec<String>, Vec<Vec<String>>), ScriptError> {
    let text = fs::read_to_string(file).map_err(|source| ScriptError::File { file: file.to_owned(), source })?;
    let mut columns = Vec::new();
    let mut rows = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let line_is = |reason: &str| wrong(file, &format!("line {}: {reason}", index + 1));
        let object: Map<String, Value> =
            serde_json::from_str(line).map_err(|error| line_is(&format!("not a JSON object: {error}")))?;
        if rows.is_empty() {
            columns = object.keys().cloned().collect();
        }
        let value = |name: &String| {
            object.get(name).map(text_of).ok_or_else(|| line_is(&format!("no `{name}`, which the first row has")))
        };
        rows.push(columns.iter().map(value).collect::<Result<_, _>>()?);
    }
    Ok((columns, rows))
}

fn wrong(file: &Path, reason: &str) -> ScriptError {
    ScriptError::Feeder { file: file.to_owned(), reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::thread;
    use tempfile::TempDir;

    fn read(name: &str, text: &str, take: Take) -> Result<(Feeder, Names), ScriptError> {
        let dir = TempDir::new().unwrap();
        let file = dir.path().join(name);
        fs::write(&file, text).unwrap();
        let mut names = Names::default();
        let (feeder, _) = Feeder::read(&scenario::Feeder { file, take, each: Each::Iteration }, &mut names)?;
        Ok((feeder, names))
    }

    fn ten(take: Take) -> Feeder {
        let rows: Vec<_> = (0..10).map(|row| row.to_string()).collect();
        read("rows.csv", &format!("row\n{}\n", rows.join("\n")), take).unwrap().0
    }

    fn take(feeder: &Feeder, turn: &mut usize) -> Result<usize, FeederExhausted> {
        let mut values = vec![String::new()];
        feeder.feed(turn, &mut values)?;
        Ok(values[0].parse().unwrap())
    }

    #[test]
    fn columns_are_variables() {
        let csv = "name,\"full name\"\nann,\"Ann, \"\"A\"\"\"\nbob,\n";
        let json = "{\"name\": \"ann\", \"full name\": \"Ann, \\\"A\\\"\"}\n\n{\"full name\": \"\", \"name\": \"bob\"}";
        for (file, text) in [("a.csv", csv), ("a.jsonl", json)] {
            let (feeder, mut names) = read(file, text, Take::Shared).unwrap();
            let (name, full, mut turn) = (names.place("name"), names.place("full name"), 0);
            let mut values = vec![String::new(); names.count()];
            feeder.feed(&mut turn, &mut values).unwrap();
            assert_eq!((values[name].as_str(), values[full].as_str()), ("ann", "Ann, \"A\""), "{file}");
            feeder.feed(&mut turn, &mut values).unwrap();
            assert_eq!((values[name].as_str(), values[full].as_str()), ("bob", ""), "{file}");
        }
        let (feeder, _) = read("a.ndjson", "{\"a\": 1.50, \"b\": [true, null]}", Take::Shared).unwrap();
        assert_eq!(feeder.rows, [["1.5", "[true,null]"]]);
    }

    #[test]
    fn what_holds_no_rows_says_where() {
        let reason = |name, text| read(name, text, Take::Shared).unwrap_err().to_string();
        assert!(reason("a.csv", "a,b\n").contains("a.csv` has no rows"));
        assert!(reason("a.csv", "a,b\n1,2\n3\n").contains("line: 3"), "{}", reason("a.csv", "a,b\n1,2\n3\n"));
        assert!(reason("a.jsonl", "{\"a\": 1}\n[2]\n").contains("line 2: not a JSON object"));
        assert!(reason("a.jsonl", "{\"a\": 1}\n{\"b\": 1}\n").contains("line 2: no `a`"));
        assert!(reason("a.txt", "a\n").contains("neither .csv nor .jsonl"));
        let none = scenario::Feeder { file: "/no/such.csv".into(), take: Take::Shared, each: Each::User };
        assert!(matches!(Feeder::read(&none, &mut Names::default()), Err(ScriptError::File { .. })));
    }

    #[test]
    fn rows_are_unique_across_threads_until_they_run_out() {
        let feeder = ten(Take::Unique);
        let taken: Vec<Result<usize, FeederExhausted>> = thread::scope(|scope| {
            let users: Vec<_> = (0..4)
                .map(|user| {
                    scope.spawn({
                        let feeder = &feeder;
                        move || -> Vec<_> {
                            let mut turn = user;
                            (0..4).map(|_| take(feeder, &mut turn)).collect()
                        }
                    })
                })
                .collect();
            users.into_iter().flat_map(|user| user.join().unwrap()).collect()
        });
        let rows: Vec<usize> = taken.iter().filter_map(|row| row.as_ref().ok().copied()).collect();
        assert_eq!((rows.len(), rows.iter().copied().collect::<BTreeSet<_>>()), (10, (0..10).collect()));
        let ran_out: Vec<FeederExhausted> = taken.into_iter().filter_map(Result::err).collect();
        assert_eq!(ran_out.len(), 6);
        assert!(ran_out[0].file.ends_with("rows.csv") && ran_out[0].rows == 10);
    }

    #[test]
    fn shared_rows_go_round_all_users_and_recycled_rows_round_each() {
        let rounds = |feeder: &Feeder| {
            let mut turns = [0, 1];
            let mut rows = [Vec::new(), Vec::new()];
            for _ in 0..12 {
                for (turn, rows) in turns.iter_mut().zip(&mut rows) {
                    rows.push(take(feeder, turn).unwrap());
                }
            }
            rows
        };
        let [ann, bob] = rounds(&ten(Take::Shared));
        assert_eq!(ann, [0, 2, 4, 6, 8, 0, 2, 4, 6, 8, 0, 2]);
        assert_eq!(bob, [1, 3, 5, 7, 9, 1, 3, 5, 7, 9, 1, 3]);
        let [ann, bob] = rounds(&ten(Take::Recycled));
        assert_eq!(ann, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1]);
        assert_eq!(bob, [1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2]);
    }
}
