//! The listed commands of the real host, and what they print.

use model::BlindKind;
use sense::command::PATIENCE;
use sense::gpu::{Gpu, GpuApp, gpu_apps, gpus};
use sense::{Command, Ran};

use crate::places::place;
use crate::proc_real::here;

fn all() -> [Command; 4] {
    let unit = "no-such-unit-at-all.service".to_string();
    [
        Command::Journal { unit: unit.clone(), user: None, since: None, until: None, newest: Some(5) },
        Command::GpuMemory,
        Command::GpuList,
        Command::UnitProperties { unit, user: None },
    ]
}

/// Whatever of it is installed here: an answer or a reason, never a panic.
#[tokio::test]
async fn on_this_host() {
    for command in all() {
        match here().run(&command, PATIENCE).await {
            Ok(Ran { cut, .. }) => assert!(!cut, "{command:?}"),
            Err(blind) => {
                assert!([BlindKind::Gone, BlindKind::Denied, BlindKind::Deadline].contains(&blind.kind), "{blind}");
                assert!(!blind.text.is_empty());
            }
        }
    }
}

#[tokio::test]
async fn never_for_a_tree_of_files() {
    let dir = tempfile::tempdir().unwrap();
    for command in all() {
        assert_eq!(place(dir.path()).run(&command, PATIENCE).await.unwrap_err().kind, BlindKind::Gone);
    }
}

/// The forms are those of nvidia-smi's manual: with and without heading and units, `[N/A]` under MIG or without rights.
#[test]
fn gpus_and_their_processes() {
    let app = |pid, uuid: &str, used_mib| GpuApp { pid, gpu_uuid: uuid.into(), used_mib };
    let text = "pid, gpu_uuid, used_gpu_memory [MiB]\n\
                4242, GPU-5d5ba0d6-d33d-2b2c-524d-9e3d8d2b8a77, 83000\n\
                \n 17 ,GPU-a , 12 MiB\r\n\
                18, GPU-b, [N/A]\n\
                19, MIG-4/5/0, [Insufficient Permissions]\n\
                20, GPU-c\n\
                [Not Supported], GPU-d, 5\n\
                21, [N/A], 5\n\
                -1, GPU-e, 5\n\
                22, GPU-f, 99999999999999999999999\n\
                No devices were found\n";
    let expected = [
        app(4242, "GPU-5d5ba0d6-d33d-2b2c-524d-9e3d8d2b8a77", Some(83000)),
        app(17, "GPU-a", Some(12)),
        app(18, "GPU-b", None),
        app(19, "MIG-4/5/0", None),
        app(20, "GPU-c", None),
        app(22, "GPU-f", None),
    ];
    assert_eq!(gpu_apps(text), expected);
    let gpu = |index, total_mib, used_mib, bus_id: &str| Gpu {
        index,
        uuid: format!("GPU-{index}"),
        total_mib,
        used_mib,
        bus_id: bus_id.into(),
    };
    let text = "index, uuid, memory.total [MiB], memory.used [MiB], pci.bus_id\n\
                0, GPU-0, 97871, 83000, 00000000:1B:00.0\n\
                1, GPU-1, [N/A], 5 MiB, [N/A]\n\
                2, GPU-2\nx\n";
    let expected =
        [gpu(0, Some(97871), Some(83000), "00000000:1B:00.0"), gpu(1, None, Some(5), ""), gpu(2, None, None, "")];
    assert_eq!(gpus(text), expected);
}
