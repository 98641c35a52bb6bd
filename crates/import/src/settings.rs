//! Settings beside results: option assignments in shell files, notes in Markdown and JSON.
//!
//! ```text
//! lines ─→ blocks: fences and inline code of Markdown, `# --- block`, keys of JSON
//! line  ─→ Assignment{variable, line, block, options, is_added, is_read}
//! ```
//!
//! An assignment that may not run (inside `if`, `case`, a loop, after `&&`), or runs for one command only, counts as added: nobody
//! knows what it replaced.

use std::borrow::Cow;
use std::path::Path;

use model::imported::{Assignment, Settings};
use runtimes::{OptionVariable, jvm};
use serde::de::IgnoredAny;

use crate::shell::{self, Token, tokens};

/// Longest file that is taken for settings, bytes.
const LONGEST: usize = 64 << 10;
/// Most lines that one value in quotes goes over.
const LONGEST_VALUE: usize = 50;
/// What begins an excerpt of another place of the original.
const BLOCK: &str = "--- block";
/// What may stand before an assignment or a command, as words: a prompt, a list's mark, a keyword.
const BEFORE: [&str; 21] = [
    "$", ">", "-", "*", "{", "!", "then", "else", "do", "export", "declare", "-x", "typeset", "local", "readonly",
    "set", "ENV", "exec", "nohup", "time", "env",
];
/// Of these the assignments last.
const LASTING: [&str; 8] = ["export", "declare", "typeset", "local", "readonly", "set", "ENV", "-"];
/// Words in names whose values nobody should see.
const SECRETS: [&str; 6] = ["password", "passwd", "secret", "token", "key", "credential"];
const HIDDEN: &str = "***";

/// The options that a file assigns. `None` where it is longer than 64 KiB, is no text, or assigns none. `name` is for people.
pub fn settings(name: &str, text: &[u8]) -> Option<Settings> {
    if text.len() > LONGEST || text.contains(&0) {
        return None;
    }
    let text = String::from_utf8_lossy(text);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut reader = Reader::default();
    let is_json = text.trim_start().starts_with(['{', '[']) && serde_json::from_str::<IgnoredAny>(text).is_ok();
    if is_json {
        reader.json(text);
    } else {
        reader.text(text, None);
    }
    let Reader { assignments, .. } = reader;
    let has_option = assignments.iter().any(|assignment| !assignment.options.is_empty());
    has_option.then(|| Settings { file: name.to_owned(), assignments })
}

#[derive(Default)]
struct Reader {
    assignments: Vec<Assignment>,
    block: usize,
    /// How many `if`, `case` and loops are open.
    depth: usize,
}

impl Reader {
    /// All lines of a text; `line` is where it stands if that is inside of one line.
    fn text(&mut self, text: &str, line: Option<u64>) {
        let lines: Vec<&str> = text.lines().collect();
        let mut at = 0;
        while let Some(first) = lines.get(at) {
            let trimmed = first.trim();
            let number = line.unwrap_or(at as u64 + 1);
            at += 1;
            if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
                self.next_block();
            } else if let Some(comment) = trimmed.strip_prefix('#') {
                if comment.trim_start_matches('#').trim_start().starts_with(BLOCK) {
                    self.next_block();
                }
            } else if let Some((tokens, written, count)) = statement(&lines[at - 1..]) {
                at += count - 1;
                if !self.statement(&tokens, &written, number) {
                    self.inline(first, number);
                }
            } else {
                self.inline(first, number);
            }
        }
    }

    /// Code inside a line of prose, each piece by itself.
    fn inline(&mut self, line: &str, number: u64) {
        for code in line.split('`').skip(1).step_by(2) {
            self.next_block();
            if let Some(tokens) = tokens(code) {
                self.statement(&tokens, code, number);
            }
            self.next_block();
        }
    }

    /// The strings of a JSON text. What stands behind another key is a block of its own.
    fn json(&mut self, text: &str) {
        let (mut key, mut line) = (String::new(), 1);
        let mut rest = text;
        while let Some((before, string)) = rest.split_once('"') {
            line += newlines(before);
            let (string, behind) = json_string(string);
            rest = behind;
            if behind.trim_start().starts_with(':') {
                self.next_block();
                key = string;
            } else if string.trim_start().starts_with('-') {
                let options = options(&string);
                if is_options(&key, &options) {
                    self.assign(&key, line, options, true);
                }
            } else {
                self.text(&string, Some(line));
            }
        }
    }

    fn next_block(&mut self) {
        self.depth = 0;
        if self.assignments.last().is_some_and(|last| last.block == self.block) {
            self.block += 1;
        }
    }

    /// The commands of a line, which is `written` so. Says whether one of them assigns or is given options.
    fn statement(&mut self, all: &[Token], written: &str, line: u64) -> bool {
        let before = self.assignments.len();
        let own: Vec<&str> = words(all).filter_map(shell::assignment).map(|(name, ..)| name).collect();
        for read in shell::variables(written).filter(|read| !own.contains(read)) {
            self.assignments.iter_mut().filter(|earlier| earlier.variable == read).for_each(|one| one.is_read = true);
        }
        let mut is_conditional = false;
        for part in all.split_inclusive(|token| matches!(token, Token::End { .. })) {
            let words: Vec<&str> = words(part).collect();
            self.count_depth(&words);
            self.command(&words, line, is_conditional || self.depth > 0);
            is_conditional = matches!(part.last(), Some(Token::End { is_condition: true }));
        }
        self.assignments.len() > before
    }

    fn count_depth(&mut self, words: &[&str]) {
        match words.first().copied() {
            Some("then" | "do" | "case") => self.depth += 1,
            Some("fi" | "done" | "esac" | "elif") => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }

    /// What one command assigns, or hands to a JVM.
    fn command(&mut self, words: &[&str], line: u64, is_conditional: bool) {
        let begin = words.iter().position(|word| !BEFORE.contains(word)).unwrap_or(words.len());
        let (before, mut rest) = words.split_at(begin);
        let mut assigned = Vec::new();
        while let Some((name, is_added, value)) = rest.first().and_then(|word| shell::assignment(word)) {
            let behind = rest.get(1..).unwrap_or_default();
            // No command begins with a dash: whoever wrote this left out the quotes.
            let more = behind.iter().take_while(|word| word.starts_with('-')).count();
            let (more, behind) = behind.split_at(more);
            let value: Cow<'_, str> =
                if more.is_empty() { value.into() } else { format!("{value} {}", more.join(" ")).into() };
            assigned.push((name, is_added, value));
            rest = behind;
        }
        let is_for_one_command = !rest.is_empty() && !before.iter().any(|word| LASTING.contains(word));
        for (name, is_added, value) in assigned {
            let options = options(&value);
            if is_options(name, &options) {
                let keeps = is_added || shell::variables(&value).any(|read| read == name);
                self.assign(name, line, options, keeps || is_conditional || is_for_one_command);
            }
        }
        if let [program, arguments @ ..] = rest
            && let Some(name @ ("java" | "jruby")) = Path::new(program).file_name().and_then(|name| name.to_str())
        {
            let arguments = arguments.iter().filter(|word| !word.starts_with('$')).map(|word| (*word).to_owned());
            let options = jvm::before_program(arguments.collect()).0.into_iter().map(|given| given.name);
            let options: Vec<String> = options.filter(|option| option.starts_with('-')).collect();
            if options.iter().any(|option| is_for_jvm(option)) {
                self.assign(name, line, options, true);
            }
        }
    }

    fn assign(&mut self, variable: &str, line: u64, options: Vec<String>, is_added: bool) {
        let is_secret = is_secret(variable);
        let options = options.into_iter().map(|option| hidden(option, is_secret)).collect();
        let variable = variable.to_owned();
        self.assignments.push(Assignment { variable, line, block: self.block, options, is_added, is_read: false });
    }
}

fn words(tokens: &[Token]) -> impl Iterator<Item = &str> {
    tokens.iter().filter_map(|token| if let Token::Word(word) = token { Some(word.as_str()) } else { None })
}

/// The first of the lines with those that continue it: its parts, what it says, and how many lines it has. `None` where a quote in it
/// does not end.
fn statement(lines: &[&str]) -> Option<(Vec<Token>, String, usize)> {
    let mut written = String::new();
    for (count, line) in (1..=LONGEST_VALUE).zip(lines) {
        if count > 1 && line.trim_start().starts_with("```") {
            return None;
        }
        written.push_str(line);
        let is_continued = line.len() - line.trim_end_matches('\\').len();
        if is_continued % 2 == 1 && count < lines.len() {
            written.push('\n');
            continue;
        }
        if let Some(tokens) = tokens(&written) {
            return Some((tokens, written, count));
        }
        // An apostrophe of prose opens no quote.
        if !written.contains("=\"") && !written.contains("='") {
            return None;
        }
        written.push('\n');
    }
    None
}

/// The options in a variable's value.
fn options(value: &str) -> Vec<String> {
    let all = jvm::options(value).map_or_else(
        |_| value.split_whitespace().map(str::to_owned).collect(),
        |options| options.into_iter().map(|given| given.name).collect::<Vec<_>>(),
    );
    all.into_iter().filter(|word| word.len() > 1 && word.starts_with('-')).collect()
}

/// Whether what has this name is there for options, by its name or by what it has.
fn is_options(name: &str, options: &[String]) -> bool {
    OptionVariable::of(name, "").is_some_and(OptionVariable::is_options)
        || options.iter().any(|option| is_for_jvm(option))
}

/// Whether a word is an option of the JVM or of JRuby, and neither curl's `-XPOST` nor a definition for C.
fn is_for_jvm(option: &str) -> bool {
    let is_lower = |rest: &str| rest.starts_with(|letter: char| letter.is_ascii_lowercase());
    option.strip_prefix("-D").or(option.strip_prefix("-X")).is_some_and(is_lower)
        || ["-XX:", "-J-", "--add-", "-javaagent:"].iter().any(|begin| option.starts_with(begin))
}

/// Without the value of what seems to be a secret, by the name before any `=` in it.
fn hidden(option: String, is_secret_variable: bool) -> String {
    let is_about_secret = |equals: usize| {
        let before = option.get(..equals).unwrap_or_default();
        is_secret_variable || is_secret(before.rsplit([',', ';', '&', '?', '=']).next().unwrap_or_default())
    };
    let shown = option.match_indices('=').map(|(equals, _)| equals).find(|equals| is_about_secret(*equals));
    match shown.and_then(|equals| option.get(..=equals)) {
        Some(shown) => format!("{shown}{HIDDEN}"),
        None => option,
    }
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRETS.iter().any(|secret| name.contains(secret))
}

fn newlines(text: &str) -> u64 {
    text.bytes().filter(|byte| *byte == b'\n').count() as u64
}

/// The string of JSON that goes on behind its first quote, and what follows it.
fn json_string(text: &str) -> (String, &str) {
    let mut is_escaped = false;
    let end = text.bytes().position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    let (inside, behind) = end.and_then(|end| Some((text.get(..end)?, text.get(end + 1..)?))).unwrap_or((text, ""));
    (serde_json::from_str(&format!("\"{inside}\"")).unwrap_or_default(), behind)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Variable, line, block, options, and whether it adds, of each assignment.
    fn read(text: &str) -> Vec<(String, u64, usize, String, bool)> {
        let all = settings("a", text.as_bytes()).map_or_else(Vec::new, |settings| settings.assignments);
        let one = |one: Assignment| (one.variable, one.line, one.block, one.options.join(" "), one.is_added);
        all.into_iter().map(one).collect()
    }

    fn of(
        variable: &str,
        line: u64,
        block: usize,
        options: &str,
        is_added: bool,
    ) -> (String, u64, usize, String, bool) {
        (variable.to_owned(), line, block, options.to_owned(), is_added)
    }

    #[test]
    fn a_shell_file_assigns_and_adds() {
        let text = "#!/bin/sh\n\
                    JAVA_OPTS=\"-Xmx1g -Da=b\" # first\n\
                    # JAVA_OPTS=-Xmx9g\n\
                    export CATALINA_OPTS='-Xss1m' JAVA_OPTS=\"$JAVA_OPTS \\\n  -Xms1g\"\n\
                    JAVA_OPTS+=\" -Dc=d\"\n\
                    JAVA_OPTS=\"${JAVA_OPTS} -De=f\"\n\
                    JAVA_OPTS=\"\n-Xmx2g\n-Xms2g\"\n\
                    exec $JAVA_HOME/bin/java $JAVA_OPTS -Xg=h -cp a.jar -jar b.jar -Xno\n\
                    JAVA_OPTS=-Xmx3g bin/start\n\
                    CFLAGS=-DNDEBUG curl -XPOST a\n\
                    --- block\n\
                    # --- block 2\n\
                    JAVA_OPTS=\n";
        assert_eq!(
            read(text),
            [
                of("JAVA_OPTS", 2, 0, "-Xmx1g -Da=b", false),
                of("CATALINA_OPTS", 4, 0, "-Xss1m", false),
                of("JAVA_OPTS", 4, 0, "-Xms1g", true),
                of("JAVA_OPTS", 6, 0, "-Dc=d", true),
                of("JAVA_OPTS", 7, 0, "-De=f", true),
                of("JAVA_OPTS", 8, 0, "-Xmx2g -Xms2g", false),
                of("java", 11, 0, "-Xg=h -Djava.class.path=a.jar", true),
                of("JAVA_OPTS", 12, 0, "-Xmx3g", true),
                of("JAVA_OPTS", 16, 1, "", false),
            ]
        );
    }

    #[test]
    fn prose_with_apostrophes_hides_no_line() {
        let text = "We don't\nJAVA_OPTS=-Xmx1g\nwant it, and can't\n";
        assert_eq!(read(text), [of("JAVA_OPTS", 2, 0, "-Xmx1g", false)]);
    }

    #[test]
    fn what_may_not_run_replaces_nothing() {
        let text = "if [ -z \"$A\" ]; then\n  JAVA_OPTS=-Xmx1g\nelse\n  JAVA_OPTS=-Xmx2g\nfi\n[ -n \"$B\" ] && JAVA_OPTS=-Xmx3g\n\
                    JAVA_OPTS=-Xmx4g; start $JAVA_OPTS\nJAVA_OPTS=-Xmx5g";
        let settings = settings("a", text.as_bytes()).unwrap();
        let all: Vec<_> = settings.assignments.iter().map(|one| (one.line, one.is_added, one.is_read)).collect();
        assert_eq!(all, [(2, true, false), (4, true, false), (6, true, false), (7, false, false), (8, false, false)]);
    }

    #[test]
    fn what_a_later_line_reads_is_known() {
        let text =
            "JAVA_OPTS=-Xmx1g\njava $JAVA_OPTS A\nJAVA_OPTS=-Xmx2g\nOTHER=\"$JAVA_OPTS -Xss1m\"\nJAVA_OPTS=-Xmx3g";
        let settings = settings("a", text.as_bytes()).unwrap();
        let are_read: Vec<bool> = settings.assignments.iter().map(|one| one.is_read).collect();
        assert_eq!(are_read, [true, true, false, false]);
    }

    #[test]
    fn notes_have_code_and_prose() {
        let text = "# Run 7\n\nWe don't set -XX:+UseG1GC, but `JAVA_OPTS=\"-Xmx1g -Xms1g\"` on one node.\n\n\
                    ```sh\nJAVA_OPTS=\"-Xmx2g\"\n# JAVA_OPTS=-Xmx9g\njruby -J-Xmx1g -Xjit.threshold=30 a.rb\n```\n- JAVA_OPTS=-Xmx3g -Xms3g\n";
        assert_eq!(
            read(text),
            [
                of("JAVA_OPTS", 3, 0, "-Xmx1g -Xms1g", false),
                of("JAVA_OPTS", 6, 1, "-Xmx2g", false),
                of("jruby", 8, 1, "-J-Xmx1g -Xjit.threshold=30", true),
                of("JAVA_OPTS", 10, 2, "-Xmx3g -Xms3g", false),
            ]
        );
        let prose =
            "The flag `-XX:+UseG1GC` and -XX:MaxPermSize=1g in JAVA_OPTS made it slow; don't use java -version.";
        assert_eq!(read(prose), []);
    }

    #[test]
    fn json_has_a_block_for_each_key() {
        let text = "{\n \"before\": {\"JAVA_OPTS\": \"-Xmx1g\"},\n \"after\":\n  {\"JAVA_OPTS\": \"-Xmx\\u0032g -Da=b\"},\n\
                    \"command\": [\"java\", \"-Xss1m\", \"-jar\", \"a.jar\"],\n \"env\": [\"JAVA_OPTS=-Xc=d\"], \"args\": [\"-n\", \"1\"]}";
        assert_eq!(
            read(text),
            [
                of("JAVA_OPTS", 2, 0, "-Xmx1g", true),
                of("JAVA_OPTS", 4, 1, "-Xmx2g -Da=b", true),
                of("command", 5, 2, "-Xss1m", true),
                of("JAVA_OPTS", 6, 3, "-Xc=d", false),
            ]
        );
    }

    #[test]
    fn secrets_are_hidden() {
        let text =
            "JAVA_OPTS=\"-Dssl.keyStorePassword=abc=d -Da=b -javaagent:a.jar=x=1,apiToken=e,y=2\"\nSECRET_OPTS=-Df=g";
        let written: Vec<String> = read(text).into_iter().map(|(.., options, _)| options).collect();
        assert_eq!(written, ["-Dssl.keyStorePassword=*** -Da=b -javaagent:a.jar=x=1,apiToken=***", "-Df=***"]);
    }

    #[test]
    fn other_files_are_no_settings() {
        let long = format!("JAVA_OPTS=-Xmx1g\n{}", "# x\n".repeat(LONGEST / 4));
        for text in [
            "",
            "JAVA_OPTS=",
            "JAVA_OPTS=-Xmx1g\0",
            "a,b\n1,2\n",
            "{\"a\": [\"-n\", \"-X\"]}",
            "CFLAGS=-DNDEBUG",
            &long,
        ] {
            assert_eq!(settings("a", text.as_bytes()), None);
        }
    }
}
