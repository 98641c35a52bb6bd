//! The arguments that a running JVM reports.

use super::is_option;

/// All options that a JVM got, from its command line, from variables and from files, as `jcmd VM.command_line` prints them: on one
/// line and without quotes, so that a space may end an option or be part of it.
#[derive(Debug, Clone)]
pub struct Arguments {
    /// With a space before the first and behind the last.
    line: String,
}

impl Arguments {
    /// From what `jcmd VM.command_line` prints.
    pub fn parse(printed: &str) -> Self {
        let options = printed.lines().find_map(|line| line.strip_prefix("jvm_args: "));
        Self { line: format!(" {} ", options.unwrap_or_default().trim()) }
    }

    /// Whether this option, which may have spaces, is among them.
    pub fn contains(&self, option: &str) -> bool {
        self.line.contains(&format!(" {option} "))
    }

    /// The options but for properties, first to last; of one with a space the part before it.
    pub fn options(&self) -> impl Iterator<Item = &str> {
        self.line.split(' ').filter(|word| is_option(word))
    }

    /// What a property is set to, first to last; of a value with a space the part before it.
    pub fn values_of(&self, property: &str) -> impl DoubleEndedIterator<Item = &str> {
        let set = format!("-D{property}=");
        self.line.split(' ').filter_map(move |word| word.strip_prefix(&set))
    }

    /// Whether the last value of a property, which counts, is this one, which may have spaces.
    pub fn ends_with_value(&self, property: &str, value: &str) -> bool {
        let set = format!(" -D{property}=");
        self.line.rfind(&set).is_some_and(|at| self.line[at + set.len()..].starts_with(&format!("{value} ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments() -> Arguments {
        Arguments::parse(
            "4242:\nVM Arguments:\njvm_args: -Xmx1g -Da=1 --add-opens java.base/java.io=ALL -Da=x y -XX:+UseG1GC\njava_command: Main -Xms1g\n",
        )
    }

    #[test]
    fn options_are_found_whole() {
        let arguments = arguments();
        assert!(
            ["-Xmx1g", "-XX:+UseG1GC", "--add-opens java.base/java.io=ALL"].iter().all(|one| arguments.contains(one))
        );
        assert!(["-Xmx1", "-Xms1g", "UseG1GC"].iter().all(|other| !arguments.contains(other)));
        assert_eq!(arguments.options().collect::<Vec<_>>(), ["-Xmx1g", "--add-opens", "-XX:+UseG1GC"]);
    }

    #[test]
    fn the_last_value_of_a_property_counts() {
        let arguments = arguments();
        assert_eq!(arguments.values_of("a").collect::<Vec<_>>(), ["1", "x"]);
        assert!(arguments.ends_with_value("a", "x y"));
        assert!(!arguments.ends_with_value("a", "1") && !arguments.ends_with_value("b", ""));
    }

    #[test]
    fn a_jvm_without_options_reports_none() {
        let none = Arguments::parse("VM Arguments:\njava_command: Main\n");
        assert_eq!(none.options().count(), 0);
        assert!(!none.contains("-Xmx1g"));
    }
}
