//! The published SGLang 0.5.23 in the lab, run by its own Python: its source against the page that the same version gave
//! under load (engines/sglang/captures/0.5.23-on-load).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use sense::installed::{Bounds, Kind, Stamps, Wanted, installed};
use sense::{AllowList, Client, Host, Limits, Place};
use testkit::real::{Real, wait_until, wanted};
use wire::exposition::{self, metadata};
use wire::python::Metric;

/// Definitions that no `if` stands around and that the page has not: their labels are filled in with the first event of
/// their kind, and that load had none of these.
const NOT_YET: [(&str, &str); 24] = [
    ("encoder_", "no encoder runs there"),
    ("backup", "nothing is stored beyond the device"),
    ("hicache_", "nothing is stored beyond the device"),
    ("load_back_", "nothing is stored beyond the device"),
    ("prefetch", "nothing is stored beyond the device"),
    ("storage_prefetch_", "nothing is stored beyond the device"),
    ("kv_transfer_", "prefill and decode are one server"),
    ("num_bootstrap_failed_", "prefill and decode are one server"),
    ("num_transfer_failed_", "prefill and decode are one server"),
    ("num_prefill_retries_", "prefill and decode are one server"),
    ("num_decode_host_receive_", "prefill and decode are one server"),
    ("decode_deferred_kv_", "prefill and decode are one server"),
    ("failed_session_", "prefill and decode are one server"),
    ("grammar_", "no structured output was asked for"),
    ("num_grammar_", "no structured output was asked for"),
    ("num_so_requests_", "no structured output was asked for"),
    ("dp_cooperation_", "one data-parallel rank"),
    ("prefill_delayer_", "one data-parallel rank"),
    ("num_retracted_", "nothing was retracted in this recording"),
    ("num_aborted_", "nothing was aborted"),
    ("spec_verify_", "no speculative decoding"),
    ("estimated_", "an option of its own"),
    ("forward_execution_", "an option of its own"),
    ("max_", "set for hybrid pools and latency targets only"),
];
/// The same, one by one: options of their own.
const OPTIONS: [&str; 4] = [
    "sglang:eplb_gpu_physical_count",
    "sglang:func_latency_seconds",
    "sglang:startup_latency_breakdown_seconds_max",
    "sglang:weight_load_duration_seconds",
];

fn main() -> ExitCode {
    let trial = Trial::test("the installed 0.5.23 defines what its page has", source).with_ignored_flag(!wanted());
    libtest_mimic::run(&Arguments::from_args(), vec![trial]).exit_code()
}

fn lab() -> PathBuf {
    let cache = || std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache");
    let own = || cache().unwrap_or_else(home).join("plimsoll/lab");
    std::env::var_os("PLIMSOLL_LAB").map_or_else(own, PathBuf::from)
}

fn source() -> Result<(), Failed> {
    let environment = lab().join("sglang-0.5.23");
    let log = tempfile::NamedTempFile::new()?;
    let program = environment.join("bin/python").display().to_string();
    let python = Real::start(
        &program,
        &["-c".to_owned(), "import time; print(1, flush=True); time.sleep(600)".to_owned()],
        log.path(),
    );
    let exe = PathBuf::from(format!("/proc/{}/exe", python.pid()));
    // It is Python before it has read where its packages are.
    wait_until("Python to have begun", || std::fs::metadata(log.path()).is_ok_and(|log| log.len() > 0));
    wait_until("Python", || std::fs::read_link(&exe).is_ok_and(|exe| exe.to_string_lossy().contains("python3")));
    let wanted = Wanted {
        package: "sglang".into(),
        folders: vec!["srt".into()],
        needles: vec!["sglang:".into(), "prometheus_client".into()],
    };
    let place = Place::from(Host::new(Client::new(AllowList::default(), Limits::default())));
    let mut stamps = Stamps::default();
    let root = std::path::PathBuf::from(format!("/proc/{}/root", python.pid()));
    let look =
        async |stamps: &mut Stamps| installed(&place, python.pid(), &root, &wanted, Bounds::default(), stamps).await;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (found, again) = runtime.block_on(async { (look(&mut stamps).await, look(&mut stamps).await) });
    let found = found.map_err(|blind| blind.text)?;
    assert_eq!(again.as_ref(), Ok(&found), "what is known is what was read");
    assert_eq!((found.version.as_deref(), &found.kind), (Some("0.5.23"), &Kind::Release));
    assert!(found.patched.is_empty() && found.notes.is_empty(), "{:?} {:?}", found.patched, found.notes);

    let metrics: Vec<&Metric> = found.files.iter().flat_map(|file| &file.metrics).collect();
    let page = std::fs::read(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../engines/sglang/captures/0.5.23-on-load/metrics.prom"),
    )?;
    let families: BTreeSet<String> = metadata(&page, &exposition::Limits::default())
        .map(|declared| declared.name.to_string())
        .filter(|name| name.starts_with("sglang:"))
        .collect();
    assert!(families.len() > 80, "{}", families.len());
    for family in &families {
        let fits = |metric: &&&Metric| metric.name == *family || metric.is_exposed_as(family);
        assert!(metrics.iter().any(|metric| fits(&metric)), "{family} is on the page, and in no source that was read");
    }
    for metric in metrics.iter().filter(|metric| metric.when.is_empty()) {
        let shown = metric.exposed().iter().any(|name| families.contains(name)) || families.contains(&metric.name);
        let bare = metric.name.strip_prefix("sglang:").unwrap_or(&metric.name);
        let explained =
            NOT_YET.iter().any(|(start, _)| bare.starts_with(start)) || OPTIONS.contains(&metric.name.as_str());
        assert!(shown || explained, "{} is defined unconditionally, and not on the page", metric.name);
    }
    Ok(())
}
