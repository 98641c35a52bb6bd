//! `docs/settings.md`, made from the table.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use model::study::SettingKind;

use crate::table::{Case, Expect, GROUPS, Group};

const HEAD: &str = "# What becomes of a setting

Whatever a study asks for, of one variant or of all, is read back from the running process of every launch, and comes out as one of these:

| result | meaning | finding |
|---|---|---|
| refused | the runtime does not start with it; its own words are shown | setting-refused |
| unknown | the runtime starts and knows no such name; the nearest is shown | setting-unknown |
| overridden | the process has another value | setting-not-effective |
| already the default | the process has the value, and would have had it anyway | setting-is-default, where both variants have it |
| inert here | the process has the value, and something else of the same process keeps it from doing anything | setting-inert |
| in effect | the process has the value | |
| unverified | nothing tells the value | setting-unverified |

The default is what the same runtime has with everything else as it is and without what the setting's level brings (a setting that all variants share: without
itself): a second JVM is asked, with the environment, the processors (`[host] server_cpus`) and the `limits` that the server has, without any property (`-D`) of the
study's, and without what would have it take the heap's memory beside the server (`-XX:+AlwaysPreTouch`; with ZGC the size that the heap begins with). A property that the JVM has
only once it is set has no default. One of those that its program has since taken away or written anew is unverified: the JVM was started with it. Names are asked of the runtime;
what a setting needs is a table with sources, `crates/server/src/settings/needs.rs`, held against the live values. What a runtime that bakeoff starts itself says at its start that it makes nothing of is inert (`Unknown module`,
`unknown warning category`; behind a `command` others may have said it), and so are an archive that the JVM is to share classes with and has not mapped, since it is not there or does not fit (`-XX:SharedArchiveFile`, `-XX:AOTCache`), and one of `-Xbootclasspath/a` that is
not there. A property named as the JDK's own (`java.`, `javax.`, `jdk.`, `sun.`, `com.sun.`, `user.`, `file.`, `http.`) is unknown where none of its classes has that name, and one has a name that is up to two letters away; so is one with the
name of a flag of the JVM. A size that the JVM rounds is the one asked for; of
options that add to each other (`--add-opens`, `-XX:CompileCommand`, `-XX:OnError` and the like) each is a setting of its own.

Two things are read less directly. What MRI makes of its collector's variables (`RUBY_GC_*`) it says only as it starts: that the process has them is read from itself, what they come to from a second
Ruby, the same program with the same variables. And JRuby's options are what the JRuby in the process has loaded only where that reads RUBYOPT. One that does not, as an embedded one, or a run's
folder with a blank in its path, leaves the JVM's properties, and \"in effect\" is then the weaker: a property that is set after JRuby has read its options, as by `.jrubyrc`, reads as set and does nothing. In a servlet
container it is read through jruby-rack (1.2.6), unless that is given an environment of its own (its parameter `jruby.runtime.env`).

Who is asked: the process that serves, which is the one of the launched tree that holds the listening socket
([telemetry](telemetry.md#who-serves)). Under `runtime = \"command\"` that is what the start script becomes or has below it.

Options in a variable (`JAVA_OPTS`, `JAVA_TOOL_OPTIONS`, `JRUBY_OPTS`, `RUBYOPT` and the like; where a JVM serves, any variable all of whose words begin
with `-X`, `-D` or `--add-`), and Ruby's own variables (`RUBY_*`), are in effect only if
the runtime that reads them has been asked: each option by itself, the first that did not come out well speaking for all, by name, and the default only where all are; of one given twice the
later counts. An option that all variants have in that text makes no difference between them: it is left out of this, and where it did not come out well it is reported by itself, as shared
(`JAVA_OPTS: -XX:+UseNUMA`). Where a shell may have expanded an option (`-Dlogs=$HOME/logs`, by `eval`), and its value is another, it is unverified; so is an option that the JVM which serves was not
given, in a variable that is known only by its words: it may be for another JVM. What is compared between variants is the variable's whole text, unless all of it is the default in both. A JVM
is asked by `jcmd` of its own JDK, a Ruby or a JRuby from inside (by `RUBYOPT`, which a start script must not replace), and about YJIT, however it was asked for, once more when
the server has answered: Rails turns it on after its start. Where no such runtime serves they are
unverified, and an [`[[assertion]]`](study-file.md#assertion) shows what became of them. Of arguments (`args`, `ruby`) that are no options of the JVM or about YJIT it is known only that they stand in a command line,
be it the one of the process that serves, as its kernel or its Ruby tells it, or the one that was launched, where that serves itself: where they stand in neither they are unverified. Any other variable is the
program's own affair: it is in effect when the process has it, and `LD_PRELOAD` when the process has the libraries mapped. A process that has written a long title over its environment, as Puma may, does not tell.

The words of a `command` are judged in the same way: those that stand behind `java`, `jruby` or `ruby` and before its program, and, where a start script is called, those that the JVM which serves shows
among its options. A word is such a program where it stands first, or behind `exec`, `env` or an assignment, or is a file that can be run: a folder may bear the same name. What the process that serves does not show, as another program has taken it, is unverified. All other words make up another command, which is in effect since it was
started: it may hand over to whatever it likes. Two commands that differ in nothing but options that are the default, and in those that count for nothing, are one treatment.

A variable named as Ruby's own (`RUBY_GC_*`, `RUBY_YJIT_*`, `RUBY_THREAD_*`, `RUBY_FIBER_*`) that this Ruby does not have is unknown where it is up to two letters away from one that it has, or one
that other Rubies have; else it may be the program's own, and is unverified.

What a start script's runtime does not start with is recognised by those of its last words that name the option: they are all that is left. So it is with agents of the JVM, which are not started a second time to be asked, and with
a security manager.

Below are the cases that are launched for real by `cargo test -p server --test settings`, each expected by the runtime's
documentation or source, not by what bakeoff says. Cases of one row block run in one process. Those of a JDK that is not installed are skipped (JRuby 10.1
takes 21 or 25), and those of MRI where it is no 3.1 with YJIT. This page is made from
`crates/server/tests/settings/table.rs` (`UPDATE_DOCS=1` writes it anew).
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
    match case.kind {
        SettingKind::JvmFlag | SettingKind::Argument | SettingKind::Runtime => format!("`{}`", case.name),
        SettingKind::Env => format!("variable `{}={}`", case.name, case.value),
        SettingKind::Property => format!("property `{}={}`", case.name, case.value),
        _ => format!("`{}={}`", case.name, case.value),
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
    assert!(kept == page(), "docs/settings.md is out of date: UPDATE_DOCS=1 cargo test -p server --test settings page");
}
