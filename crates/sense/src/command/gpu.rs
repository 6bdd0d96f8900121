//! `nvidia-smi`.

use model::{Blind, BlindKind};

use super::{Ran, first_line};

const FORMAT: &str = "--format=csv,noheader,nounits";

pub(super) fn memory() -> Vec<String> {
    ["--query-compute-apps=pid,gpu_uuid,used_gpu_memory", FORMAT].map(String::from).into()
}

pub(super) fn list() -> Vec<String> {
    ["--query-gpu=index,uuid,memory.total,memory.used,pci.bus_id", FORMAT].map(String::from).into()
}

/// A driver that does not answer is an exit code, and words where the figures should be.
pub(super) fn judge(ran: Ran) -> Result<Ran, Blind> {
    match ran.code {
        Some(0) | None => Ok(ran),
        Some(code) => Err(Blind::new(BlindKind::Gone, format!("nvidia-smi ended with {code}: {}", first_line(&ran)))),
    }
}
