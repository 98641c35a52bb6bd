//! The spreadsheet, read back.

#![expect(clippy::float_cmp, reason = "what is read back is what was written, to the bit")]

use std::collections::BTreeMap;
use std::io::{Cursor, Read as _};

use calamine::{Data, DataType as _, Reader as _, Xlsx};
use model::Report;

use super::fixture;

type Book = Xlsx<Cursor<Vec<u8>>>;

fn book(report: &Report) -> Book {
    let bytes = report::xlsx(report).expect("a workbook");
    Xlsx::new(Cursor::new(bytes)).expect("one that can be read")
}

/// A sheet's rows by the names of its columns, units apart.
fn rows(book: &mut Book, sheet: &str) -> Vec<BTreeMap<String, Data>> {
    let range = book.worksheet_range(sheet).unwrap_or_else(|error| panic!("{sheet}: {error}"));
    let name = |head: &Data| head.to_string().split(" (").next().unwrap_or_default().to_owned();
    let heads: Vec<String> = range.rows().next().expect("a first row").iter().map(name).collect();
    range.rows().skip(1).map(|row| heads.iter().cloned().zip(row.iter().cloned()).collect()).collect()
}

fn number(value: &Data) -> f64 {
    let Data::Float(number) = value else { panic!("{value:?} is no number") };
    *number
}

#[test]
fn cells_and_verdicts_are_the_reports() {
    let report = fixture::better();
    let mut book = book(&report);
    let cells = rows(&mut book, "Cells");
    assert_eq!(cells.len(), report.measurements.len());
    for (row, measurement) in cells.iter().zip(&report.measurements) {
        let cell = &report.cells[measurement.cell];
        assert_eq!(row["variant"], Data::String(report.variants[measurement.variant].name.clone()));
        assert_eq!(row["cell"], Data::String(cell.name.clone()));
        let names = ["users", "requests", "throughput", "p50", "failed-share", "cpu-per-request"];
        let cpu = measurement.cpu_per_request.unwrap();
        let wanted = [
            f64::from(cell.concurrency.unwrap()),
            measurement.requests as f64,
            measurement.throughput,
            measurement.percentiles[0].us as f64,
            measurement.failed_share,
            cpu,
        ];
        assert_eq!(names.map(|name| number(&row[name])), wanted);
        assert_eq!(number(&row["requests-per-cpu-second"]), 1e6 / cpu);
        let p99 = measurement.percentiles.get(2);
        assert_eq!(row["p99"], p99.map_or(Data::Empty, |p99| Data::Float(p99.us as f64)));
    }
    let [verdict] = &rows(&mut book, "Verdicts")[..] else { panic!() };
    let words = [&verdict["verdict"], &verdict["in words"]].map(ToString::to_string);
    assert_eq!(words, ["better".to_owned(), report.judgements[0].sentence.clone()]);
    let primary = &rows(&mut book, "Comparisons")[0];
    let change = ["value", "low", "high"].map(|name| number(&primary[name]));
    for (reported, log_ratio) in change.into_iter().zip([0.0469_f64, 0.0305, 0.0620]) {
        assert!((reported - log_ratio.exp_m1()).abs() < 1e-12, "{change:?}");
    }
    let blocks = rows(&mut book, "Blocks");
    let excluded: Vec<_> = blocks.iter().filter(|row| row["excluded"] != Data::Empty).collect();
    assert_eq!(blocks.len(), 20);
    assert!(excluded.iter().all(|row| row["block"] == Data::Float(7.0)) && excluded.len() == 2, "{excluded:?}");
    assert_eq!(rows(&mut book, "Findings").len(), report.findings.len());
}

#[test]
fn factors_and_curves_are_the_reports() {
    let report = fixture::three();
    let mut book = book(&report);
    let factors = rows(&mut book, "Factors");
    let contributions = &report.attribution.as_ref().unwrap().contributions;
    assert_eq!(factors.len(), contributions.len());
    assert_eq!(factors[0]["name"].to_string(), contributions[0].name);
    assert_eq!((&factors[1]["value"], factors[1]["reading"].to_string()), (&Data::Empty, "too few blocks".to_owned()));
    let curves = &report.scalability[0].curves;
    for (row, curve) in rows(&mut book, "Scalability").iter().zip(curves) {
        assert_eq!(number(&row["sigma low"]), curve.sigma.low);
        assert_eq!(row["peak-users"], curve.peak.map_or(Data::Empty, |peak| Data::Float(peak.users.estimate)));
        // An interval without an upper end has none here either.
        assert_eq!(row["peak-users high"], Data::Empty);
    }
    let points = rows(&mut book, "Curves");
    assert_eq!(points.len(), curves.iter().map(|curve| curve.points.len()).sum::<usize>());
    assert_eq!(number(&points[0]["efficiency"]), curves[0].points[0].efficiency);
}

#[test]
fn what_a_title_says_is_in_no_column() {
    let mut book = book(&fixture::three());
    assert!(!rows(&mut book, "Comparisons")[0].contains_key("of"));
    assert!(rows(&mut book, "Factors")[0].contains_key("of"), "there are effects and interactions");
}

/// A line a second.
#[test]
fn processors_are_reported_second_by_second() {
    let report = fixture::better();
    let seconds = rows(&mut book(&report), "Processors");
    assert_eq!(seconds.len(), report.per_core.iter().map(|series| series.from_s.len()).sum::<usize>());
    let series = &report.per_core[0];
    for (second, row) in seconds.iter().take(series.from_s.len()).enumerate() {
        assert_eq!(number(&row["since-ready"]), series.from_s[second]);
        assert_eq!(number(&row["cpu-1-busy"]), series.busy[1][second]);
        let (cell, _) = series.cells.iter().rfind(|(_, began)| *began <= series.from_s[second]).unwrap();
        assert_eq!(row["cell"].to_string(), report.cells[*cell].name);
    }
}

#[test]
fn every_number_of_the_csv_is_in_the_spreadsheet() {
    for (name, report) in fixture::all() {
        let mut book = book(&report);
        let mut figures: Vec<f64> = Vec::new();
        for sheet in book.sheet_names() {
            let range = book.worksheet_range(&sheet).unwrap();
            figures.extend(range.rows().flatten().filter(|value| value.is_float()).map(number));
        }
        figures.sort_by(f64::total_cmp);
        for line in csv::Reader::from_reader(report::csv(&report).as_bytes()).records().map(Result::unwrap) {
            for listed in [7, 8, 9].into_iter().filter_map(|column| line[column].parse::<f64>().ok()) {
                // Nine digits of it.
                let at = figures.partition_point(|figure| *figure < listed - listed.abs() * 1e-8);
                assert!((figures[at] - listed).abs() <= listed.abs() * 1e-8, "{name}: {line:?}");
            }
        }
    }
}

#[test]
fn nothing_from_outside_is_a_formula() {
    let mut report = fixture::hostile();
    report.variants[1].name = "=HYPERLINK(\"http://example.com\")".into();
    report.cells[0].name = "\u{1}@1".into();
    let mut book = book(&report);
    for sheet in book.sheet_names() {
        assert!(book.worksheet_formula(&sheet).unwrap().cells().all(|(.., formula)| formula.is_empty()), "{sheet}");
    }
    assert!(rows(&mut book, "Cells").iter().any(|row| row["variant"].to_string().starts_with("=HYPERLINK")));
}

#[test]
fn the_first_row_stays_in_sight_and_equal_reports_give_equal_files() {
    let report = fixture::better();
    let bytes = report::xlsx(&report).unwrap();
    assert!(bytes == report::xlsx(&report).unwrap());
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut page = String::new();
    archive.by_name("xl/worksheets/sheet3.xml").unwrap().read_to_string(&mut page).unwrap();
    assert!(page.contains(r#"<pane ySplit="1""#) && page.contains(r#"state="frozen""#), "{page}");
    assert!(page.contains("<cols>") && page.contains("customWidth=\"1\""), "{page}");
}
