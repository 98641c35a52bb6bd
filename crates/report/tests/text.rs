//! What people read, as text: a change of it shows in review.

mod fixture;

use report::Style;

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
        if ["better", "hostile"].contains(&name) {
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
                assert!(line.chars().count() <= width, "{name} at {width}: {line}");
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
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/report.schema.json");
    let schema = report::schema();
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(path, &schema).unwrap();
    }
    let published = std::fs::read_to_string(path).unwrap_or_default();
    assert!(published == schema, "schema/report.schema.json is out of date: run `make schema`");
}
