//! What `bakeoff audit` prints: for people, and as JSON.

use model::imported::{AuditedRun, ImportedRun, Level, Lines, Support};
use model::{Finding, FindingId, Names, text};
use serde::Serialize;

use crate::json::pretty;
use crate::number;
use crate::terminal::{Page, Style};
use crate::words::Tone;

/// What was found about each file, or why it has no results; a line for each first, where there are several.
pub fn audit(files: &[Result<AuditedRun, String>], style: Style) -> String {
    let mut page = Page::new(style);
    if files.len() > 1 {
        let width = files.iter().flatten().map(|audited| audited.run.file.chars().count()).max().unwrap_or(0);
        for audited in files.iter().flatten() {
            let (run, support) = (&audited.run, painted(&page, audited.support));
            page.line(&format!("{:<width$}  {support}  {}", run.file, counted(run)));
        }
        page.line("");
    }
    for audited in files.iter().flatten() {
        one(&mut page, audited);
    }
    for refused in files.iter().filter_map(|file| file.as_ref().err()) {
        page.wrapped("not read: ", 10, refused);
    }
    page.text
}

fn one(page: &mut Page, audited: &AuditedRun) {
    let AuditedRun { run, support, levels, findings, silent } = audited;
    page.heading(&format!("{}: {}", run.file, support.text()));
    page.line(&format!("{}, which keeps {}", run.tool, run.fidelity.text()));
    let users = run.users.map(|users| text::plural(users.into(), "user"));
    let asked: Vec<String> = run.url.clone().into_iter().chain(users).collect();
    if !asked.is_empty() {
        page.wrapped("", 0, &asked.join(", "));
    }
    page.line(&counted(run));
    if let [level] = &levels[..] {
        page.line(&format!("one speed, {}, from {}", number::rate(level.rate), span(level)));
    }
    for level in levels.iter().filter(|_| levels.len() > 1) {
        page.line(&format!("{} from {}", number::rate(level.rate), span(level)));
    }
    if run.lines.bad > 0 {
        page.line(&format!("{} of {} lines cannot be read", text::count(run.lines.bad), text::count(run.lines.read)));
        for bad in &run.lines.first_bad {
            page.line(&format!("  line {}: {}", bad.number, bad.reason));
        }
    }
    page.findings(&findings.iter().collect::<Vec<_>>(), &Names::default());
    if !silent.is_empty() {
        let rules: Vec<&str> = silent.iter().map(FindingId::name).collect();
        page.wrapped("", 0, &format!("The file keeps too little for: {}", rules.join(", ")));
    }
}

fn painted(page: &Page, support: Support) -> String {
    let tone = match support {
        Support::NotSupported => Tone::Bad,
        Support::CannotTell | Support::DirectionOnly => Tone::Plain,
    };
    page.painted(&format!("{:<14}", support.text()), tone, false)
}

fn counted(run: &ImportedRun) -> String {
    let failed = match run.all.failed {
        0 => String::new(),
        failed => format!(", {} failed ({})", text::count(failed), number::share(run.all.failed_share())),
    };
    format!("{} in {}{failed}", text::plural(run.all.ended(), "request"), text::seconds(run.seconds))
}

fn span(level: &Level) -> String {
    format!("{} s to {} s", text::count(level.from_s as u64), text::count(level.to_s as u64))
}

/// The same as JSON: times in seconds, without the series.
pub fn audit_json(files: &[Result<AuditedRun, String>]) -> String {
    let entries: Vec<Entry> = files.iter().map(|file| file.as_ref().map_or_else(Entry::refused, Entry::of)).collect();
    pretty(&entries)
}

#[derive(Serialize)]
#[serde(untagged)]
enum Entry<'a> {
    Audited {
        file: &'a str,
        format: &'a str,
        tool: &'a str,
        support: Support,
        url: Option<&'a str>,
        users: Option<u32>,
        seconds: f64,
        requests: u64,
        failed: u64,
        levels: &'a [Level],
        lines: &'a Lines,
        findings: &'a [Finding],
        silent: &'a [FindingId],
    },
    Refused {
        error: &'a str,
    },
}

impl<'a> Entry<'a> {
    fn of(audited: &'a AuditedRun) -> Self {
        let run = &audited.run;
        Self::Audited {
            file: &run.file,
            format: &run.format,
            tool: &run.tool,
            support: audited.support,
            url: run.url.as_deref(),
            users: run.users,
            seconds: run.seconds,
            requests: run.all.ended(),
            failed: run.all.failed,
            levels: &audited.levels,
            lines: &run.lines,
            findings: &audited.findings,
            silent: &audited.silent,
        }
    }

    fn refused(error: &'a String) -> Self {
        Self::Refused { error }
    }
}
