//! What `bakeoff audit` prints: for people, and as JSON.

use model::imported::{AuditedRun, Fidelity, ImportedRun, Level, Lines, Support};
use model::{BodyLength, Finding, FindingId, Names, text};
use serde::Serialize;
use serde_json::json;

use crate::json::pretty;
use crate::number;
use crate::terminal::{Page, Style, clean};
use crate::words::Tone;

/// Quantiles of the times that are shown.
const QUANTILES: [f64; 3] = [0.5, 0.9, 0.99];

/// What was found about each file, or why it has no results; a line for each first, where there are several.
pub fn audit(files: &[Result<AuditedRun, String>], style: Style) -> String {
    let mut page = Page::new(style);
    if files.len() > 1 {
        let width = files.iter().flatten().map(|audited| clean(&audited.run.file).chars().count()).max().unwrap_or(0);
        for audited in files.iter().flatten() {
            let (run, support) = (&audited.run, painted(&page, audited.support));
            page.line(&format!("{:<width$}  {support}  {}", clean(&run.file), counted(run)));
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
    page.heading(&format!("{}: {}", clean(&run.file), support.text()));
    page.line(&format!("{}, which keeps {}", clean(&run.tool), run.fidelity.text()));
    let users = run.users.map(|users| text::plural(users.into(), "user"));
    let asked: Vec<String> = run.url.clone().into_iter().chain(users).collect();
    if !asked.is_empty() {
        page.wrapped("", 0, &asked.join(", "));
    }
    page.line(&counted(run));
    let times = QUANTILES
        .iter()
        .filter_map(|q| Some(format!("{} {}", number::percentile(q * 100.0), text::micros(run.quantile_us(*q)?))));
    let lengths = run.all.body_length.map(|BodyLength { min, max }| match max - min {
        0 => format!("answers of {}", text::plural(min, "byte")),
        _ => format!("answers of {} to {}", text::count(min), text::plural(max, "byte")),
    });
    let answers: Vec<String> = times.chain(lengths).collect();
    if !answers.is_empty() {
        page.line(&answers.join(", "));
    }
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
    // Some files do not say how long it took.
    let time = if run.seconds > 0.0 { format!(" in {}", text::seconds(run.seconds)) } else { String::new() };
    format!("{}{time}{failed}", text::plural(run.all.ended(), "request"))
}

fn span(level: &Level) -> String {
    format!("{} s to {} s", text::count(level.from_s as u64), text::count(level.to_s as u64))
}

/// The same as JSON, without the series; of a file that has no results why not.
pub fn audit_json(files: &[Result<AuditedRun, String>]) -> String {
    let entry = |file: &Result<AuditedRun, String>| match file {
        Ok(audited) => json!(Entry::of(audited)),
        Err(error) => json!({ "error": error }),
    };
    pretty(&files.iter().map(entry).collect::<Vec<_>>())
}

#[derive(Serialize)]
struct Entry<'a> {
    file: &'a str,
    format: &'a str,
    tool: &'a str,
    fidelity: Fidelity,
    support: Support,
    url: Option<&'a str>,
    users: Option<u32>,
    began_ms: Option<i64>,
    seconds: f64,
    requests: u64,
    failed: u64,
    p50_us: Option<f64>,
    p90_us: Option<f64>,
    p99_us: Option<f64>,
    body_length: Option<BodyLength>,
    levels: &'a [Level],
    lines: &'a Lines,
    findings: &'a [Finding],
    silent: &'a [FindingId],
}

impl<'a> Entry<'a> {
    fn of(audited: &'a AuditedRun) -> Self {
        let AuditedRun { run, support, levels, findings, silent } = audited;
        let [p50_us, p90_us, p99_us] = QUANTILES.map(|q| run.quantile_us(q));
        Self {
            file: &run.file,
            format: &run.format,
            tool: &run.tool,
            fidelity: run.fidelity,
            support: *support,
            url: run.url.as_deref(),
            users: run.users,
            began_ms: run.began_ms,
            seconds: run.seconds,
            requests: run.all.ended(),
            failed: run.all.failed,
            p50_us,
            p90_us,
            p99_us,
            body_length: run.all.body_length,
            levels,
            lines: &run.lines,
            findings,
            silent,
        }
    }
}
