//! Series as one HTML file, with their runs over time.

use model::Names;
use model::imported::{AuditedRun, AuditedSeries};

use super::said;
use crate::audit::words;
use crate::charts::{self, Line};
use crate::html::{document, sections};
use crate::markup::Markup;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The series as a self-contained HTML document: of each its tables, a chart of its runs and its findings. `runs` are what the series
/// were made of, in any order; a run that is not among them is not drawn.
pub fn audit_series_html(all: &[AuditedSeries], runs: &[AuditedRun], left_out: &[String]) -> String {
    let title = match all {
        [series] => said::title(series),
        _ => "Series".to_owned(),
    };
    document(&title, VERSION, |main| {
        main.element("header", &[], |header| {
            header.leaf("h1", &[], &title);
        });
        for (index, series) in all.iter().enumerate() {
            sections::section(main, &format!("series-{}", index + 1), &said::title(series), |section| {
                one(section, series, runs);
            });
        }
        if !left_out.is_empty() {
            sections::section(main, "left-out", said::LEFT_OUT, |section| sections::list(section, left_out));
        }
    })
}

fn one(section: &mut Markup, series: &AuditedSeries, runs: &[AuditedRun]) {
    section.leaf("h3", &[], said::CONCLUSIONS);
    sections::list(section, &said::conclusions(series));
    let audited_of = |file: &str| runs.iter().find(|audited| audited.run.file == file);
    let lines: Vec<Line> =
        series.runs.iter().filter_map(|run| Some(Line { name: &run.name, audited: audited_of(&run.file)? })).collect();
    let window = series.ranking.as_ref().map(|ranking| ranking.window_s);
    let of_window = if window.is_some() { " The same time of all is shaded." } else { "" };
    for chart in charts::over_time(&lines, window) {
        let caption = format!(
            "Good requests in a second since each run began, and the levels of its speed; below every \
             second level is its colour.{of_window}"
        );
        sections::wide(section, chart, &caption);
    }
    for table in said::tables(series) {
        section.leaf("h3", &[], &table.caption);
        sections::draw_table(section, &table, "");
    }
    for finding in &series.findings {
        sections::finding(section, finding, &Names::default());
    }
    for silence in words::silences(&series.silent) {
        section.leaf("p", &[("class", "muted")], &silence);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::series::said::testing::{audited, series};

    #[test]
    fn a_page_has_the_tables_and_a_line_for_each_run() {
        let runs = ["c", "a", "b"].map(audited);
        let page = audit_series_html(&[series()], &runs, &["<x>.md: no".to_owned()]);
        for part in [
            "<h1>7: 3 runs</h1>",
            "Runs, in order of time",
            "53 min 20 s, not final",
            "The same time of all is shaded.",
            "burst-credit is silent: it takes 4",
            "&lt;x&gt;.md: no",
            "a: 7.50/s, then 1.50/s; b: 7.50/s, then 1.50/s; c: 7.50/s, then 1.50/s",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert_eq!(page.matches("<svg").count(), 1);
    }

    #[test]
    fn more_runs_than_can_be_told_apart_have_more_charts() {
        let names = ["a", "b", "c", "d", "e", "f", "g"];
        let run = series().runs.remove(0);
        let runs = names.map(|name| model::imported::RunOfSeries {
            file: format!("{name}.jtl"),
            name: name.to_owned(),
            ..run.clone()
        });
        let seven = AuditedSeries { runs: runs.to_vec(), ranking: None, ..series() };
        let page = audit_series_html(&[seven], &names.map(audited), &[]);
        assert_eq!(page.matches("<svg").count(), 2);
        assert!(!page.contains("The same time of all is shaded."), "{page}");
    }
}
