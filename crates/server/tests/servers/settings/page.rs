//! `docs/settings.md`, made from the table.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::table::{Case, Expect, GROUPS, Group, Place};

const HEAD: &str = "# What becomes of a setting

bakeoff reads every setting of a study back from the running process, in every launch, for one
variant or for all. This page says what the results mean, how they are found, and which real cases
are tested. For example, on JDK 17 with G1:

| setting | result | why |
|---|---|---|
| `-Xmx256m` | in effect | MaxHeapSize |
| `-XX:G1HeapRegionSize=3m` | overridden | a power of 2, so 4 MiB |
| `-XX:CompileThreshold=500` | inert here | tiered compilation ignores it |

## The results

| result | meaning | finding |
|---|---|---|
| refused | the runtime does not start with it; its own message is shown | setting-refused |
| unknown | the runtime starts but knows no such name; the nearest name is shown | setting-unknown |
| overridden | the process has another value | setting-not-effective |
| already the default | the process has the value, and would have it anyway | setting-is-default, if both variants have it |
| inert here | the process has the value, but something else in the same process keeps it from having an effect | setting-inert |
| in effect | the process has the value | |
| unverified | nothing shows the value | setting-unverified |

## Which process is queried

The [serving process](telemetry.md#who-serves): the one of the launched tree that holds the
listening socket. Under `runtime = \"command\"` that is what the start script becomes or starts. A JVM
is queried by `jcmd` of its own JDK. A Ruby or JRuby reports from inside, by `RUBYOPT`, which a
start script must not replace.

## The default

The default is the value without the setting's level, with everything else the same. (For a setting
that all variants share: without that setting.) bakeoff starts a second JVM to find it, with the
server's environment, processors (`[host] server_cpus`) and `limits`. That JVM gets no property
(`-D`) of the study, and nothing that would claim the heap's memory beside the server
(`-XX:+AlwaysPreTouch`; with ZGC the initial heap size). A property that exists only once it is set
has no default.

## JVM options and properties

- **Names** are checked against the runtime. What a setting needs to have an effect is a table with
  sources, `crates/runtimes/src/inert.rs`, compared with the live values.
- **Inert** is also what a runtime that bakeoff starts itself ignores with a warning at its start
  (`Unknown module`, `unknown warning category`). Behind a `command`, such a warning may come from
  another program and does not count.
- **Archives** are inert if the JVM has not mapped them, because they are missing or do not fit
  (`-XX:SharedArchiveFile`, `-XX:AOTCache`). So is a missing archive of `-Xbootclasspath/a`.
- **Properties** that begin like the JDK's own (`java.`, `javax.`, `jdk.`, `sun.`, `com.sun.`,
  `user.`, `file.`, `http.`) are unknown if no JDK class contains that name, but one contains a name
  at most two letters away. A property named like a JVM flag is unknown too.
- A property that the program has since removed or changed is unverified: the JVM was started with
  it.
- A size that the JVM rounds counts as the one requested.
- Options that add up (`--add-opens`, `-XX:CompileCommand`, `-XX:OnError` and the like) are settings
  of their own.

## Ruby

- **MRI's GC variables** (`RUBY_GC_*`). That the process has them is read from itself. The values
  that result come from a second Ruby, the same program with the same variables, because MRI shows
  them only at its start.
- **JRuby's options** are those that the JRuby in the process has loaded, if it reads `RUBYOPT`. An
  embedded JRuby, or a run's folder with a space in its path, leaves only the JVM's properties. Then
  \"in effect\" says less: a property set after JRuby has read its options, as by `.jrubyrc`, reads as
  set and does nothing. In a servlet container they are read through jruby-rack (1.2.6), unless that
  has its own environment (its parameter `jruby.runtime.env`).
- **YJIT** is read once more when the server has answered, however it was requested: Rails turns it
  on after its start.
- **Ruby's variables** (`RUBY_GC_*`, `RUBY_YJIT_*`, `RUBY_THREAD_*`, `RUBY_FIBER_*`) that this Ruby
  does not have are unknown if at most two letters away from one that it has, or if another Ruby has
  them. Otherwise they may be the program's own, and are unverified.

## Options in variables

This is about `JAVA_OPTS`, `JAVA_TOOL_OPTIONS`, `JRUBY_OPTS`, `RUBYOPT` and the like; where a JVM
serves, any variable all of whose words begin with `-X`, `-D` or `--add-`; and Ruby's own variables
(`RUBY_*`).

- They are in effect only if the runtime that reads them confirms it. Where no such runtime serves,
  they are unverified; an [`[[assertion]]`](study-file.md#assertion) can show what became of them.
- Each option is judged by itself. The first problem counts for the variable and names the option.
  The variable is the default only if all its options are. Of an option given twice, the later one
  counts.
- An option that all variants have in that variable makes no difference between them, and is left
  out. If it has a problem, it is reported by itself as shared (`JAVA_OPTS: -XX:+UseNUMA`).
- An option is unverified if a shell may have expanded it (`-Dlogs=$HOME/logs`, by `eval`) and its
  value differs. So is one that the serving JVM was not given, in a variable that only its words
  identify: it may be for another JVM.
- Variants are compared by the variable's whole text, unless all of it is the default in both.

Any other variable is the program's own: it is in effect when the process has it, and `LD_PRELOAD`
when the process has mapped the libraries. A process that has overwritten its environment with a
long title, as Puma may, shows no variables.

## Commands and arguments

- **Words of a `command`** are judged in the same way: those between `java`, `jruby` or `ruby` and
  its program, and, behind a start script, those that the serving JVM shows among its options. A
  word counts as such a program if it comes first, follows `exec`, `env` or an assignment, or is an
  executable file (a folder may have the same name). Words that the serving process does not show,
  because another program took them, are unverified.
- **All other words** make another command. It is in effect once it was started, since it may hand
  over to anything. Two commands that differ only in options that are the default, or that have no
  effect, are one treatment.
- **Arguments** (`args`, `ruby`) that are no options of the JVM or about YJIT only show that they
  are on a command line: that of the serving process, as its kernel or its Ruby reports it, or that
  of the launched process if it serves itself. If they are on neither, they are unverified.

## When the runtime does not start

Behind a start script, bakeoff takes the reason from those of the script's last output lines that
name the option; there is nothing else left. The same applies to JVM agents, which are not started a
second time for a query, and to a security manager.

## Tested cases

`cargo test -p server --test servers settings::` launches the cases below for real. Their expected
results come from the runtime's documentation or source, not from bakeoff. Cases below one another
in a block run in one process. Cases are skipped if their JDK is not installed (JRuby 10.1 takes 21
or 25), and MRI's unless it is 3.1 with YJIT. This page is generated from
`crates/server/tests/servers/settings/table.rs` (`UPDATE_DOCS=1` writes it anew).
";

fn page() -> String {
    let mut page = HEAD.to_owned();
    let mut last = None;
    for group in GROUPS {
        if last != Some(group.on) {
            // Writing to a String cannot fail.
            let _ = write!(page, "\n## {}\n\n| setting | result | why |\n|---|---|---|\n", group.on.name());
            last = Some(group.on);
        }
        rows(&mut page, group);
    }
    page
}

fn rows(page: &mut String, group: &Group) {
    if group.with.is_empty() {
        let _ = writeln!(page, "| *another process* | | |");
    } else {
        let _ = writeln!(page, "| *launched with* `{}` | | |", group.with.join(" "));
    }
    for case in group.cases {
        let _ = writeln!(page, "| {} | {} | {} |", setting(case), result(case.expect), case.why);
    }
}

fn setting(case: &Case) -> String {
    match case.place {
        Place::Jvm | Place::Argument | Place::Command => format!("`{}`", case.name),
        Place::Env => format!("variable `{}={}`", case.name, case.value),
        Place::Property => format!("property `{}={}`", case.name, case.value),
        Place::Jruby => format!("`{}={}`", case.name, case.value),
    }
}

fn result(expect: Expect) -> String {
    match expect {
        Expect::Refused(words) => format!("refused: \"{words}\""),
        Expect::Unknown(Some(nearest)) => format!("unknown; nearest: `{nearest}`"),
        Expect::Unknown(None) => "unknown".to_owned(),
        Expect::Overridden => "overridden".to_owned(),
        Expect::Default => "already the default".to_owned(),
        Expect::Inert => "inert here".to_owned(),
        Expect::InEffect => "in effect".to_owned(),
        Expect::Unverified => "unverified".to_owned(),
    }
}

#[test]
fn the_page_is_made_from_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/settings.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, page()).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == page(),
        "docs/settings.md is out of date: UPDATE_DOCS=1 cargo test -p server --test servers settings::page"
    );
}
