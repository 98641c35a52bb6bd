//! Locust's numbers of the whole run, `*_stats.csv`: `StatsCSV` of Locust. A row for each request by name, and one for all.

use indexmap::IndexMap;
use model::imported::{Fidelity, ImportedRun, Requests, Stated};

use crate::csv::Fields;
use crate::locust_rows::{Counted, DELIMITER, names, place, text};
use crate::reading::{Broken, Format, Options, Reading};
use crate::recorder::{MOST_LABELS, OTHER_LABELS, Recorded};
use crate::text::number;

pub const FORMAT: Format = Format { id: "locust", tool: "Locust", fidelity: Fidelity::Summary, recognises, read };

/// The columns that are made use of, by Locust's names.
#[derive(Debug)]
struct Columns {
    counted: Counted,
    rate: usize,
    mean: Option<usize>,
    /// The fraction of the requests that a column has a time for, and its place.
    quantiles: Vec<(f64, usize)>,
}

impl Columns {
    fn of(head: &[u8]) -> Option<Self> {
        let names = names(head);
        let percent = |name: &[u8]| number(std::str::from_utf8(name).ok()?.strip_suffix('%')?).ok();
        let quantile = |(place, name): (usize, &[u8])| {
            percent(name).map(|percent| (percent / 100.0, place)).filter(|(q, _)| *q < 1.0)
        };
        Some(Self {
            counted: Counted::named(&names, "Request Count", "Failure Count")?,
            rate: place(&names, "Requests/s")?,
            mean: place(&names, "Average Response Time"),
            quantiles: names.iter().enumerate().filter_map(quantile).collect(),
        })
    }
}

fn recognises(head: &[u8], _: Options) -> bool {
    Columns::of(head).is_some()
}

fn read(reading: &mut Reading) -> Result<ImportedRun, Broken> {
    let columns = Columns::of(reading.lines.head()?).ok_or(Broken::Unknown)?;
    let mut said = Said::default();
    reading.hear_fields(DELIMITER, true, |row| said.hear(&columns, row))?;
    if said.results > 1 {
        return Err(Broken::Several);
    }
    let all = said.all.ok_or(Broken::Lacks("the row `Aggregated`: it did not end, or some is cut off"))?;
    // Locust divides by the time from the beginning to the last request.
    let seconds = if said.rate > 0.0 { all.ended() as f64 / said.rate } else { 0.0 };
    let run = reading.run(&FORMAT, Recorded { labels: said.labels, ..Recorded::summary(all, seconds) });
    let stated = Stated { rate: Some(said.rate), mean_ms: said.mean_ms };
    Ok(ImportedRun { stated_quantiles: said.quantiles, stated, ..run })
}

/// What a file says.
#[derive(Debug, Default)]
struct Said {
    labels: IndexMap<String, Requests>,
    all: Option<Requests>,
    /// Rows of all requests that have come so far.
    results: u32,
    rate: f64,
    mean_ms: Option<f64>,
    quantiles: Vec<(f64, f64)>,
}

impl Said {
    /// Takes a row; what is wrong with it, if a number that must be there is none.
    fn hear(&mut self, columns: &Columns, row: &Fields) -> Result<(), &'static str> {
        let (good, failed) = columns.counted.ended(row)?;
        let requests = Requests { good, failed, ..Requests::default() };
        if !columns.counted.is_of_all(row) {
            let label = columns.counted.label(row)?;
            let is_one_of_few = self.labels.len() < MOST_LABELS || self.labels.contains_key(&label);
            let label = if is_one_of_few { label } else { OTHER_LABELS.to_owned() };
            let before = self.labels.entry(label).or_default();
            *before = [&*before, &requests].into_iter().sum();
            return Ok(());
        }
        self.rate = number(text(row, columns.rate)?)?;
        self.mean_ms = columns.mean.map(|place| number(text(row, place)?)).transpose()?;
        let quantile = |(fraction, place): &(f64, usize)| Some((*fraction, number(text(row, *place).ok()?).ok()?));
        self.quantiles = columns.quantiles.iter().filter_map(quantile).collect();
        self.all = Some(requests);
        self.results += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_LABELS, OTHER_LABELS};
    use crate::{ImportError, Options, read};

    const PAGE: &[u8] = include_bytes!("../fixtures/locust-2.47.0/page_stats.csv");

    #[test]
    fn an_output_is_read_whole() {
        let run = read("page_stats.csv", PAGE, Options::default()).unwrap();
        assert_eq!((run.format.as_str(), run.all.good, run.all.failed), ("locust", 752, 172));
        assert_eq!((run.labels["GET /missing"].failed, run.labels["GET /page"].good), (172, 752));
        assert!((run.seconds - 11.02).abs() < 0.01, "{}", run.seconds);
        assert_eq!((run.quantile_us(0.5), run.quantile_us(0.99)), (Some(3_000.0), Some(36_000.0)));
        assert_eq!((run.lines.read, run.lines.bad), (4, 0));
        assert_eq!(run.stated.mean_ms.map(f64::round), Some(4.0));
    }

    #[test]
    fn a_file_without_the_row_of_all_is_refused() {
        let text = String::from_utf8_lossy(PAGE).replace(",Aggregated", "GET,Aggregated");
        let refused = read("a.csv", text.as_bytes(), Options::default()).unwrap_err();
        assert!(matches!(refused, ImportError::Lacks { .. }), "{refused}");
    }

    #[test]
    fn a_label_without_a_type_is_known_again_beyond_the_most_labels() {
        let row = |name: &str| format!(",{name},10,0,1,1,1,1,1,1,0,1,1,1,1,1,1,1,1,1,1,1\n");
        let (names, of_all) = (String::from_utf8_lossy(PAGE), |line: &&str| line.contains(",Aggregated"));
        let (names, of_all) = (names.lines().next().unwrap(), names.lines().find(of_all).unwrap());
        let rows: String = (0..MOST_LABELS).map(|index| row(&format!("page {index}"))).collect();
        let text = format!("{names}\n{rows}{}{}{of_all}\n", row("page 7"), row("another"));
        let run = read("a.csv", text.as_bytes(), Options::default()).unwrap();
        assert_eq!((run.labels["page 7"].good, run.labels[OTHER_LABELS].good), (20, 10));
        assert_eq!((run.labels["page 8"].good, run.labels.len()), (10, MOST_LABELS + 1));
    }

    #[test]
    fn two_rows_of_all_are_two_results() {
        let refused = read("a.csv", &[PAGE, PAGE].concat()[..], Options { is_lenient: true, ..Options::default() });
        assert!(matches!(refused, Err(ImportError::Several { .. })));
    }
}
