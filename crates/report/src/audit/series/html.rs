//! Series as one HTML file, with their runs over time.

use model::Names;
use model::imported::{AuditedRun, AuditedSeries};

use super::said;
use crate::audit::json::VERSION;
use crate::audit::words;
use crate::charts::{self, Line};
use crate::html::{document, sections};
use crate::markup::Markup;

/// The series as a self-contained HTML document: all runs at a glance, then of each series what it says, a chart of its runs, its findings
/// and its tables. `runs` are what the series
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
        let glance = said::at_a_glance(all);
        if !glance.is_empty() {
            sections::section(main, "runs", &glance.caption, |section| sections::draw_table(section, &glance, ""));
        }
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
    for finding in &series.findings {
        sections::finding(section, finding, &Names::default());
    }
    for silence in words::silences(&series.silent) {
        section.leaf("p", &[("class", "muted")], &silence);
    }
    section.element("details", &[], |details| {
        details.leaf("summary", &[], "All numbers of its runs");
        for table in said::tables(series) {
            details.leaf("h3", &[], &table.caption);
            sections::draw_table(details, &table, "");
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::series::said::testing::series;
    use crate::audit::testing::audited;

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
    fn all_runs_stand_at_the_top_with_their_series_and_verdict() {
        let mut other = AuditedSeries { name: Some("8".to_owned()), ..series() };
        other.runs[0].idle_s = Some(7_200.0);
        let page = audit_series_html(&[series(), other], &[], &[]);
        let [head, first] = ["<section id=\"runs\"", "<section id=\"series-1\""].map(|part| page.find(part).unwrap());
        let glance = &page[head..first];
        for part in [
            "<th scope=\"rowgroup\" colspan=\"5\">8</th>",
            "<th scope=\"row\">a</th><td class=\"number\">7.50/s</td><td class=\"number\">2 h 0 min</td>\
             <td class=\"number\">31 min 40 s, not final</td><td class=\"bad\">not supported</td>",
        ] {
            assert_eq!(glance.matches(part).count(), 1, "{part}: {glance}");
        }
        assert_eq!(glance.matches("<th scope=\"row\">").count(), 6);
        assert!(!audit_series_html(&[], &[], &[]).contains("id=\"runs\""));
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
