//! Attributes of managed beans, read by a small Java program that attaches to the server's JVM.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::{READ_WITHIN, Witness};
use crate::proc;
use crate::runtime::base_env;
use crate::runtime::jdk::{self, Jdk};
use crate::tool;

/// Run from its source by the server's own JDK: nothing has to be compiled or shipped.
const READER: &str = include_str!("ReadBeans.java");

/// The value of each `(bean, attribute)`, in their order.
pub(super) fn read(witness: &Witness<'_>, beans: &[(&str, &str)]) -> Vec<Result<String, String>> {
    if beans.is_empty() {
        return Vec::new();
    }
    match ask(witness, beans) {
        Ok(said) => beans.iter().enumerate().map(|(index, _)| told(&said, index)).collect(),
        Err(reason) => vec![Err(reason); beans.len()],
    }
}

fn ask(witness: &Witness<'_>, beans: &[(&str, &str)]) -> Result<String, String> {
    let (jdk, pid) = virtual_machine(witness).ok_or("the server runs no JVM that can be found")?;
    let source = witness.site.trial_dir.join("ReadBeans.java");
    fs::write(&source, READER).map_err(|error| error.to_string())?;
    let mut command = Command::new(jdk.tool("java"));
    command.args(["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]).arg(&source).arg(pid.to_string());
    command.args(beans.iter().flat_map(|(bean, attribute)| [bean, attribute])).env_clear().envs(base_env());
    let ran = tool::run(&mut command, READ_WITHIN).map_err(|error| error.to_string())?;
    if ran.status.success() { Ok(ran.stdout) } else { Err(format!("cannot attach to the JVM: {}", ran.stderr.trim())) }
}

/// What a line such as `0 = 10` or `0 ! no such bean` says of the value at `index`.
fn told(said: &str, index: usize) -> Result<String, String> {
    let line = said.lines().find_map(|line| line.strip_prefix(&format!("{index} ")));
    match line.and_then(|line| line.split_once(' ')) {
        Some(("=", value)) => Ok(value.to_owned()),
        Some((_, reason)) => Err(reason.to_owned()),
        None => Err("it was not told".to_owned()),
    }
}

/// The server's JVM and a JDK to ask it by: the launched process, or the first below it that is a `java`.
pub(super) fn virtual_machine(witness: &Witness<'_>) -> Option<(Jdk, u32)> {
    let program = |pid: u32| fs::read_link(format!("/proc/{pid}/exe")).ok();
    let is_java = |pid: &u32| program(*pid).is_some_and(|exe| exe.file_name() == Some("java".as_ref()));
    let below = proc::descendants(witness.root);
    let pid = std::iter::once(witness.pid).chain(below.iter().map(|process| process.pid)).find(is_java)?;
    let own = witness.installed.jvm.as_ref().map(|jvm| jvm.jdk.clone());
    let home = || Some(program(pid)?.parent()?.parent()?.to_string_lossy().into_owned());
    Some((own.or_else(|| jdk::find(Some(&home()?), Path::new("/")).ok())?, pid))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_told_apart() {
        let said = "0 = a b\n1 ! no such bean\n";
        assert_eq!(told(said, 0).unwrap(), "a b");
        assert_eq!(told(said, 1).unwrap_err(), "no such bean");
        assert!(told(said, 2).is_err());
    }
}
