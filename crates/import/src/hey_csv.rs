//! hey's `-o csv`: a line for each answer, with when its request began and what it took, in seconds since the beginning.

use model::imported::{Fidelity, ImportedRun};

use crate::csv::{self, Fields, decimal, number};
use crate::hey::MOST_KEPT;
use crate::outcome::is_success;
use crate::reading::{Broken, Format, Options, Reading};
use crate::recorder::Request;

pub const FORMAT: Format = Format { id: "hey-csv", tool: "hey", fidelity: Fidelity::Samples, recognises, read };

const NAMES: &[u8] = b"response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset";
const COLUMNS: Columns = Columns { began: 7, took: 0, code: 6, bytes: None };

/// Where those columns stand that are made use of; times are seconds, and the beginning is that of the run.
pub struct Columns {
    pub began: usize,
    pub took: usize,
    pub code: usize,
    pub bytes: Option<usize>,
}

impl Columns {
    /// The request of a line, or what is wrong with it.
    pub fn request<'l>(&self, fields: &'l Fields) -> Result<Request<'l>, &'static str> {
        let seconds = |column: usize| fields.get(column).and_then(decimal);
        let began_s = seconds(self.began).ok_or("its beginning is no number of seconds")?;
        let took_s = seconds(self.took).ok_or("what it took is no number of seconds")?;
        let code = fields.get(self.code).unwrap_or_default();
        let status = number(code).filter(|status| (100..1_000).contains(status)).ok_or("its status is none of HTTP")?;
        let bytes = |column: usize| fields.get(column).and_then(number).ok_or("its bytes are no number");
        Ok(Request {
            began_ms: (began_s * 1e3).round() as i64,
            took_us: (took_s * 1e6).round() as u64,
            label: b"",
            code,
            is_good: is_success(status),
            bytes: self.bytes.map(bytes).transpose()?,
            users: 0,
        })
    }

    /// Reads all lines. When the run began, they do not say, and nothing of requests without an answer.
    pub fn read(&self, reading: &mut Reading, format: &Format, names: &[u8]) -> Result<ImportedRun, Broken> {
        let has_names = csv::first_line(reading.lines.head()?) == names;
        let run = reading.record(format, b',', has_names, |fields| self.request(fields))?;
        let warnings = vec![format!("{} leaves requests without an answer out of this file", format.tool)];
        Ok(ImportedRun { began_ms: None, warnings, ..run })
    }
}

fn recognises(head: &[u8], _: Options) -> bool {
    csv::first_line(head) == NAMES
}

fn read(reading: &mut Reading) -> Result<ImportedRun, Broken> {
    let mut run = COLUMNS.read(reading, &FORMAT, NAMES)?;
    if run.all.ended() >= MOST_KEPT {
        run.warnings.push(format!("hey keeps {MOST_KEPT} answers: more may have come"));
    }
    Ok(run)
}

#[cfg(test)]
mod tests {
    use crate::{Options, read};

    #[test]
    fn every_answer_is_read() {
        let text = include_bytes!("../fixtures/hey-0.1.5/page.csv");
        let run = read("a.csv", &text[..], Options::default()).unwrap();
        assert_eq!((run.format.as_str(), run.all.good, run.lines.read, run.lines.bad), ("hey-csv", 500, 501, 0));
        assert_eq!((run.began_ms, run.all.codes["200"], run.intervals.len()), (None, 500, 1));
        assert!(run.all.latency.quantile(0.5).abs_diff(2_500) < 1_000, "{}", run.all.latency.quantile(0.5));
        assert_eq!(run.warnings, ["hey leaves requests without an answer out of this file"]);
    }

    #[test]
    fn error_pages_have_failed_and_what_is_no_answer_is_counted() {
        let names = String::from_utf8_lossy(super::NAMES);
        let good = "0.0033,0.0008,0.0000,0.0002,0.0022,0.0001,200,1.5007\n".repeat(200);
        let text = format!("{names}\n{good}0.0033,0,0,0,0,0,503,2.5\n0.0033,0,0,0,0,0,0,2.5\n0.0033,0,0,0,0,0,200\n");
        let options = Options { is_lenient: true, ..Options::default() };
        let run = read("a.csv", text.as_bytes(), options).unwrap();
        assert_eq!((run.all.good, run.all.failed, run.lines.bad), (200, 1, 2));
        assert_eq!(run.intervals.iter().map(|interval| interval.ended()).collect::<Vec<_>>(), [200, 1]);
    }
}
