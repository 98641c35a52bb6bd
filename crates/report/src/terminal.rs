//! The report for a terminal, 80 columns or more.

use model::warm_up::Lifetime;
use model::{Finding, Names, Report};

use crate::number;
use crate::tables::{self, Detail, Holds, Table};
use crate::words::{self, Tone, squeezed};

/// How to write for a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether escape sequences may be used.
    pub colour: bool,
    /// Columns of the terminal; text is wrapped there, numbers never are.
    pub width: usize,
}

impl Default for Style {
    fn default() -> Self {
        Self { colour: false, width: 80 }
    }
}

/// The report as text. Without colour it holds no escape sequence; no line ends in a space.
pub fn terminal(report: &Report, style: Style) -> String {
    let mut page = Page::new(style);
    page.verdicts(report);
    page.table(&tables::outlook(report));
    page.limits(report);
    page.table(&tables::decision(report, Detail::Brief));
    page.attribution(report);
    page.table(&tables::limits::found(report, Detail::Brief));
    page.table(&tables::measurements(report, Detail::Brief));
    page.table(&tables::steps::measured(report, Detail::Brief));
    page.crossings(report);
    page.warming_up(report);
    page.why(report);
    page.findings(&words::findings(report), &report.names());
    page.goes_on(report);
    page.text
}

/// A text for a terminal that grows line by line.
pub(crate) struct Page {
    pub text: String,
    style: Style,
    /// What findings mean that stand on the page already.
    explained: Vec<String>,
}

impl Page {
    pub fn new(style: Style) -> Self {
        Self { text: String::new(), style, explained: Vec::new() }
    }

    fn verdicts(&mut self, report: &Report) {
        for judgement in &report.judgements {
            let verdict = &judgement.verdict;
            let word = format!("{} {}", verdict.sign(), verdict.word().to_uppercase());
            let head = self.painted(&word, Tone::of(verdict), true);
            let indent = width(&word) + 2;
            self.wrapped(&format!("{head}  "), indent, &judgement.sentence);
            for curve in words::curves(report).filter(|curve| curve.variant == judgement.variant) {
                self.wrapped(&" ".repeat(indent), indent, &words::over_its_life(curve));
            }
            for fact in words::verdict_facts(report, judgement) {
                self.wrapped(&" ".repeat(indent), indent, &fact);
            }
        }
        self.wrapped("", 0, &words::caveats(report));
        self.text.push('\n');
        self.wrapped("", 0, &report.name);
        if let Some(question) = &report.question {
            self.wrapped("", 0, question);
        }
        self.wrapped("", 0, &words::run_line(report));
    }

    fn limits(&mut self, report: &Report) {
        if !report.limits.is_empty() {
            self.heading("Limits");
            for limit in &report.limits {
                self.wrapped("  • ", 4, limit);
            }
        }
    }

    fn attribution(&mut self, report: &Report) {
        if let Some(attribution) = &report.attribution {
            self.table(&tables::attribution::contributions(attribution, report));
            for alias in &attribution.aliases {
                self.wrapped("  • ", 4, alias);
            }
        }
    }

    fn crossings(&mut self, report: &Report) {
        let sentences: Vec<String> =
            report.scalability.iter().flat_map(|scaling| words::crossings(report, scaling)).collect();
        if !sentences.is_empty() {
            self.heading("Over concurrency");
            for sentence in sentences {
                self.wrapped("  ", 2, &sentence);
            }
        }
    }

    fn warming_up(&mut self, report: &Report) {
        let costs = tables::warm_ups(report, Detail::Brief);
        self.table(&costs);
        let lives = words::cumulative_responses(report).filter(|_| !costs.is_empty());
        for responses in lives {
            self.wrapped("  ", 2, &responses.sentence);
            let reported = |life: &Lifetime| {
                let change = life.effect.as_ref().map_or_else(|| number::NONE.into(), number::effect);
                let (reading, _) = words::life_reading(report, responses.variant, life);
                format!("every {}: {reading} ({change})", words::life(life.seconds))
            };
            let all: Vec<_> = responses.lifetimes.iter().map(reported).collect();
            self.wrapped("  Redeployed ", 4, &all.join("; "));
        }
    }

    fn why(&mut self, report: &Report) {
        let Some(why) = &report.why else { return };
        self.heading("Why");
        if !why.launches.is_empty() {
            self.wrapped("  ", 2, words::WHY_NOTE);
        }
        for explanation in &why.explanations {
            self.wrapped("  ", 2, &explanation.subject);
            for (index, difference) in explanation.differences.iter().enumerate() {
                self.wrapped(&format!("  {}. ", index + 1), 5, &difference.sentence);
            }
            if let Some(caution) = &explanation.caution {
                self.wrapped("  ! ", 4, caution);
            }
        }
        for lacking in words::lacking(report, why) {
            self.wrapped("  ! ", 4, &lacking);
        }
        for topic in &why.topics {
            self.table(&tables::topic(topic, report));
        }
    }

    /// The command on one line, however long: it is to be copied.
    fn goes_on(&mut self, report: &Report) {
        if let Some(command) = &report.reproduce.goes_on {
            self.text.push('\n');
            self.wrapped("", 0, words::GOES_ON);
            self.line(&format!("  {}", clean(command)));
        }
    }

    /// Findings, in this order. What one means is said once on a page.
    pub fn findings(&mut self, findings: &[&Finding], names: &Names) {
        if findings.is_empty() {
            return;
        }
        self.heading("Findings");
        for (index, finding) in findings.iter().enumerate() {
            if index > 0 {
                self.text.push('\n');
            }
            let sign = format!("{} {}", words::severity_sign(finding.severity), finding.severity.name());
            let sign = self.painted(&sign, Tone::of_severity(finding.severity), true);
            let title = self.bold(finding.id.name());
            self.wrapped(&format!("  {sign}  {title}  "), 4, &finding.subject.text(names));
            self.facts(&words::facts(finding));
            let explanation = format!("{} {}", finding.meaning, finding.remedy);
            if self.explained.contains(&explanation) {
                continue;
            }
            self.explained.push(explanation);
            self.wrapped("    ", 4, &finding.meaning);
            self.wrapped("    → ", 6, &finding.remedy);
            let explain = self.dim(&format!("bakeoff explain {}", finding.id.name()));
            self.line(&format!("    {explain}"));
        }
    }

    /// All on one line where it fits, else each piece on its own.
    fn facts(&mut self, pieces: &[String]) {
        let line = pieces.join(words::BETWEEN);
        if pieces.is_empty() {
            // Nothing to report.
        } else if 4 + width(&line) <= self.style.width {
            self.wrapped("    ", 4, &line);
        } else {
            for piece in pieces {
                self.wrapped("    · ", 6, piece);
            }
        }
    }

    pub fn table(&mut self, table: &Table) {
        if table.is_empty() {
            return;
        }
        self.heading(&table.caption);
        if !table.note.is_empty() {
            self.wrapped("  ", 2, &table.note);
        }
        let widths = self.column_widths(table);
        let head = |index: usize| {
            let column = &table.columns[index];
            aligned(&clean(&column.head), widths[index], column.is_numeric())
        };
        let heads: Vec<_> = (0..table.columns.len()).map(head).collect();
        let heads = self.dim(heads.join("  ").trim_end());
        let lead = if table.groups.iter().any(|group| group.head.is_some()) { "    " } else { "  " };
        self.line(&format!("{lead}{heads}"));
        for group in &table.groups {
            if let Some(head) = &group.head {
                let head = self.bold(&squeezed(&clean(head), self.style.width.saturating_sub(2)));
                self.line(&format!("  {head}"));
            }
            for row in &group.rows {
                let mut line = String::from(lead);
                for (index, cell) in row.iter().enumerate() {
                    let last = index + 1 == row.len();
                    let mut text = aligned(&clean(&cell.text), widths[index], table.columns[index].is_numeric());
                    if last {
                        text.truncate(text.trim_end().len());
                    }
                    line.push_str(if index == 0 { "" } else { "  " });
                    line.push_str(&self.painted(&text, cell.tone, false));
                }
                self.line(&line);
            }
        }
    }

    /// The widest text of each column; when the whole is too wide, names give way to numbers.
    fn column_widths(&self, table: &Table) -> Vec<usize> {
        /// Characters by which a name can still be recognised.
        const TELLING: usize = 8;
        let cells = |index: usize| {
            let rows = table.groups.iter().flat_map(|group| &group.rows);
            rows.filter_map(|row| row.get(index)).map(|cell| width(&clean(&cell.text))).max().unwrap_or(0)
        };
        let columns = 0..table.columns.len();
        let mut widths: Vec<_> =
            columns.clone().map(|index| cells(index).max(width(&table.columns[index].head))).collect();
        let least = |index: usize| match table.columns[index].holds {
            Holds::Numbers | Holds::Words => cells(index),
            Holds::Names => cells(index).min(TELLING),
        };
        let least: Vec<_> = columns.clone().map(least).collect();
        let available = self.style.width.saturating_sub(2 * table.columns.len() + 2);
        while widths.iter().sum::<usize>() > available {
            let Some(index) = columns.clone().filter(|i| widths[*i] > least[*i]).max_by_key(|i| widths[*i]) else {
                break;
            };
            widths[index] -= 1;
        }
        widths
    }

    pub fn heading(&mut self, text: &str) {
        self.text.push('\n');
        let heading = self.bold(text);
        self.line(&heading);
    }

    /// `lead` and then `text`, broken at spaces; further lines start with `indent` spaces.
    pub fn wrapped(&mut self, lead: &str, indent: usize, text: &str) {
        let mut line = lead.to_owned();
        let mut used = width(&without_escapes(lead));
        let mut fresh = true;
        for word in clean(text).split_whitespace() {
            let needed = width(word);
            if !fresh && used + 1 + needed > self.style.width {
                self.line(&line);
                line = " ".repeat(indent);
                used = indent;
                fresh = true;
            }
            if !fresh {
                line.push(' ');
                used += 1;
            }
            line.push_str(word);
            used += needed;
            fresh = false;
        }
        self.line(&line);
    }

    pub fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    pub fn painted(&self, text: &str, tone: Tone, bold: bool) -> String {
        let code = match tone {
            Tone::Plain => "",
            Tone::Good => "32",
            Tone::Bad => "31",
            Tone::Same => "36",
            Tone::Unsure => "33",
        };
        match (self.style.colour, code, bold) {
            (false, ..) | (true, "", false) => text.into(),
            (true, "", true) => format!("\x1b[1m{text}\x1b[0m"),
            (true, code, true) => format!("\x1b[1;{code}m{text}\x1b[0m"),
            (true, code, false) => format!("\x1b[{code}m{text}\x1b[0m"),
        }
    }

    fn bold(&self, text: &str) -> String {
        self.painted(text, Tone::Plain, true)
    }

    fn dim(&self, text: &str) -> String {
        if self.style.colour { format!("\x1b[2m{text}\x1b[0m") } else { text.into() }
    }
}

/// Names and logs come from outside: no control character of theirs reaches the terminal.
pub(crate) fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Columns that a text takes; all of ours are one wide, and wide ones in names only misalign.
fn width(text: &str) -> usize {
    text.chars().count()
}

fn aligned(text: &str, to: usize, right: bool) -> String {
    let text = squeezed(text, to);
    if right { format!("{text:>to$}") } else { format!("{text:<to$}") }
}

/// Our own escape sequences take no room.
fn without_escapes(text: &str) -> String {
    let mut plain = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == '\x1b' {
            chars.find(|c| *c == 'm');
        } else {
            plain.push(c);
        }
    }
    plain
}
