//! What a long load has seen so far: in a file, so that a load takes no more memory in its tenth minute than in its first.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Seek as _, SeekFrom, Write as _};

use model::Sample;

/// Samples in the order in which they came, a sample a line, in a file without a name.
pub struct Spool {
    file: File,
}

impl Spool {
    /// An empty one, in the folder for temporary files.
    pub fn new() -> io::Result<Self> {
        Ok(Self { file: tempfile::tempfile()? })
    }

    /// Adds a sample.
    pub fn push(&mut self, sample: &Sample) -> io::Result<()> {
        let mut line = serde_json::to_vec(sample)?;
        line.push(b'\n');
        self.file.write_all(&line)
    }

    /// All of them.
    pub fn into_samples(mut self) -> io::Result<Vec<Sample>> {
        self.file.seek(SeekFrom::Start(0))?;
        BufReader::new(self.file).lines().map(|line| Ok(serde_json::from_str(&line?)?)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Histogram, Tally};

    #[test]
    fn samples_come_back_as_they_went_in() {
        let mut spool = Spool::new().unwrap();
        let sample = |second: u32| {
            let mut service = Histogram::new();
            (1..100).for_each(|us| service.record(us * u64::from(second + 1)));
            Sample {
                start_s: f64::from(second),
                length_s: 1.0,
                tally: Tally { good: 99, ..Tally::default() },
                bins: vec![9; 10],
                service,
                client_cpu_s: 0.1 + 0.2,
                ..Sample::default()
            }
        };
        let samples: Vec<Sample> = (0..3).map(sample).collect();
        samples.iter().try_for_each(|sample| spool.push(sample)).unwrap();
        assert_eq!(spool.into_samples().unwrap(), samples);
        assert!(Spool::new().unwrap().into_samples().unwrap().is_empty());
    }
}
