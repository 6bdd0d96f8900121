//! What servers hold of their host: the NUMA nodes that they are bound to, and accelerators' memory.

use model::GpuMemory;
use sense::process::facts_of;
use sense::{Command, Process, gpu};

use crate::look::Eye;
use crate::look::candidate::Hardware;

/// How long the driver's tool is waited for: the servers' answers do not wait for it much longer.
const PATIENCE: std::time::Duration = std::time::Duration::from_millis(600);

/// What each of these servers holds, in their order. Where the driver's tool is not there, nothing is said of its memory.
pub(in crate::look) async fn of(eye: &Eye, homes: &[Process]) -> Vec<Hardware> {
    let pids: Vec<u32> = homes.iter().map(|home| home.pid).collect();
    if pids.is_empty() {
        return Vec::new();
    }
    let facts = facts_of(&eye.place, &pids).await;
    let (list, apps) = (Command::GpuList, Command::GpuMemory);
    let (list, apps) = tokio::join!(eye.place.run(&list, PATIENCE), eye.place.run(&apps, PATIENCE));
    let text = |ran: Result<sense::command::Ran, model::Blind>| {
        ran.map(|ran| String::from_utf8_lossy(&ran.stdout).into_owned()).unwrap_or_default()
    };
    let (gpus, apps) = (gpu::gpus(&text(list)), gpu::gpu_apps(&text(apps)));
    let held = |home: &Process| -> Vec<GpuMemory> {
        let of = |gpu: &gpu::Gpu| {
            let own = apps.iter().filter(|app| app.gpu_uuid == gpu.uuid && home.family.contains(&app.pid));
            let used: Vec<u64> = own.filter_map(|app| app.used_mib).collect();
            let used_mib = (!used.is_empty()).then(|| used.iter().sum())?;
            Some(GpuMemory { index: gpu.index, used_mib, total_mib: gpu.total_mib? })
        };
        gpus.iter().filter_map(of).collect()
    };
    let all = homes.iter().zip(facts);
    all.map(|(home, facts)| Hardware { numa_nodes: facts.numa, gpus: held(home) }).collect()
}
