//! What `java` and `jcmd` print: flags and properties.

use indexmap::IndexMap;

/// A flag of a JVM, as it prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flag {
    /// Of one that is a list, and was given several times, a line for each.
    pub value: String,
    /// What it belongs to: `product`, `C2 product`.
    pub kind: String,
    /// Where its value comes from: `default`, `command line`, `ergonomic`.
    pub origin: String,
}

impl Flag {
    /// Whether somebody set it: by the command line, a variable or a file. What the JVM chose or corrected by itself counts only if
    /// it says so (`command line, ergonomic`).
    pub fn is_set(&self) -> bool {
        !matches!(self.origin.as_str(), "default" | "ergonomic")
    }
}

/// Flags by name.
pub type Flags = IndexMap<String, Flag>;

/// What a JVM prints that is asked for all ([`super::PRINT_ALL`]).
#[derive(Debug)]
pub struct Printed {
    /// Its flags.
    pub flags: Flags,
    /// Its system properties.
    pub properties: IndexMap<String, String>,
    /// Its warnings, and why it does not start.
    pub said: String,
}

impl Printed {
    /// By its two streams: some of its words are on the one, some on the other.
    pub fn by(stdout: &str, stderr: &str) -> Self {
        let is_reported =
            |line: &str| line.starts_with("openjdk version") || line == PROPERTIES || line.starts_with(INDENT);
        let is_words = |line: &&str| !is_reported(line) && parse_flags(line).is_empty();
        let said = stdout.lines().chain(stderr.lines()).filter(is_words).collect::<Vec<_>>().join("\n");
        Self { flags: parse_flags(stdout), properties: parse_properties(stderr), said }
    }
}

/// How `-XshowSettings:properties` begins, and each of its lines.
const PROPERTIES: &str = "Property settings:";
const INDENT: &str = "    ";

/// Reads lines such as `    java.io.tmpdir = /tmp`; each further part of a list of folders has a line of its own, indented twice.
fn parse_properties(text: &str) -> IndexMap<String, String> {
    let mut properties: IndexMap<String, String> = IndexMap::new();
    let lines = text.lines().skip_while(|line| *line != PROPERTIES).skip(1);
    for line in lines.map_while(|line| line.strip_prefix(INDENT)) {
        match (line.strip_prefix(INDENT), line.split_once(" = ").or_else(|| Some((line.strip_suffix(" =")?, "")))) {
            (Some(part), _) => {
                if let Some((_, list)) = properties.last_mut() {
                    list.push(':');
                    list.push_str(part);
                }
            }
            (None, Some((name, value))) => {
                properties.insert(name.to_owned(), value.to_owned());
            }
            (None, None) => {}
        }
    }
    properties
}

/// Reads lines such as `   size_t MaxHeapSize   = 536870912   {product} {command line}`. A list that was given several times has a line for
/// each, `ccstrlist Name = first` and `Name += second`, of which the last shows what it belongs to.
pub fn parse_flags(text: &str) -> Flags {
    let mut flags = Flags::new();
    let mut begun = String::new();
    for line in text.lines() {
        let Some((left, right)) = line.split_once('=') else { continue };
        let words: Vec<&str> = left.trim_end_matches([':', ' ']).split_whitespace().collect();
        let (name, is_first) = match words[..] {
            [name, "+"] => (name, false),
            [_type, name] => (name, true),
            _ => continue,
        };
        if is_first {
            begun.clear();
        } else {
            begun.push('\n');
        }
        let Some((rest, origin)) = right.rsplit_once(" {") else {
            begun.push_str(right.trim());
            continue;
        };
        let (value, kind) = rest.rsplit_once(" {").unwrap_or((rest, ""));
        let inner = |braced: &str| braced.trim_end().trim_end_matches('}').to_owned();
        let value = std::mem::take(&mut begun) + value.trim();
        flags.insert(name.to_owned(), Flag { value, kind: inner(kind), origin: inner(origin) });
    }
    flags
}

/// Reads `name=value` lines, escaped as Java's `Properties` are.
pub fn pairs(text: &str) -> IndexMap<String, String> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| split_pair(line).map(|(name, value)| (unescape(name), unescape(value)))).collect()
}

/// At the first `=` that no backslash hides.
fn split_pair(line: &str) -> Option<(&str, &str)> {
    let mut hidden = false;
    for (at, c) in line.char_indices() {
        match c {
            '=' if !hidden => return Some((&line[..at], &line[at + 1..])),
            _ => hidden = c == '\\' && !hidden,
        }
    }
    None
}

fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match if c == '\\' { rest.next() } else { None } {
            None => out.push(c),
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('t') => out.push('\t'),
            Some('u') => {
                let code = u32::from_str_radix(&rest.by_ref().take(4).collect::<String>(), 16).ok();
                out.push(code.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            Some(other) => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::same_flag;
    use super::*;

    #[test]
    fn a_list_is_printed_in_several_lines() {
        // Of JDK 17 and 25 alike.
        let flags = parse_flags(
            "ccstrlist CompileCommand                           = quiet\n\
             \x20         CompileCommand                          += inline,A::b            {product} {command line}\n\
             \x20   ccstr CompileCommandFile                       =                                           {product} {default}\n\
             ccstrlist CompileOnly                              = A::b                                      {product} {command line}\n",
        );
        assert_eq!(flags.keys().collect::<Vec<_>>(), ["CompileCommand", "CompileCommandFile", "CompileOnly"]);
        let list = &flags["CompileCommand"];
        assert_eq!((list.value.as_str(), list.kind.as_str(), list.is_set()), ("quiet\ninline,A::b", "product", true));
        let same = |requested| same_flag(&flags, 4096, "CompileCommand", requested, &list.value);
        assert!(same("quiet") && same("inline,A::b") && !same("inline,A::c") && !same(""));
        assert_eq!(flags["CompileOnly"].value, "A::b");
    }

    #[test]
    fn printed_flags_are_read() {
        let flags = parse_flags(
            "[Global flags]\n\
             \x20  size_t G1HeapRegionSize      = 4194304     {product} {command line, ergonomic}\n\
             \x20   ccstr HeapDumpPath          =             {manageable} {default}\n\
             \x20   ccstr ErrorFile             = /tmp/x.log  {product} {command line}\n\
             \x20  double MaxRAMPercentage      = 40.000000   {product} {default}\n",
        );
        let region = &flags["G1HeapRegionSize"];
        let reported = [&region.value, &region.kind, &region.origin].map(String::as_str);
        assert_eq!(reported, ["4194304", "product", "command line, ergonomic"]);
        assert_eq!(flags["HeapDumpPath"].value, "");
        assert_eq!(flags["ErrorFile"].value, "/tmp/x.log");
        assert_eq!(flags.len(), 4);
    }

    #[test]
    fn shown_properties_are_read() {
        let text = "x\nProperty settings:\n    file.encoding = UTF-8\n    java.class.path = \n    java.library.path = /a\n        /b\n\
                    \x20   user.dir = /x = y\n\nopenjdk version \"17\"\n    no = property\n";
        let read = parse_properties(text);
        let reported: Vec<(&str, &str)> = read.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let wanted = [
            ("file.encoding", "UTF-8"),
            ("java.class.path", ""),
            ("java.library.path", "/a:/b"),
            ("user.dir", "/x = y"),
        ];
        assert_eq!(reported, wanted);
    }

    #[test]
    fn properties_are_unescaped() {
        let read = pairs("42:\n#a comment\nfile.separator=/\na\\ b\\=c=x\\:y\\\\\\u00e9\n");
        assert_eq!(read["a b=c"], "x:y\\é");
        assert_eq!(read.len(), 2);
    }
}
