//! Where results go: to stdout, which gets nothing else, and to files.

use std::env;
use std::fs::{self, File};
use std::io::{self, IsTerminal, Write as _};
use std::path::Path;

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

/// Writes a result to a file, making its folder.
pub fn write(path: &Path, content: impl AsRef<[u8]>) -> miette::Result<()> {
    make_folder(path).and_then(|()| fs::write(path, content)).into_diagnostic().wrap_err_with(|| cannot_write(path))
}

/// Makes sure that a result can be written to `path` once there is one; what is in the file stays.
pub fn require_writable(path: &Path) -> miette::Result<()> {
    let opened = make_folder(path).and_then(|()| File::options().append(true).create(true).open(path));
    opened.map(drop).into_diagnostic().wrap_err_with(|| cannot_write(path))
}

/// A path as a shell takes it for one word.
pub fn word(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+:@%,".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

fn make_folder(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_quoted_where_a_shell_would_split_it() {
        let words = ["a/b-1.toml", "my study.toml", "it's"].map(|path| word(Path::new(path)));
        assert_eq!(words, ["a/b-1.toml", "'my study.toml'", r"'it'\''s'"]);
    }
}
