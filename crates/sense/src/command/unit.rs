//! `systemctl show`.

use model::{Blind, BlindKind};

use super::{Ran, first_line};

/// What is asked of a unit; not `Environment`.
const PROPERTIES: &str = "--property=Id,LoadState,ActiveState,SubState,FragmentPath,SourcePath,DropInPaths,\
    NeedDaemonReload,ExecStart,EnvironmentFiles,WorkingDirectory,User,MainPID,NRestarts,ActiveEnterTimestamp,\
    ExecMainStartTimestamp,StandardOutput,StandardError,CPUAffinity,NUMAPolicy,NUMAMask";

pub(super) fn args(unit: &str, user: Option<u32>) -> Vec<String> {
    let mut args = Vec::new();
    if user.is_some() {
        args.push("--user");
    }
    args.extend(["show", "--no-pager", PROPERTIES, "--", unit]);
    args.into_iter().map(String::from).collect()
}

/// The way to a user's own systemd, which only that user goes.
pub(super) fn env(user: Option<u32>) -> Result<Vec<(&'static str, String)>, Blind> {
    let Some(uid) = user else { return Ok(Vec::new()) };
    if rustix::process::geteuid().as_raw() != uid {
        let text =
            format!("the unit belongs to the user {uid}, whose systemd answers only that user: run this as them");
        return Err(Blind::new(BlindKind::Denied, text));
    }
    Ok(vec![("XDG_RUNTIME_DIR", format!("/run/user/{uid}"))])
}

pub(super) fn judge(ran: Ran) -> Result<Ran, Blind> {
    if ran.code.is_none_or(|code| code == 0) {
        return Ok(ran);
    }
    let denied = ["Access denied", "Permission denied", "Operation not permitted"];
    let kind = if denied.iter().any(|words| ran.stderr.contains(words)) { BlindKind::Denied } else { BlindKind::Gone };
    Err(Blind::new(kind, format!("systemctl: {}", first_line(&ran))))
}
