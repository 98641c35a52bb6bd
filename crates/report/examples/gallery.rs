//! Writes every fixture in every format, to be looked at: `cargo run -p report --example gallery -- FOLDER`.

#[path = "../tests/reports/fixture/mod.rs"]
mod fixture;

use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = PathBuf::from(env::args_os().nth(1).unwrap_or_else(|| "target/gallery".into()));
    fs::create_dir_all(&folder)?;
    for (name, report) in fixture::all() {
        let style = report::Style { colour: true, width: 100 };
        for (extension, text) in [
            ("html", report::html(&report)),
            ("md", report::markdown(&report)),
            ("txt", report::terminal(&report, style)),
            ("csv", report::csv(&report)),
            ("json", report::json(&report)),
        ] {
            fs::write(folder.join(format!("{name}.{extension}")), text)?;
        }
        fs::write(folder.join(format!("{name}.xlsx")), report::xlsx(&report).map_err(io::Error::other)?)?;
    }
    Ok(())
}
