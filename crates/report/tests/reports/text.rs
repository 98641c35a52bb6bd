//! What people read, as text: a change of it shows in review.

use report::Style;

use super::fixture;

const PLAIN: Style = Style { colour: false, width: 80 };

#[test]
fn terminal() {
    for (name, report) in fixture::all() {
        insta::assert_snapshot!(format!("terminal-{name}"), report::terminal(&report, PLAIN));
    }
}

#[test]
fn markdown() {
    for (name, report) in fixture::all() {
        insta::assert_snapshot!(format!("markdown-{name}"), report::markdown(&report));
    }
}

#[test]
fn csv() {
    for (name, report) in fixture::all() {
        if ["better", "three", "hostile"].contains(&name) {
            insta::assert_snapshot!(format!("csv-{name}"), report::csv(&report));
        }
    }
}

#[test]
fn terminal_lines_are_tidy_at_every_width() {
    for (name, report) in fixture::all() {
        for width in [80, 100, 140] {
            let text = report::terminal(&report, Style { colour: false, width });
            assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{name} has control characters");
            for line in text.lines() {
                assert_eq!(line, line.trim_end(), "{name} at {width}");
                // Commands are copied as they are.
                let is_command = line.starts_with("  bakeoff run ");
                assert!(is_command || line.chars().count() <= width, "{name} at {width}: {line}");
            }
        }
    }
}

#[test]
fn usual_names_are_whole_in_tables() {
    let mut report = fixture::better();
    for (variant, name) in report.variants.iter_mut().zip(["invokedyn. off", "invokedyn. on."]) {
        assert_eq!(name.len(), 14);
        variant.name = name.into();
    }
    for (cell, name) in report.cells.iter_mut().zip(["dashboard@1000", "pipelines@1000", "stylesheet@100"]) {
        cell.name = name.into();
    }
    let text = report::terminal(&report, Style { colour: false, width: 100 });
    assert!(!text.contains('…'), "{text}");
}

/// The lines of a table's group, its head apart.
fn rows<'a>(text: &'a str, table: &str, group: &str) -> Vec<&'a str> {
    let lines = text.lines().skip_while(|line| *line != table).skip_while(|line| line.trim() != group).skip(1);
    lines.take_while(|line| line.starts_with("    ")).collect()
}

#[test]
fn where_nothing_could_be_compared_there_is_no_number() {
    let mut report = fixture::invalid();
    let decides = &mut report.comparisons[0];
    (decides.typical, decides.effect) = ([None, None], None);
    decides.differences.clear();
    report.measurements[1].requests = 0;
    let text = report::terminal(&report, PLAIN);
    let [row] = rows(&text, "Decision", "dashboard@20 · decides")[..] else { panic!("{text}") };
    assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["throughput", "–", "–", "–", "✗", "not", "valid"]);
    let measured = rows(&text, "Measurements", "dashboard@20");
    assert!(measured[0].ends_with("0 %") && measured[1].ends_with('–'), "{text}");
    assert!(report::html(&report).contains("An interval takes 3 blocks in which both sides have the number."));
}

#[test]
fn tables_say_what_their_numbers_are() {
    let report = fixture::better();
    let decision =
        "Changes against off are of the differences within blocks, values are medians over the launches compared:";
    let measurements = "Medians over launches; percentiles over all requests of all launches together.";
    let terminal = report::terminal(&report, Style { colour: false, width: 120 });
    for (text, lead) in [(terminal, "\n  "), (report::markdown(&report), "\n\n"), (report::html(&report), "<caption>")]
    {
        for note in [decision, measurements] {
            assert!(text.contains(&format!("{lead}{note}")), "{text}");
        }
    }
    let mut short = report;
    let median = short.comparisons.iter_mut().find(|comparison| comparison.metric == model::Metric::P50).unwrap();
    median.effect = None;
    assert!(report::markdown(&short).contains("a launch has a percentile when 100 requests lie beyond it."));
}

#[test]
fn facts_that_do_not_fit_one_line_have_a_line_each() {
    let text = report::terminal(&fixture::invalid(), PLAIN);
    let pieces: Vec<&str> = text.lines().filter(|line| line.starts_with("    · ")).collect();
    assert_eq!(
        pieces,
        [
            "    · length 15,118 bytes | 1,266 bytes",
            "    · on begins \"<!DOCTYPE html> <html> <head> <title>Settings</title> <link …\"",
            "    · off begins \"<h1>We're sorry, but something went wrong.</h1>\"",
        ]
    );
    // What fits stays together.
    assert!(report::terminal(&fixture::better(), PLAIN).contains("\n    canary +5.1 % · steal 0.04 cores\n"));
}

#[test]
fn colour_changes_nothing_but_colour() {
    for (name, report) in fixture::all() {
        let coloured = report::terminal(&report, Style { colour: true, ..PLAIN });
        let mut text = String::new();
        for (index, part) in coloured.split("\u{1b}[").enumerate() {
            text.push_str(if index == 0 { part } else { part.split_once('m').unwrap().1 });
        }
        assert_eq!(text, report::terminal(&report, PLAIN), "{name}");
    }
}

#[test]
fn json_leads_back_to_the_report() {
    for (name, report) in fixture::all() {
        let back: model::Report = serde_json::from_str(&report::json(&report)).unwrap();
        // Not equal in every bit: reading a number may miss its last one.
        assert_eq!(report::terminal(&back, PLAIN), report::terminal(&report, PLAIN), "{name}");
        assert_eq!(report::html(&back), report::html(&report), "{name}");
    }
}

#[test]
fn the_published_schema_is_current() {
    assert_schema("report.schema.json", &report::schema());
}

/// Whether a file of the schemas is up to date.
pub fn assert_schema(name: &str, schema: &str) {
    let path = format!("{}/../../schema/{name}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        assert!(std::fs::write(&path, schema).is_ok(), "{path} cannot be written");
    }
    let published = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(published == schema, "schema/{name} is out of date: run `make schema`");
}
