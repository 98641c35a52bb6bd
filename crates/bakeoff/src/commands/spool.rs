//! What a long load has seen so far: in a file, so that a load takes no more memory in its tenth minute than in its first.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Seek as _, SeekFrom, Write as _};

use model::Interval;

/// Intervals in the order in which they came, an interval a line, in a file without a name.
pub struct Spool {
    file: File,
}

impl Spool {
    /// An empty one, in the folder for temporary files.
    pub fn new() -> io::Result<Self> {
        Ok(Self { file: tempfile::tempfile()? })
    }

    /// Adds an interval.
    pub fn push(&mut self, interval: &Interval) -> io::Result<()> {
        let mut line = serde_json::to_vec(interval)?;
        line.push(b'\n');
        self.file.write_all(&line)
    }

    /// All of them.
    pub fn into_intervals(mut self) -> io::Result<Vec<Interval>> {
        self.file.seek(SeekFrom::Start(0))?;
        BufReader::new(self.file).lines().map(|line| Ok(serde_json::from_str(&line?)?)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Histogram, Tally};

    #[test]
    fn intervals_come_back_as_they_went_in() {
        let mut spool = Spool::new().unwrap();
        let interval = |second: u32| {
            let mut service = Histogram::new();
            (1..100).for_each(|us| service.record(us * u64::from(second + 1)));
            Interval {
                start_s: f64::from(second),
                round: 0,
                length_s: 1.0,
                tally: Tally { good: 99, ..Tally::default() },
                bins: vec![9; 10],
                service,
                open: None,
                walked: None,
                bytes: 0,
                client_cpu_s: 0.1 + 0.2,
                server: None,
                host: None,
            }
        };
        let intervals: Vec<Interval> = (0..3).map(interval).collect();
        intervals.iter().try_for_each(|interval| spool.push(interval)).unwrap();
        assert_eq!(spool.into_intervals().unwrap(), intervals);
        assert!(Spool::new().unwrap().into_intervals().unwrap().is_empty());
    }
}
