//! ApacheBench's `-g`: a line for each answer, in the order of what they took, to a second and a millisecond.

use model::imported::{Fidelity, ImportedRun};

use crate::csv::{self, Fields, number};
use crate::reading::{Broken, Format, Options, Reading};
use crate::recorder::Request;

pub const FORMAT: Format =
    Format { id: "ab-gnuplot", tool: "ApacheBench", fidelity: Fidelity::Samples, recognises, read };

const NAMES: &[u8] = b"starttime\tseconds\tctime\tdtime\tttime\twait";

/// Below this, seconds, a second more or less is over 5 %.
const SHORT_S: f64 = 20.0;

fn recognises(head: &[u8], _: Options) -> bool {
    csv::first_line(head) == NAMES
}

/// The request of a line, or what is wrong with it. Which of them failed it does not say.
fn request(fields: &Fields) -> Result<Request<'_>, &'static str> {
    let column = |index: usize| fields.get(index).and_then(number);
    let seconds = column(1).and_then(|seconds| i64::try_from(seconds).ok()?.checked_mul(1_000));
    Ok(Request {
        began_ms: seconds.ok_or("its second is no number")?,
        took_us: column(4).ok_or("its total time is no number")?.saturating_mul(1_000),
        label: b"",
        code: b"",
        is_good: true,
        bytes: None,
        users: 0,
    })
}

fn read(reading: &mut Reading) -> Result<ImportedRun, Broken> {
    let has_names = csv::first_line(reading.lines.head()?) == NAMES;
    let run = reading.record(&FORMAT, b'\t', has_names, request)?;
    let mut warnings = vec!["it does not say which requests failed".to_owned()];
    if run.seconds < SHORT_S {
        warnings.push(
            "requests begin at whole seconds, so the run may be a second shorter, and its rate higher".to_owned(),
        );
    }
    Ok(ImportedRun { warnings, ..run })
}

#[cfg(test)]
mod tests {
    use crate::{Options, read};

    #[test]
    fn every_request_is_read() {
        let text = include_bytes!("../fixtures/ab-2.3/page.tsv");
        let run = read("a.tsv", &text[..], Options::default()).unwrap();
        assert_eq!((run.format.as_str(), run.all.good, run.lines.read, run.lines.bad), ("ab-gnuplot", 500, 501, 0));
        assert!(run.all.latency.quantile(0.5).abs_diff(3_000) <= 3, "{}", run.all.latency.quantile(0.5));
    }
}
