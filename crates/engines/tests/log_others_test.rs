//! Lines that other programs print: none of them tells anything of this engine's pools. Recorded, cut to a few each.

mod support;

use model::SourceOutcome;
use support::read;

const OTHERS: [&str; 12] = [
    "(EngineCore pid=11946) INFO 11-29 13:49:14 [kv_cache_utils.py:2327] CPU KV cache size: 4,096 tokens, Maximum concurrency for 1,024 tokens per request: 4.00x",
    "(Worker pid=12278) INFO 11-29 13:49:14 [cpu_worker.py:260] Explicitly set (1.0/23.54) GiB for KV cache on node 0.",
    "0.00.083.979 I srv    load_model: initializing, n_slots = 4, n_ctx_slot = 2048, kv_unified = 'true'",
    "0.02.962.722 I slot launch_slot_: id  3 | task 2 | processing task, is_child = 0",
    "\u{1b}[2m2026-11-29T13:43:52.962021Z\u{1b}[0m \u{1b}[32m INFO\u{1b}[0m \u{1b}[2mdynamo_runtime::runtime\u{1b}[0m\u{1b}[2m:\u{1b}[0m Phase 1: Cancelling endpoint shutdown token",
    "\u{1b}[2m2026-11-29T13:43:45.349619Z\u{1b}[0m \u{1b}[32m INFO\u{1b}[0m \u{1b}[2mdynamo_llm::mocker\u{1b}[0m\u{1b}[2m:\u{1b}[0m Creating mocker engine with config: MockerConfig { engine: EngineLaunchConfig { engine: EngineConfig { backend: Sglang, num_gpu_blocks: 256, block_size: 16",
    "\u{1b}[32;20m[2026-11-29 14:00:15,184] LMCache INFO:\u{1b}[0m Stored 512 tokens in 1.722 seconds \u{1b}[3m(engine_driven_transfer.py:447:lmcache.v1.multiprocess.modules.engine_driven_transfer)\u{1b}[0m",
    "\u{1b}[32;20m[2026-11-29 13:59:44,507] LMCache INFO:\u{1b}[0m TokenHasher initialized: chunk_size=32, hash_algorithm=blake3",
    "\u{1b}[2m2026-11-29 13:56:47\u{1b}[0m \u{1b}[32m INFO\u{1b}[0m \u{1b}[2msmg::server\u{1b}[0m\u{1b}[2m:\u{1b}[0m Tokio runtime sized \u{1b}[3mworker_threads\u{1b}[0m\u{1b}[2m=\u{1b}[0m2 \u{1b}[3mpinned\u{1b}[0m\u{1b}[2m=\u{1b}[0mfalse",
    "[W1129 13:49:12.285671022 utils.cpp:68] Warning: NUMA binding: Using MEMBIND policy for memory allocation on the NUMA nodes (0).",
    "(APIServer pid=11795) INFO 11-29 13:48:39 [api_utils.py:286] non-default args: {'host': '127.0.0.1', 'port': 18100, 'max_model_len': 1024, 'enforce_eager': True}",
    "[2026-11-29 13:59:19] HiCache memory headroom: host 19.3 GiB, cgroup 8589934587.5 GiB",
];

#[test]
fn no_line_of_another_program_is_read() {
    for text in OTHERS.iter().map(|line| (*line).to_owned()).chain([OTHERS.join("\n")]) {
        let account = read(text.as_bytes());
        assert_eq!((account.sets.len(), account.values.len(), account.notes.len()), (0, 0, 0), "{text}");
        assert!(matches!(account.sources[0].outcome, SourceOutcome::Empty(_)), "{text}");
    }
}
