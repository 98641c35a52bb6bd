//! The study's variants put together on this machine.

use std::cell::RefCell;
use std::path::Path;

use model::Study;
use server::{HOOK_WITHIN, Installed, Launcher};

use super::error::ConductError;
use super::event::{Event, Watcher};

/// The study's variants put together on this machine, to be launched again and again.
pub struct Prepared<'a> {
    pub(super) launcher: &'a Launcher,
    pub(super) study: &'a Study,
    pub(super) folder: &'a Path,
    pub(super) installed: Vec<Installed>,
}

impl<'a> Prepared<'a> {
    /// Finds or fetches what the variants run on, and runs the study's setup.
    pub fn new(
        launcher: &'a Launcher,
        study: &'a Study,
        folder: &'a Path,
        watcher: &mut dyn Watcher,
    ) -> Result<Self, ConductError> {
        let launch = |error| ConductError::launch(study, error);
        // The setup may build what the variants run, so it goes first.
        let site = launcher.site(&study.dir, folder, &study.services).map_err(launch)?;
        if let Some(check) = &study.hooks.check {
            watcher.see(&Event::Preparing("running the check hook"));
            launcher.hook("check", check, &site, HOOK_WITHIN).map_err(launch)?;
        }
        if let Some(setup) = &study.hooks.setup {
            watcher.see(&Event::Preparing("running the setup hook"));
            launcher.hook("setup", setup, &site, HOOK_WITHIN).map_err(launch)?;
        }
        let watcher = RefCell::new(watcher);
        let announce = |step: &str| watcher.borrow_mut().see(&Event::Preparing(step));
        let toolbox = launcher.toolbox(folder).announcing(&announce);
        let installed = study
            .variants
            .iter()
            .map(|variant| {
                server::install(&variant.server, &study.dir, &toolbox)
                    .map_err(|source| ConductError::Runtime { variant: variant.name.clone(), source: Box::new(source) })
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { launcher, study, folder, installed })
    }
}
