//! oha's `--output-format csv`: a line for each answer, with when its request began and what it took, in seconds since the beginning.

use model::imported::{Fidelity, ImportedRun};

use crate::csv;
use crate::hey_csv::Columns;
use crate::reading::{Broken, Format, Options, Reading};

pub const FORMAT: Format = Format { id: "oha-csv", tool: "oha", fidelity: Fidelity::Samples, recognises, read };

const NAMES: &[u8] = b"request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status";
const COLUMNS: Columns = Columns { began: 0, took: 4, code: 6, bytes: Some(5) };

fn recognises(head: &[u8], _: Options) -> bool {
    csv::first_line(head) == NAMES
}

fn read(reading: &mut Reading) -> Result<ImportedRun, Broken> {
    COLUMNS.read(reading, &FORMAT, NAMES)
}

#[cfg(test)]
mod tests {
    use crate::{Options, read};

    #[test]
    fn every_answer_is_read() {
        let text = include_bytes!("../fixtures/oha-1.16.0/page.csv");
        let run = read("a.csv", &text[..], Options::default()).unwrap();
        assert_eq!((run.format.as_str(), run.all.good, run.lines.read, run.lines.bad), ("oha-csv", 300, 301, 0));
        assert_eq!((run.began_ms, run.all.codes["200"]), (None, 300));
        let length = run.all.body_length.unwrap();
        assert_eq!((length.min, length.max), (2_000, 2_000));
        assert!(run.all.latency.quantile(0.5).abs_diff(2_500) < 1_000, "{}", run.all.latency.quantile(0.5));
    }
}
