//! What of the host the processes get: `[host]`, and the limits of a server.

use model::study::{Isolation, Limits};
use runtimes::jvm;

use crate::file::{HostKeys, Network, Table};
use crate::problem::{Problem, Problems, did_you_mean};
use crate::value::{At, Cpus, unsigned};

/// Least memory that is allowed: less starts nothing that serves.
const LEAST_MEMORY: u64 = 4 << 20;

/// How the processes are kept apart.
pub(crate) fn isolation(keys: &HostKeys, problems: &mut Problems) -> Isolation {
    let (server, client) = (&keys.server_cpus, &keys.client_cpus);
    if let (Some(server), Some(client)) = (server, client)
        && let Some(shared) = server.value.0.iter().find(|cpu| client.value.0.contains(cpu))
    {
        problems.add(
            Problem::new(format!("server and client both get processor {shared}"))
                .at(server.place, "the server's")
                .at(client.place, "the client's")
                .help("give each its own, as in `server_cpus = \"0\"` and `client_cpus = \"1\"`, or leave both out"),
        );
    }
    let numbers = |cpus: &Option<At<Cpus>>| cpus.as_ref().map_or_else(Vec::new, |cpus| cpus.value.0.clone());
    Isolation { server_cpus: numbers(server), client_cpus: numbers(client), own_network: keys.network == Network::Own }
}

/// What a server may use at most.
pub(crate) fn limits(table: &Table, problems: &mut Problems) -> Limits {
    let mut limits = Limits::default();
    for (name, text) in table {
        let wrong = match &***name {
            "cpus" => {
                limits.cpus = unsigned(text).filter(|cpus| *cpus >= 0.01);
                let help = "cores are a number of 0.01 or more, as in `cpus = \"1.5\"`";
                limits.cpus.is_none().then(|| help.to_owned())
            }
            "memory" => {
                limits.memory_bytes = jvm::bytes(text).filter(|bytes| *bytes >= LEAST_MEMORY);
                let help = "memory is 4 MB or more, as in `memory = \"512m\"` or `\"2g\"`";
                limits.memory_bytes.is_none().then(|| help.to_owned())
            }
            other => Some(did_you_mean(other, &["cpus", "memory"])),
        };
        if let Some(help) = wrong {
            problems.add(
                Problem::new(format!("`{} = {}` limits nothing", name.value, text.value.0))
                    .at(name.place, "here")
                    .at(text.place, "this")
                    .help(help),
            );
        }
    }
    limits
}
