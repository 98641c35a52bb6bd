//! HdrHistogram's distribution by percentile, mostly `*.hgrm`: `outputPercentileDistribution` of HdrHistogram, also as CSV.
//!
//! It has the values alone: neither what they are of, nor in which unit.

use model::imported::{Fidelity, ImportedRun, Requests};

use crate::reading::{Broken, Format, Options, Reading};
use crate::recorder::Recorded;
use crate::text::{count, number};

pub const FORMAT: Format = Format { id: "hgrm", tool: "HdrHistogram", fidelity: Fidelity::Summary, recognises, read };

/// The names of the columns.
const NAMES: [&str; 4] = ["Value", "Percentile", "TotalCount", "1/(1-Percentile)"];
/// The quantiles that are taken.
const QUANTILES: [f64; 5] = [0.5, 0.75, 0.9, 0.99, 0.999];
/// What stands before the number of values.
const TOTAL: &str = "Total count";

fn recognises(head: &[u8], _: Options) -> bool {
    let first = head.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    first.is_some_and(|line| is_names(&String::from_utf8_lossy(line)))
}

fn is_names(line: &str) -> bool {
    words(line).map(|word| word.trim_matches('"')).eq(NAMES)
}

/// The words of a line, whether there is space between them, or a comma.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split([' ', '\t', ',']).map(str::trim).filter(|word| !word.is_empty())
}

fn read(reading: &mut Reading) -> Result<ImportedRun, Broken> {
    let mut said = Said::default();
    reading.hear(|line| said.hear(line.trim()))?;
    if said.tables > 1 {
        return Err(Broken::Several);
    }
    let last = said.last.filter(|last| last.fraction >= 1.0);
    let last = last.ok_or(Broken::Lacks("the row of the largest value: it did not end, or some is cut off"))?;
    let all = Requests { good: said.total.unwrap_or(last.count), ..Requests::default() };
    let run = reading.run(&FORMAT, Recorded::summary(all, 0.0));
    let warnings = [
        "it does not say the unit of its values: they are taken for milliseconds",
        "it does not say which requests failed, nor how long it took",
    ];
    Ok(ImportedRun { stated_quantiles: said.quantiles, warnings: warnings.map(str::to_owned).into(), ..run })
}

/// A row of the table.
#[derive(Debug, Clone, Copy)]
struct Row {
    value: f64,
    /// Of the values that are not larger, 0..=1.
    fraction: f64,
    /// How many are not larger.
    count: u64,
}

impl Row {
    fn of(line: &str) -> Result<Self, &'static str> {
        let mut words = words(line);
        let mut next = || words.next().ok_or("it ends before its count");
        let (value, fraction, count) = (number(next()?)?, number(next()?)?, count(next()?)?);
        if fraction > 1.0 {
            return Err("its percentile is no fraction");
        }
        Ok(Self { value, fraction, count })
    }
}

/// What a file says.
#[derive(Debug, Default)]
struct Said {
    /// Lines of names that have come so far.
    tables: u32,
    last: Option<Row>,
    /// Each of [`QUANTILES`], and the value of the first row that has as many below it.
    quantiles: Vec<(f64, f64)>,
    total: Option<u64>,
}

impl Said {
    /// Takes a line; what is wrong with it, if a number that must be there is none.
    fn hear(&mut self, line: &str) -> Result<(), &'static str> {
        if is_names(line) {
            self.tables += 1;
        } else if let Some(rest) = line.strip_prefix("#[") {
            if let Some((_, total)) = rest.split_once(TOTAL) {
                self.total = Some(count(total.trim_start().trim_start_matches('=').trim_end_matches(']'))?);
            }
        } else {
            let row = Row::of(line)?;
            if self.last.is_some_and(|last| row.fraction < last.fraction || row.count < last.count) {
                return Err("its percentile lies below that of the line before");
            }
            while let Some(q) = QUANTILES.get(self.quantiles.len()).filter(|q| **q <= row.fraction) {
                self.quantiles.push((*q, row.value));
            }
            self.last = Some(row);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::{ImportError, Options, read};

    const PAGE: &[u8] = include_bytes!("../fixtures/hdrhistogram-2.1.12/page.hgrm");

    #[test]
    fn a_distribution_is_read_whole() {
        let run = read("page.hgrm", PAGE, Options::default()).unwrap();
        assert_eq!((run.format.as_str(), run.all.good, run.seconds), ("hgrm", 500, 0.0));
        assert_eq!(run.stated_quantiles[..2], [(0.5, 2.963), (0.75, 3.793)]);
        assert_eq!((run.stated_quantiles.len(), run.warnings.len(), run.lines.bad), (5, 2, 0));
        assert!(run.warnings[0].contains("unit"));
    }

    #[test]
    fn as_csv_it_says_the_same() {
        let text = include_bytes!("../fixtures/hdrhistogram-2.1.12/page.csv");
        let run = read("page.csv", &text[..], Options::default()).unwrap();
        assert_eq!((run.all.good, run.stated_quantiles.len(), run.lines.bad), (500, 5, 0));
    }

    #[test]
    fn what_is_cut_off_is_refused() {
        let refused = read("page.hgrm", &PAGE[..1_000], Options { is_lenient: true, ..Options::default() });
        assert!(matches!(refused, Err(ImportError::Lacks { .. })));
    }
}
