//! An audit as one HTML file, with its runs over time.

use model::imported::{Answer, Audit, AuditedRun, Silence};
use model::{Finding, Names};

use super::json::VERSION;
use super::words;
use crate::charts::{self, Line};
use crate::html::{document, sections};
use crate::markup::Markup;
use crate::words::Tone;

const TITLE: &str = "Audit";

/// The audit as a self-contained HTML document: the answer first, then each part with its reasons and its picture.
pub fn audit_html(audit: &Audit) -> String {
    let title = match (&audit.pair, &audit.runs[..]) {
        (Some(pair), _) => words::title(pair),
        (None, [audited]) => audited.run.file.clone(),
        (None, _) => TITLE.to_owned(),
    };
    document(&title, VERSION, |main| {
        main.element("header", &[], |header| {
            header.leaf("h1", &[], TITLE);
        });
        answer(main, audit);
        files(main, audit);
        pair(main, audit);
        runs(main, audit);
        settings(main, audit);
        listed(main, "ask", "Ask whoever ran it", &words::questions(audit));
        listed(main, "not-used", "Not used", &audit.unused);
        listed(main, "not-read", "Not read", &audit.refused);
    })
}

/// What was asked for: what becomes of the claim, else of the comparison.
fn answer(main: &mut Markup, audit: &Audit) {
    let (word, tone, sentence, facts) = match (&audit.claim, &audit.pair) {
        (Some(claim), _) => {
            let tone = match claim.answer {
                Answer::NotSupported | Answer::Contradicted => Tone::Bad,
                Answer::CannotTell | Answer::DirectionOnly => Tone::Unsure,
            };
            (claim.answer.text(), tone, format!("“{}”", claim.claim), vec![claim.reason.clone()])
        }
        (None, Some(pair)) => {
            (pair.support.text(), words::tone(pair.support), words::title(pair), words::compared(pair))
        }
        (None, None) => return,
    };
    sections::verdict(main, word, tone, &sentence, &facts);
}

/// A line for each file; of a pair the sections of both say it.
fn files(main: &mut Markup, audit: &Audit) {
    if audit.runs.len() < 2 || audit.pair.is_some() {
        return;
    }
    sections::section(main, "files", "Files", |section| {
        section.element("table", &[], |table| {
            for audited in &audit.runs {
                table.element("tr", &[], |row| {
                    let class = sections::tone_class(words::tone(audited.support));
                    row.leaf("th", &[("scope", "row")], &audited.run.file);
                    row.leaf("td", &[("class", class)], audited.support.text());
                    row.leaf("td", &[], &words::counted(&audited.run));
                });
            }
        });
    });
}

/// Both runs over time and what was found. The numbers stand at the top of the page, unless a claim is answered there.
fn pair(main: &mut Markup, audit: &Audit) {
    let Some(pair) = &audit.pair else { return };
    let (title, lines) = match audit.claim {
        Some(_) => (words::title(pair), words::compared(pair)),
        None => ("Both over time".to_owned(), Vec::new()),
    };
    sections::section(main, "pair", &title, |section| {
        if !lines.is_empty() {
            sections::list(section, &lines);
        }
        let shaded = if pair.matched.is_some() { "The time that is compared is shaded, and below" } else { "Below" };
        let caption = format!(
            "Good requests in a second since each run began. {shaded} every second level of a run's speed is its colour."
        );
        let lines: Vec<Line> = audit.runs.iter().map(Line::of).collect();
        for chart in charts::over_time(&lines, pair.matched.as_ref().map(|matched| [matched.from_s, matched.to_s])) {
            sections::wide(section, chart, &caption);
        }
        judged(section, &pair.findings, &pair.silent);
    });
}

/// Each run with a picture of it, which a pair has already.
fn runs(main: &mut Markup, audit: &Audit) {
    for (index, audited) in audit.runs.iter().enumerate() {
        let title = format!("{}: {}", audited.run.file, audited.support.text());
        let alone = [Line::of(audited)];
        let drawn: &[Line] = if audit.pair.is_some() { &[] } else { &alone };
        sections::section(main, &format!("run-{}", index + 1), &title, |section| {
            sections::list(section, &words::about(audited));
            let caption = "Good requests in a second since the run began, and the levels of its speed; every second \
                           level is shaded.";
            for chart in charts::over_time(drawn, None) {
                sections::wide(section, chart, caption);
            }
            judged(section, &audited.findings, &audited.silent);
        });
    }
}

fn settings(main: &mut Markup, audit: &Audit) {
    let of_runs = audit.runs.iter().flat_map(|audited| audited.settings.iter().map(move |file| (file, Some(audited))));
    let all = of_runs.chain(audit.settings.iter().map(|file| (file, None::<&AuditedRun>)));
    for (index, (file, run)) in all.enumerate() {
        sections::section(main, &format!("settings-{}", index + 1), &words::settings_title(file, run), |section| {
            sections::list(section, &words::in_effect(file));
            judged(section, &file.findings, &[]);
        });
    }
}

fn judged(section: &mut Markup, findings: &[Finding], silent: &[Silence]) {
    for finding in findings {
        sections::finding(section, finding, &Names::default());
    }
    for line in words::silences(silent) {
        section.leaf("p", &[("class", "muted")], &line);
    }
}

fn listed(main: &mut Markup, id: &str, title: &str, lines: &[impl AsRef<str>]) {
    if !lines.is_empty() {
        sections::section(main, id, title, |section| sections::list(section, lines));
    }
}

#[cfg(test)]
mod tests {
    use model::imported::AnsweredClaim;

    use super::*;
    use crate::audit::testing::{audited, pair};

    fn of_pair(claim: Option<AnsweredClaim>) -> String {
        let runs = ["a", "b"].map(audited);
        audit_html(&Audit { pair: Some(pair(&runs)), runs: runs.to_vec(), claim, ..Audit::default() })
    }

    #[test]
    fn a_page_of_a_pair_says_everything_once() {
        let page = of_pair(None);
        for part in [
            "<h1>Audit</h1>",
            "<h2>cannot tell</h2><p class=\"sentence\">b.jtl against a.jtl</p>",
            "in a second, over the whole of each: 5.00/s against 5.00/s",
            "the same time of both, 10.0 s to 33 min 20 s: 7.60/s against 7.50/s",
            "The time that is compared is shaded, and below",
            "20,000 requests in 66 min 40 s",
            ">b.jtl: not supported</h2>",
        ] {
            let times = if part.starts_with("20,000") { 2 } else { 1 };
            assert_eq!(page.matches(part).count(), times, "{part}: {page}");
        }
        assert_eq!(page.matches("<svg").count(), 1);
    }

    #[test]
    fn where_a_claim_is_answered_the_numbers_stand_below() {
        let (claim, reason) = ("b is faster than a".to_owned(), "It may be none.".to_owned());
        let page = of_pair(Some(AnsweredClaim { claim, answer: Answer::CannotTell, reason }));
        let at = |part: &str| page.find(part).unwrap_or_else(|| panic!("{part}: {page}"));
        assert!(at("“b is faster than a”") < at("It may be none.") && at("It may be none.") < at("<li>whole runs: "));
        assert_eq!(page.matches("whole runs: ").count(), 1);
    }

    #[test]
    fn files_without_a_pair_have_a_line_and_a_picture_each() {
        let page = audit_html(&Audit { runs: ["a", "b"].map(audited).to_vec(), ..Audit::default() });
        assert_eq!((page.matches("<svg").count(), page.matches("20,000 requests in 66 min 40 s").count()), (2, 4));
        assert!(page.contains(">Files</h2>"), "{page}");
    }
}
