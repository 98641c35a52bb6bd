//! The report as one HTML file that needs nothing else: no script, no font, no picture from elsewhere.

pub mod sections;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use model::Report;
use sha2::{Digest as _, Sha256};

use crate::markup::Markup;

const STYLE: &str = include_str!("style.css");

/// The report as a self-contained HTML document.
pub fn html(report: &Report) -> String {
    document(&report.name, &report.version, |main| sections::all(main, report))
}

/// A self-contained HTML document, made by this version of bakeoff. Its content security policy admits its own style sheet, by hash, and
/// nothing else.
pub fn document(title: &str, version: &str, content: impl FnOnce(&mut Markup)) -> String {
    let hash = STANDARD.encode(Sha256::digest(STYLE));
    let policy = format!("default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'");
    let mut page = Markup::new();
    page.constant("<!DOCTYPE html>\n").element("html", &[("lang", "en")], |html| {
        html.element("head", &[], |head| {
            head.empty("meta", &[("charset", "utf-8")]).line_break();
            head.empty("meta", &[("http-equiv", "Content-Security-Policy"), ("content", &policy)]).line_break();
            head.empty("meta", &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")])
                .line_break();
            head.empty("meta", &[("name", "generator"), ("content", &format!("bakeoff {version}"))]);
            head.line_break().leaf("title", &[], &format!("{title} · bakeoff")).line_break();
            head.element("style", &[], |style| {
                style.constant(STYLE);
            });
        });
        html.line_break().element("body", &[], |body| {
            body.element("main", &[], content);
        });
    });
    page.line_break();
    page.into_string()
}
