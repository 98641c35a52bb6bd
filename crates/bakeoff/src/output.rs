//! Stdout: results go there, and nothing else.

use std::env;
use std::io::{self, IsTerminal, Write as _};

use miette::{IntoDiagnostic as _, WrapErr as _};
use report::Style;
use terminal_size::{Width, terminal_size};

/// Columns where there is no terminal to ask.
const COLUMNS: usize = 100;
/// Lines longer than this are hard to read.
const WIDEST: usize = 140;

/// The style that fits stdout: its width, and colour on a terminal unless `NO_COLOR` says otherwise.
pub fn style() -> Style {
    let is_terminal = io::stdout().is_terminal();
    let colour = is_terminal && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let width = match terminal_size() {
        Some((Width(columns), _)) if is_terminal => usize::from(columns).min(WIDEST),
        _ => COLUMNS,
    };
    Style { colour, width }
}

/// Prints a result. A reader that has seen enough (`| head`) is no error.
pub fn print(text: &str) -> miette::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.into_diagnostic().wrap_err("cannot write to stdout"),
    }
}
