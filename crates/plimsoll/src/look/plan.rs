//! What is to be looked at from where, by the words of the command line: this host, hosts over ssh, or files.

use anyhow::{Result, bail};
use sense::ssh::Destination;

use super::access::Keys;
use super::saved;
use crate::cli::LookArgs;

/// What is to be looked at from one place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    /// The host over ssh, if it is not this one.
    pub(crate) via: Option<Destination>,
    /// Addresses, or files; none: the host is searched.
    pub(crate) targets: Vec<String>,
    /// The targets are files.
    pub(crate) files: bool,
    /// Logs of servers among the targets.
    pub(crate) logs: Vec<String>,
}

/// What the arguments come to: one plan for each place. The error says what does not go together.
pub(crate) fn plans(args: &LookArgs, monitors: &[String], keys: &Keys) -> Result<Vec<Plan>> {
    let files = saved::files(args, monitors)?;
    if !files.is_empty() {
        return Ok(vec![Plan { targets: files, files: true, ..Plan::default() }]);
    }
    let words = if args.targets.is_empty() { keys.words(monitors) } else { args.targets.clone() };
    let mut plans: Vec<Plan> = Vec::new();
    // A host that is named alone is searched, whatever else is named on it.
    let mut whole: Vec<Destination> = Vec::new();
    for word in &words {
        let (via, inner) = match Destination::split(word) {
            Some(split) => {
                let (destination, inner) = split?;
                (Some(destination), inner)
            }
            None => (None, Some(word.as_str())),
        };
        let at = plans.iter().position(|plan| plan.via == via).unwrap_or_else(|| {
            plans.push(Plan { via: via.clone(), ..Plan::default() });
            plans.len() - 1
        });
        match inner {
            Some(inner) => plans[at].targets.push(inner.to_owned()),
            None => whole.extend(via),
        }
    }
    for plan in plans.iter_mut().filter(|plan| plan.via.as_ref().is_some_and(|via| whole.contains(via))) {
        plan.targets.clear();
    }
    if plans.is_empty() {
        plans.push(Plan::default());
    }
    match plans.iter_mut().find(|plan| plan.via.is_none()) {
        Some(here) => here.logs.clone_from(&args.log),
        None if args.log.is_empty() => {}
        None => bail!("--log is for a server that is asked from here; on a host over ssh logs are found by themselves"),
    }
    Ok(plans)
}
