//! The parts of the page, in the order in which a reader wants them.

use model::report::VariantSummary;
use model::{Finding, Names, Report, Severity, Verdict};

use crate::charts::{self, Chart};
use crate::doctor::floor_in_words;
use crate::markup::Markup;
use crate::tables::{self, Cell, Detail, Table};
use crate::words::{self, Tone};
use crate::{number, words::severity_sign};

/// Writes all parts that the report has something for.
pub fn all(page: &mut Markup, report: &Report) {
    head(page, report);
    verdicts(page, report);
    outlook(page, report);
    life(page, report);
    comparisons(page, report);
    attribution(page, report);
    blocks(page, report);
    found_limits(page, report);
    cells(page, report);
    launches(page, report);
    changes(page, report);
    concurrency(page, report);
    why(page, report);
    findings(page, report);
    limits(page, report);
    environment(page, report);
    reproduce(page, report);
}

fn head(page: &mut Markup, report: &Report) {
    page.element("header", &[], |header| {
        header.leaf("h1", &[], &report.name);
        if let Some(question) = &report.question {
            header.leaf("p", &[("class", "question")], question);
        }
        header.leaf("p", &[("class", "run")], &words::run_line(report));
    });
}

/// A list, a point for each line.
pub fn list(section: &mut Markup, lines: &[impl AsRef<str>]) {
    section.element("ul", &[], |list| {
        for line in lines {
            list.leaf("li", &[], line.as_ref());
        }
    });
}

/// A verdict: its word, what it says, and what belongs to it.
pub fn verdict(page: &mut Markup, word: &str, tone: Tone, sentence: &str, facts: &[String]) {
    let class = format!("verdict {}", tone_class(tone));
    page.element("section", &[("class", class.trim_end())], |section| {
        section.leaf("h2", &[], word).leaf("p", &[("class", "sentence")], sentence);
        for fact in facts {
            section.leaf("p", &[("class", "fact")], fact);
        }
    });
}

fn verdicts(page: &mut Markup, report: &Report) {
    page.line_break();
    for judgement in &report.judgements {
        let verdict = &judgement.verdict;
        let word = format!("{} {}", verdict.sign(), verdict.word());
        let facts = words::verdict_facts(report, judgement);
        self::verdict(page, &word, Tone::of(verdict), &judgement.sentence, &facts);
    }
    page.element("p", &[], |p| {
        p.text(&words::caveats(report));
        if !report.findings.is_empty() {
            let vetoed = |judgement: &model::report::Judgement| matches!(judgement.verdict, Verdict::Invalid { .. });
            let text =
                if report.judgements.iter().any(vetoed) { "Why there is no verdict" } else { "See the findings" };
            p.text(" ").leaf("a", &[("href", "#findings")], text).text(".");
        }
    });
}

/// Which differences more time would show.
fn outlook(page: &mut Markup, report: &Report) {
    let table = tables::outlook(report);
    if !table.is_empty() {
        section(page, "more-time", &table.caption, |section| draw_table(section, &table, ""));
    }
}

/// How the comparison changes with the age of a server.
fn life(page: &mut Markup, report: &Report) {
    if words::curves(report).next().is_none() {
        return;
    }
    section(page, "life", "Over a server's life", |section| {
        for curve in words::curves(report) {
            section.leaf("p", &[], &format!("{}.", curve.sentence));
        }
        if let Some(chart) = charts::curve(report) {
            wide(section, chart, &words::curve_caption(report));
        }
    });
}

fn comparisons(page: &mut Markup, report: &Report) {
    let table = tables::decision(report, Detail::Full);
    if table.is_empty() {
        return;
    }
    section(page, "decision", "Decision", |section| {
        draw_table(section, &table, "");
        if let Some(forest) = charts::forest(report) {
            let margin = number::margin(report.rope);
            wide(
                section,
                forest,
                &format!(
                    "The bars are intervals. The shaded region is ±{margin}: a difference inside it counts as none. \
                     Whether up is better depends on the metric; the word on the right says how each reads."
                ),
            );
        }
    });
}

fn attribution(page: &mut Markup, report: &Report) {
    let Some(attribution) = &report.attribution else { return };
    let table = tables::attribution::contributions(attribution, report);
    section(page, "factors", &table.caption, |section| {
        draw_table(section, &table, "");
        if !attribution.aliases.is_empty() {
            section.element("ul", &[], |list| {
                for alias in &attribution.aliases {
                    list.leaf("li", &[], alias);
                }
            });
        }
    });
}

fn blocks(page: &mut Markup, report: &Report) {
    let Some(chart) = charts::blocks(report) else { return };
    section(page, "blocks", "Block by block", |section| {
        wide(
            section,
            chart,
            "Each block launches every variant once; a line joins the launches of one block. The verdict rests on \
             the differences within blocks, not on the levels.",
        );
        let excluded: Vec<_> =
            report.blocks.iter().filter_map(|block| Some((block, block.excluded.as_ref()?))).collect();
        if !excluded.is_empty() {
            section.leaf("p", &[("class", "muted")], "Excluded, drawn hollow:").element("ul", &[], |list| {
                for (block, reason) in excluded {
                    list.leaf("li", &[], &format!("block {}: {reason}", words::block_number(block)));
                }
            });
        }
    });
}

fn found_limits(page: &mut Markup, report: &Report) {
    let table = tables::limits::found(report, Detail::Full);
    if !table.is_empty() {
        section(page, "capacity", "Capacity and overload", |section| {
            draw_table(section, &table, "");
            let charts = charts::limits(report);
            if !charts.is_empty() {
                pairs(section, charts);
                section.leaf("p", &[("class", "muted")], words::LIMIT_CAPTION);
            }
        });
    }
}

fn cells(page: &mut Markup, report: &Report) {
    let table = tables::measurements(report, Detail::Full);
    if table.is_empty() {
        return;
    }
    section(page, "measurements", "Measurements", |section| {
        draw_table(section, &table, "");
        for more in [tables::steps::measured(report, Detail::Full), tables::server_times(report)] {
            if !more.is_empty() {
                section.leaf("h3", &[], &more.caption);
                draw_table(section, &more, "");
            }
        }
        use_of_cores(section, report);
        pairs(section, charts::latency(report));
    });
}

fn use_of_cores(section: &mut Markup, report: &Report) {
    let table = tables::cores::at_most_answers(report);
    if !table.is_empty() {
        section.leaf("h3", &[], &table.caption);
        draw_table(section, &table, "");
    }
    let charts = charts::per_core(report);
    if !charts.is_empty() {
        section.leaf("h3", &[], "Each processor over time");
        for chart in charts {
            let caption = chart.title.clone();
            wide(section, chart, &caption);
        }
        section.leaf("p", &[("class", "muted")], words::PER_CORE_CAPTION);
    }
}

fn launches(page: &mut Markup, report: &Report) {
    let chart = charts::warm_up(report);
    section(page, "warm-up", "Start and warm-up", |section| {
        draw_table(section, &tables::variants(report), "");
        if let Some(chart) = chart {
            wide(section, chart, &warm_up_caption(report));
            for lane in charts::warm_up_lanes(report) {
                let caption = lane.title.clone();
                wide(section, lane, &caption);
            }
        }
        warming_up(section, report);
        for variant in report.variants.iter().filter(|variant| !variant.failed.is_empty()) {
            failed_trials(section, variant);
        }
    });
}

/// What the warm-up costs, and when it has paid.
fn warming_up(section: &mut Markup, report: &Report) {
    let costs = tables::warm_ups(report, Detail::Full);
    if !costs.is_empty() {
        section.leaf("h3", &[], "What it costs");
        draw_table(section, &costs, "");
    }
    let lives = tables::lives(report);
    if lives.is_empty() {
        return;
    }
    section.leaf("h3", &[], "When it has paid");
    for responses in words::cumulative_responses(report) {
        section.leaf("p", &[], &format!("{}.", responses.sentence));
    }
    if let Some(chart) = charts::cumulative_responses(report) {
        wide(
            section,
            chart,
            "All that was answered well since launch, start-up included, against the baseline: above zero a variant has served \
             more. Thin lines are the ends of the interval; a marker shows the break-even.",
        );
    }
    section.leaf("h3", &[], &lives.caption);
    draw_table(section, &lives, "");
}

fn warm_up_caption(report: &Report) -> String {
    let changed = report.changed.iter().any(|series| series.cell.is_none());
    let hollow = if changed { " A hollow marker: its level changed after that." } else { "" };
    let lines = format!(
        "A thin line is one launch, a thick one the mean of a variant; a marker shows when a launch was found steady.{hollow}"
    );
    match report.warm_up_length {
        None => lines,
        Some(length) => {
            let origin = if length.established {
                "by when every variant was seen steady"
            } else {
                "that every variant is steady by then was not established"
            };
            format!(
                "{lines} Shaded: the warm-up of {}, {origin}. It is the same for all.",
                number::round(&number::seconds(length.seconds))
            )
        }
    }
}

fn failed_trials(section: &mut Markup, variant: &VariantSummary) {
    section.leaf("h3", &[], &format!("Failed launches of {}", variant.name));
    for trial in &variant.failed {
        let what = format!("{}: {}", trial.key, trial.failed.reason);
        if trial.failed.log_tail.is_empty() {
            section.leaf("p", &[], &what);
        } else {
            section.element("details", &[], |details| {
                details.leaf("summary", &[], &what).leaf("pre", &[], &trial.failed.log_tail);
            });
        }
    }
}

fn changes(page: &mut Markup, report: &Report) {
    let table = tables::changes(report);
    if table.is_empty() {
        return;
    }
    section(page, "changes", &table.caption, |section| {
        draw_table(section, &table, "prose");
        pairs(section, charts::changes(report));
        section.leaf(
            "p",
            &[("class", "muted")],
            "A line is one launch whose level changed; a marker shows where the new level begins.",
        );
    });
}

fn concurrency(page: &mut Markup, report: &Report) {
    let charts = charts::concurrency(report);
    if !charts.is_empty() {
        section(page, "concurrency", "Over concurrency", |section| {
            pairs(section, charts);
            section.leaf("p", &[("class", "muted")], words::CONCURRENCY_CAPTION);
            for scaling in &report.scalability {
                let tables =
                    [tables::scalability::laws(scaling, report), tables::scalability::efficiency(scaling, report)];
                for table in tables {
                    section.leaf("h3", &[], &table.caption);
                    draw_table(section, &table, "");
                }
                for sentence in words::crossings(report, scaling) {
                    section.leaf("p", &[], &sentence);
                }
            }
        });
    }
}

fn why(page: &mut Markup, report: &Report) {
    let Some(why) = &report.why else { return };
    section(page, "why", "Why", |section| {
        if !why.launches.is_empty() {
            section.leaf("p", &[("class", "muted")], words::WHY_NOTE);
        }
        for explanation in &why.explanations {
            section.leaf("h3", &[], &explanation.subject);
            if !explanation.differences.is_empty() {
                section.element("ol", &[], |list| {
                    for difference in &explanation.differences {
                        list.leaf("li", &[], &difference.sentence);
                    }
                });
            }
            if let Some(caution) = &explanation.caution {
                section.leaf("p", &[], &format!("! {caution}"));
            }
        }
        for lacking in words::lacking(report, why) {
            section.leaf("p", &[], &format!("! {lacking}"));
        }
        let topics = why.topics.iter().map(|topic| tables::topic(topic, report));
        let tables = std::iter::once(tables::watched(why, report)).chain(topics);
        for table in tables.filter(|table| !table.is_empty()) {
            section.leaf("h3", &[], &table.caption);
            draw_table(section, &table, "prose");
        }
    });
}

fn findings(page: &mut Markup, report: &Report) {
    section(page, "findings", "Findings", |section| {
        if report.findings.is_empty() {
            section.leaf("p", &[], "Nothing was found that limits this result.");
        }
        let names = report.names();
        for item in words::findings(report) {
            finding(section, item, &names);
        }
    });
}

/// One finding, with what it rests on.
pub fn finding(section: &mut Markup, finding: &Finding, names: &Names) {
    let tone = tone_class(Tone::of_severity(finding.severity));
    section.element("article", &[("class", format!("finding {tone}").trim_end())], |article| {
        article.element("h3", &[], |heading| {
            let word = format!("{} {}", severity_sign(finding.severity), finding.severity.name());
            heading.leaf("span", &[("class", "word")], &word).text(" ").leaf("span", &[], finding.id.name());
            heading.text(" ").leaf("span", &[("class", "subject")], &finding.subject.text(names));
        });
        article.leaf("p", &[], &finding.meaning);
        if !finding.facts.is_empty() {
            definitions(article, finding.facts.iter().map(|item| (item.name.as_str(), item.value.to_string())));
        }
        let advice = if finding.severity == Severity::Note { "" } else { "To do: " };
        article.element("p", &[], |p| {
            p.text(advice).text(&finding.remedy);
        });
        article.element("p", &[("class", "muted")], |p| {
            p.leaf("code", &[], &format!("bakeoff explain {}", finding.id.name()));
        });
    });
}

fn limits(page: &mut Markup, report: &Report) {
    if !report.limits.is_empty() {
        section(page, "limits", "What this run cannot support", |section| {
            section.element("ul", &[], |list| {
                for limit in &report.limits {
                    list.leaf("li", &[], limit);
                }
            });
        });
    }
}

fn environment(page: &mut Markup, report: &Report) {
    section(page, "environment", "Environment", |section| {
        let host = &report.host;
        definitions(
            section,
            [
                ("system", host.os.clone()),
                ("kernel", host.kernel.clone()),
                ("processor", format!("{}, {}", host.cpu_model, words::plural(host.cpus.into(), "logical CPU"))),
                ("memory", number::bytes(host.memory_bytes as f64)),
            ]
            .into_iter()
            .chain(host.backend.map(|backend| ("client", backend.to_string())))
            .chain(host.floor.map(|floor| ("client's floor", floor_in_words(&floor)))),
        );
        for (id, table) in [
            ("settings", tables::settings(report)),
            (DIFFERENCES, tables::differences(report)),
            ("versions", tables::versions(report)),
        ] {
            if !table.is_empty() {
                section.leaf("h3", &[("id", id)], &table.caption);
                draw_table(section, &table, "prose");
            }
        }
        command_lines(section, report);
    });
}

/// Where the page lists how the variants' processes differ.
const DIFFERENCES: &str = "differences";

/// How every variant was launched; what not all of them have is marked.
fn command_lines(section: &mut Markup, report: &Report) {
    let launched: Vec<_> = report.variants.iter().filter(|variant| !variant.command.is_empty()).collect();
    if launched.is_empty() {
        return;
    }
    section.leaf("h3", &[], "Command lines");
    if !report.differences.is_empty() {
        section.element("p", &[("class", "muted")], |p| {
            p.text("Marked: what not all of them have. ");
            p.leaf("a", &[("href", &format!("#{DIFFERENCES}"))], "All differences").text(" stand above.");
        });
    }
    for variant in &launched {
        section.leaf("p", &[("class", "muted")], &variant.name).element("pre", &[], |pre| {
            for (index, word) in variant.command.iter().enumerate() {
                let text = shell_words::quote(word);
                pre.text(if index == 0 { "" } else { " " });
                if launched.iter().all(|other| other.command.contains(word)) {
                    pre.text(&text);
                } else {
                    pre.leaf("mark", &[], &text);
                }
            }
        });
    }
}

fn reproduce(page: &mut Markup, report: &Report) {
    section(page, "reproduce", "How to reproduce", |section| {
        section.leaf("pre", &[], &report.reproduce.command);
        section.element("details", &[], |details| {
            details.leaf("summary", &[], "The study file").leaf("pre", &[], report.reproduce.study.trim_end());
        });
        if let Some(command) = &report.reproduce.goes_on {
            section.leaf("p", &[], words::GOES_ON).leaf("pre", &[], command);
        }
    });
}

/// A section with its heading.
pub fn section(page: &mut Markup, id: &str, title: &str, content: impl FnOnce(&mut Markup)) {
    let heading = format!("{id}-title");
    page.line_break().element("section", &[("id", id), ("aria-labelledby", &heading)], |section| {
        section.leaf("h2", &[("id", &heading)], title);
        content(section);
    });
}

/// A chart that takes the whole column; a narrow screen scrolls it rather than shrinking its type.
pub fn wide(section: &mut Markup, chart: Chart, caption: &str) {
    section.element("figure", &[], |figure| {
        let label = chart.title.clone();
        scrolling(figure, "scroll wide", &label, |inside| {
            inside.append(chart.svg);
        });
        figure.leaf("figcaption", &[], caption);
    });
}

/// Charts beside each other where there is room.
fn pairs(section: &mut Markup, charts: Vec<Chart>) {
    if charts.is_empty() {
        return;
    }
    section.element("div", &[("class", "pair")], |pair| {
        for chart in charts {
            pair.element("figure", &[], |figure| {
                figure.leaf("h3", &[], &chart.title).append(chart.svg);
            });
        }
    });
}

/// A table as a figure that scrolls by itself; `class` is that of what scrolls.
pub fn draw_table(section: &mut Markup, table: &Table, class: &str) {
    let label = if table.note.is_empty() { &table.caption } else { &table.note };
    scrolling(section, format!("scroll {class}").trim_end(), label, |inside| {
        inside.element("table", &[], |drawn| {
            if !table.note.is_empty() {
                drawn.leaf("caption", &[], &table.note);
            }
            drawn.element("thead", &[], |head| {
                head.element("tr", &[], |row| {
                    for column in &table.columns {
                        let class = if column.is_numeric() { "number" } else { "name" };
                        row.leaf("th", &[("scope", "col"), ("class", class)], &column.head);
                    }
                });
            });
            for group in &table.groups {
                drawn.element("tbody", &[], |body| {
                    if let Some(head) = &group.head {
                        let columns = table.columns.len().to_string();
                        body.element("tr", &[], |row| {
                            row.leaf("th", &[("scope", "rowgroup"), ("colspan", &columns)], head);
                        });
                    }
                    for row in &group.rows {
                        body.element("tr", &[], |drawn| draw_row(drawn, table, row));
                    }
                });
            }
        });
    });
}

fn draw_row(drawn: &mut Markup, table: &Table, row: &[Cell]) {
    for (index, (cell, column)) in row.iter().zip(&table.columns).enumerate() {
        let number = if column.is_numeric() { "number" } else { "" };
        let class = format!("{number} {}", tone_class(cell.tone));
        let class = class.trim();
        let (name, scope) = if index == 0 { ("th", Some(("scope", "row"))) } else { ("td", None) };
        let attributes: Vec<_> = scope.into_iter().chain((!class.is_empty()).then_some(("class", class))).collect();
        drawn.leaf(name, &attributes, &cell.text);
    }
}

/// Content that may be wider than the screen: reachable by keyboard, named for those who hear the page.
fn scrolling(section: &mut Markup, class: &str, label: &str, content: impl FnOnce(&mut Markup)) {
    let attributes = [("class", class), ("role", "region"), ("aria-label", label), ("tabindex", "0")];
    section.element("div", &attributes, content);
}

fn definitions<'a>(section: &mut Markup, items: impl Iterator<Item = (&'a str, String)>) {
    section.element("dl", &[], |list| {
        for (name, value) in items {
            list.leaf("dt", &[], name).leaf("dd", &[], &value);
        }
    });
}

/// The class of what has this tone.
pub fn tone_class(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "",
        Tone::Good => "good",
        Tone::Bad => "bad",
        Tone::Same => "same",
        Tone::Unsure => "unsure",
    }
}
