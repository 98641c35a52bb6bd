//! The HTML file: its shape, its safety, its words.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use sha2::{Digest as _, Sha256};

use super::fixture;

#[test]
fn pages() {
    for (name, report) in fixture::all() {
        insta::assert_snapshot!(format!("html-{name}"), without_bulk(&report::html(&report)));
    }
}

#[test]
fn charts() {
    let page = report::html(&fixture::better());
    let charts: Vec<_> = page.match_indices("<svg").map(|(start, _)| &page[start..]).collect();
    let chart = |title: &str| {
        let chart = charts.iter().find(|chart| between(chart, "<title>", "</title>") == title).unwrap();
        between(chart, "", "</svg>").replace("><", ">\n<")
    };
    insta::assert_snapshot!("chart-forest", chart("Changes with their intervals"));
    insta::assert_snapshot!("chart-blocks", chart("throughput by block"));
}

/// Of one second, which a step of 0.1 divides badly in binary.
#[test]
fn the_warm_up_axis_has_round_even_ticks() {
    let mut report = fixture::inconclusive();
    report.warm_up_length = None;
    let points = report.warm_ups.iter_mut().flat_map(|series| &mut series.points);
    points.for_each(|point| point[0] /= 89.0);
    let page = report::html(&report);
    let start = page.find("<title>Rate while warming up</title>").unwrap();
    let chart = between(&page[start..], "", "</svg>");
    let texts: Vec<_> =
        chart.match_indices("</text>").map(|(end, _)| chart[..end].rsplit('>').next().unwrap()).collect();
    let ticks: Vec<_> = texts.into_iter().filter(|text| text.ends_with(" s")).collect();
    // Written from the highest down.
    let wanted = ["1 s", "0.9 s", "0.8 s", "0.7 s", "0.6 s", "0.5 s", "0.4 s", "0.3 s", "0.2 s", "0.1 s"];
    assert_eq!(ticks, wanted);
}

#[test]
fn one_user_is_singular() {
    let page = report::html(&fixture::three());
    assert!(page.contains("mri/puma, 1 user: ") && page.contains("mri/puma, 4 users: "));
}

#[test]
fn every_page_is_well_formed() {
    for (name, report) in fixture::all() {
        let page = report::html(&report);
        check_balance(&page).unwrap_or_else(|problem| panic!("{name}: {problem}"));
        assert!(!page.contains("NaN") && !page.contains("inf\""), "{name} draws what is not a number");
    }
}

#[test]
fn nothing_from_outside_becomes_markup() {
    let page = report::html(&fixture::hostile());
    assert!(!page.contains("<script"));
    assert!(!page.contains("<b>"));
    assert!(page.contains("&lt;script&gt;alert(&#39;name&#39;)&lt;/script&gt;"));
    assert!(page.contains("&lt;/pre&gt;&lt;script&gt;study&lt;/script&gt;"));
}

#[test]
fn the_policy_admits_the_style_sheet_and_nothing_else() {
    for (name, report) in fixture::all() {
        let page = report::html(&report);
        let hash = STANDARD.encode(Sha256::digest(between(&page, "<style>", "</style>")));
        assert!(page.contains(&format!("default-src &#39;none&#39;; style-src &#39;sha256-{hash}&#39;")), "{name}");
        // What the policy would refuse: styles in attributes, scripts, anything loaded.
        for refused in [" style=", "<script", "src=\"", "@import", "url("] {
            assert!(!page.contains(refused), "{name} has {refused}");
        }
    }
}

#[test]
fn ids_are_unique_and_links_lead_somewhere() {
    for (name, report) in fixture::all() {
        let page = report::html(&report);
        let mut ids: Vec<_> = attributes(&page, " id=\"").collect();
        let all = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all, "{name}");
        for target in attributes(&page, " href=\"#") {
            assert!(ids.contains(&target), "{name}: #{target}");
        }
    }
}

#[test]
fn the_balance_check_can_fail() {
    for broken in ["<p><b></p></b>", "<p>", "</p>", "<p class=\"a>b\"></i>", "<a <b>></b></a>"] {
        assert!(check_balance(broken).is_err(), "{broken}");
    }
    assert!(check_balance("<p class=\"a\">x<br/></p>").is_ok());
}

/// The page without what other tests look at: the style sheet and the marks within charts.
fn without_bulk(page: &str) -> String {
    let mut text = String::new();
    let mut rest = page;
    while let Some(start) = rest.find("<svg") {
        text.push_str(&rest[..start]);
        let svg = between(&rest[start..], "", "</svg>");
        text.extend(["[chart: ", between(svg, "<title>", "</title>"), "]"]);
        rest = &rest[start + svg.len() + "</svg>".len()..];
    }
    text.push_str(rest);
    let style = between(&text, "<style>", "</style>").to_owned();
    let hash = STANDARD.encode(Sha256::digest(&style));
    text.replace(&style, "…").replace(&hash, "…").replace("><", ">\n<")
}

pub fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let start = text.find(from).expect(from) + from.len();
    let end = text[start..].find(to).expect(to);
    &text[start..start + end]
}

fn attributes<'a>(page: &'a str, opening: &'a str) -> impl Iterator<Item = &'a str> {
    page.match_indices(opening).map(|(start, found)| between(&page[start + found.len()..], "", "\""))
}

/// Every element is closed by its own name, in order; no tag holds another.
pub fn check_balance(page: &str) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = page;
    while let Some(start) = rest.find('<') {
        let end = rest[start..].find('>').ok_or("a tag without end")? + start;
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
        if tag.contains('<') {
            return Err(format!("a tag within <{tag}>"));
        } else if tag.starts_with('!') || tag.ends_with('/') {
            // The document type, and what closes itself.
        } else if tag.starts_with('/') {
            match open.pop() {
                Some(opened) if opened == name => {}
                other => return Err(format!("</{name}> closes {other:?}")),
            }
        } else {
            open.push(name);
        }
    }
    if open.is_empty() { Ok(()) } else { Err(format!("never closed: {open:?}")) }
}
