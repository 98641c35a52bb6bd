//! An audit as one HTML file, with its runs over time.

use model::imported::{Answer, Audit, AuditedRun, Silence, Support};
use model::{Finding, Names};

use super::words;
use crate::charts::{self, Line};
use crate::html::{document, sections};
use crate::markup::Markup;
use crate::words::Tone;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The audit as a self-contained HTML document: the answer first, then each part with its reasons and its picture.
pub fn audit_html(audit: &Audit) -> String {
    let title = match (&audit.pair, &audit.runs[..]) {
        (Some(pair), _) => words::title(pair),
        (None, [audited]) => audited.run.file.clone(),
        (None, _) => "Audit".to_owned(),
    };
    document(&title, VERSION, |main| {
        main.element("header", &[], |header| {
            header.leaf("h1", &[], &title);
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
        (None, Some(pair)) => (pair.support.text(), tone(pair.support), words::title(pair), words::compared(pair)),
        (None, None) => return,
    };
    sections::verdict(main, word, tone, &sentence, &facts);
}

fn tone(support: Support) -> Tone {
    if words::is_bad(support) { Tone::Bad } else { Tone::Unsure }
}

fn files(main: &mut Markup, audit: &Audit) {
    if audit.runs.len() < 2 {
        return;
    }
    sections::section(main, "files", "Files", |section| {
        section.element("table", &[], |table| {
            for audited in &audit.runs {
                table.element("tr", &[], |row| {
                    let class = sections::tone_class(tone(audited.support));
                    row.leaf("th", &[("scope", "row")], &audited.run.file);
                    row.leaf("td", &[("class", class)], audited.support.text());
                    row.leaf("td", &[], &words::counted(&audited.run));
                });
            }
        });
    });
}

fn pair(main: &mut Markup, audit: &Audit) {
    let Some(pair) = &audit.pair else { return };
    sections::section(main, "pair", &words::title(pair), |section| {
        sections::list(section, &words::compared(pair));
        let caption = "Good requests in a second since each run began. The time that is compared is shaded, and \
             below every second level of a run's speed its colour.";
        let lines: Vec<Line> = audit.runs.iter().map(Line::of).collect();
        for chart in charts::over_time(&lines, pair.matched.as_ref().map(|matched| [matched.from_s, matched.to_s])) {
            sections::wide(section, chart, caption);
        }
        judged(section, &pair.findings, &pair.silent);
    });
}

fn runs(main: &mut Markup, audit: &Audit) {
    for (index, audited) in audit.runs.iter().enumerate() {
        let title = format!("{}: {}", audited.run.file, audited.support.text());
        sections::section(main, &format!("run-{}", index + 1), &title, |section| {
            sections::list(section, &words::about(audited));
            let caption = "Good requests in a second since the run began, and the levels of its speed; every second \
                           level is shaded.";
            for chart in charts::over_time(&[Line::of(audited)], None) {
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
