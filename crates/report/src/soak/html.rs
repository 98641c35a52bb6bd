//! A report of soaks as one HTML file, with everything that was watched over time.

use model::SoakReport;

use super::words;
use crate::charts;
use crate::html::{document, sections};
use crate::markup::Markup;
use crate::tables::Detail;

/// The report as a self-contained HTML document.
pub fn soak_html(report: &SoakReport) -> String {
    document(&report.name, &report.version, |main| {
        main.element("header", &[], |header| {
            header.leaf("h1", &[], &report.name);
            if let Some(question) = &report.question {
                header.leaf("p", &[("class", "question")], question);
            }
            header.leaf("p", &[("class", "run")], &words::run_line(report));
        });
        outcomes(main, report);
        over_time(main, report);
        if !report.findings.is_empty() {
            sections::section(main, "findings", "Findings", |section| {
                for finding in &report.findings {
                    sections::finding(section, finding, &report.names());
                }
            });
        }
        sections::section(main, "reproduce", "Reproduce", |section| {
            section.element("pre", &[], |pre| {
                pre.leaf("code", &[], &report.reproduce.command);
            });
            section.element("details", &[], |details| {
                details.leaf("summary", &[], "The study").element("pre", &[], |pre| {
                    pre.leaf("code", &[], &report.reproduce.study);
                });
            });
        });
    })
}

fn outcomes(main: &mut Markup, report: &SoakReport) {
    for soak in &report.soaks {
        let (word, tone, sentence) = words::outcome(report, soak);
        sections::verdict(main, word, tone, &sentence, &words::facts(report, soak));
        let last_words = words::last_words(soak);
        if !last_words.is_empty() {
            main.leaf("pre", &[], &last_words.join("\n"));
        }
    }
}

fn over_time(main: &mut Markup, report: &SoakReport) {
    let table = words::courses(report, Detail::Full);
    if table.is_empty() {
        return;
    }
    sections::section(main, "over-time", &table.caption, |section| {
        sections::draw_table(section, &table, "");
        let caption =
            "A point is a window; a thin line leads from a level to the next, and a mark stands where that begins.";
        for chart in charts::soak(report) {
            sections::wide(section, chart, caption);
        }
    });
}
