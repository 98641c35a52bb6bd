//! A program as it is launched once.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use indexmap::IndexMap;
use model::study::ReadySign;

use super::error::{LaunchError, Log};
use super::hint;
use super::ready::{Sign, Unready};
use crate::isolation::Group;
use crate::probe::{Watched, gc_log};
use crate::runtime::Installed;
use crate::serving::Inside;
use crate::site::{PlaceholderError, Site};
use crate::supervise::Order;

/// An installed program with all placeholders replaced.
#[derive(Debug)]
pub(super) struct ResolvedProgram {
    pub order: Order,
    pub sign: Sign,
    pub site: Site,
    /// What commands beside it run under.
    pub supervisor: Vec<String>,
    /// Ends them when raised.
    pub interrupted: Arc<AtomicBool>,
    /// When it is looked at.
    pub watched: Watched,
}

impl ResolvedProgram {
    pub fn prepare(
        name: &str,
        probe: &str,
        installed: &Installed,
        site: &Site,
        port: u16,
    ) -> Result<Self, LaunchError> {
        let all = |texts: &[String]| {
            texts.iter().map(|text| site.complete(text)).collect::<Result<Vec<_>, PlaceholderError>>()
        };
        let mut args = all(&installed.args)?;
        let jvm_options = all(installed.jvm.as_ref().map_or(&[], |jvm| jvm.options.as_slice()))?;
        let values: Vec<String> = installed.env.values().cloned().collect();
        let mut env: IndexMap<_, _> = installed.env.keys().cloned().zip(all(&values)?).collect();
        let program = site.complete(&installed.program.to_string_lossy())?.into();
        let sign = match &installed.ready.sign {
            ReadySign::Get(path) => {
                Sign::Get { address: SocketAddr::from((Ipv4Addr::LOCALHOST, port)), path: site.complete(path)? }
            }
            ReadySign::Tcp(address) => Sign::Tcp(site.complete(address)?),
        };
        // Before the study's own options, which decide.
        args.splice(0..0, gc_log::option(installed, &jvm_options, &site.trial_dir));
        if installed.is_probed {
            Inside::prepare(&site.trial_dir, probe, &mut env)
                .map_err(LaunchError::io("write the probe to", &site.trial_dir))?;
        }
        let log = site.trial_dir.join(format!("{name}.log"));
        let order = Order { program, args, env, dir: installed.dir.clone(), log, ..Order::default() };
        Ok(Self {
            order,
            sign,
            site: site.clone(),
            supervisor: Vec::new(),
            interrupted: Arc::default(),
            watched: Watched::Always,
        })
    }

    /// `group` knows whether the kernel ended some of it.
    pub fn explain(&self, name: &str, unready: Unready, installed: &Installed, group: &Group) -> LaunchError {
        let name = name.to_owned();
        let (killed, oom_kills) = (group.killed(), group.oom_kills());
        let log = Box::new(Log::read(&self.order.log, &self.site.secrets));
        match unready {
            Unready::Exited(exit) => {
                let hint = killed.or_else(|| hint::why_ended(exit, &log.tail, installed.jvm.as_ref()));
                let hint = hint.map(|hint| format!(": {hint}")).unwrap_or_default();
                LaunchError::Exited { name, exit, hint, oom_kills, log }
            }
            Unready::Interrupted => LaunchError::Interrupted { name },
            Unready::Foreign(address, stranger) => LaunchError::Foreign {
                name,
                address,
                owner: match stranger.pid {
                    Some(pid) => format!("process {pid}, `{}`", self.site.secrets.mask(&stranger.command)),
                    None => stranger.command,
                },
                log,
            },
            Unready::Late { last } => LaunchError::Late {
                name,
                expected: self.site.secrets.mask(&self.sign.describe()),
                last: last + &killed.map(|why| format!("; {why}")).unwrap_or_default(),
                within: installed.ready.within,
                oom_kills,
                log,
            },
        }
    }
}
