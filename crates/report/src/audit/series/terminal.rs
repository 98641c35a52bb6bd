//! Series for a terminal.

use model::Names;
use model::imported::AuditedSeries;

use super::said;
use crate::audit::words;
use crate::terminal::{Page, Style};

/// What was found about each series, and why files are in none.
pub fn audit_series(all: &[AuditedSeries], left_out: &[String], style: Style) -> String {
    let mut page = Page::new(style);
    for series in all {
        one(&mut page, series);
    }
    for reason in left_out {
        page.wrapped("left out: ", 10, reason);
    }
    page.text
}

fn one(page: &mut Page, series: &AuditedSeries) {
    page.heading(&said::title(series));
    for table in said::tables(series) {
        page.table(&table);
    }
    page.heading(said::CONCLUSIONS);
    for sentence in said::conclusions(series) {
        page.wrapped("  ", 2, &sentence);
    }
    page.findings(&series.findings.iter().collect::<Vec<_>>(), &Names::default());
    for silence in words::silences(&series.silent) {
        page.wrapped("", 2, &silence);
    }
    page.line("");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::series::said::testing::series;

    #[test]
    fn a_page_has_every_run_and_why_rules_are_silent() {
        let text = audit_series(&[series()], &["x.md: no".to_owned()], Style { colour: false, width: 100 });
        for part in [
            "7: 3 runs",
            "2015-01-09 22:00",
            "31 min 40 s, not final",
            "burst-credit is silent: it takes 4",
            "left out: x.md: no",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let unranked = AuditedSeries { ranking: None, ..series() };
        let text = audit_series(&[unranked], &[], Style::default());
        assert!(text.contains("No three of these runs have a time in common"), "{text}");
    }
}
