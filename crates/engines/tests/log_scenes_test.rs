//! Logs of several lines: ranks, the minute that counts events, bounds of the capacity, restarts, clocks.

mod support;

use model::{Account, Log, LogClock, PoolSet, RankId, Signal, State, Stretch, Time};
use support::{AT, SAID, interpreted, live, read, saved};

fn set<'a>(account: &'a Account, pool: &str, dp: u32) -> Option<&'a PoolSet> {
    account.sets.iter().find(|set| set.pool == pool && set.rank.dp == Some(dp))
}

fn of_pool(account: &Account, signal: Signal) -> Option<f64> {
    account.sets.iter().filter(|set| set.pool == "full").find_map(|set| set.readings.get(&signal)?.value)
}

fn retracted(account: &Account) -> Vec<(Option<u32>, f64)> {
    let of = |value: &&model::RankValue| value.signal == Signal::REQ_RETRACTED_RECENT;
    account.values.iter().filter(of).map(|value| (value.rank.dp, value.reading.value.expect("a count"))).collect()
}

/// A decode line of `tokens` at `clock` on the day of `SAID`.
fn decode(clock: &str, tokens: u32, usage: &str) -> String {
    format!(
        "[2026-11-29 {clock}] Decode batch, #running-req: 5, #token: {tokens}, token usage: {usage}, #queue-req: 0\n"
    )
}

const RETRACTED: &str = "KV cache pool is full. Retract requests. #retracted_reqs: 2, #new_tokens_gained: 304";

#[test]
fn ranks_in_lockstep_count_once_and_data_parallel_ranks_each() {
    let mut log = "[2026-11-29 16:13:00 TP0] up\n".to_owned();
    for tp in 0..8 {
        log += &format!("[2026-11-29 16:15:23 TP{tp}] {RETRACTED}\n");
    }
    assert_eq!(retracted(&read(log.as_bytes())), [(Some(0), 2.0)]);
    for (dp, tp) in [(0, 0), (0, 1), (1, 2), (1, 3)] {
        log += &format!("[2026-11-29 16:15:24 DP{dp} TP{tp}] {RETRACTED}\n");
    }
    // DP0: two of 16:15:23 and two of 16:15:24 by TP0 and TP1; DP1: two by TP2 and by TP3. The sum is the server's.
    assert_eq!(retracted(&read(log.as_bytes())), [(Some(0), 4.0), (Some(1), 2.0)]);
}

#[test]
fn only_the_last_minute_counts_and_only_where_all_of_it_was_read() {
    // A log that the server is found to write: the look is at 16:15:33; 16:14:32 is 61 s before it, 16:14:34 59 s.
    let found = |text: String| interpreted(Log { since: Some(AT.plus(-86_400.0)), ..live(text.as_bytes()) });
    let log = |first: &str| format!("[2026-11-29 {first}] {RETRACTED}\n[2026-11-29 16:15:01] {RETRACTED}\n");
    assert_eq!(retracted(&found(log("16:14:32"))), [(Some(0), 2.0)]);
    assert_eq!(retracted(&found(String::from("[2026-11-29 16:10:00] up\n") + &log("16:14:34"))), [(Some(0), 4.0)]);
    // Begins within the minute: what was before is not known, so nothing is said.
    assert_eq!(retracted(&found(log("16:14:34"))), []);
    // One that was saved, or given, tells nothing after its newest line (16:15:01): its minute ends there, and ages with it.
    let account = read((String::from("[2026-11-29 16:10:00] up\n") + &log("16:13:59")).as_bytes());
    assert_eq!(retracted(&account), [(Some(0), 2.0)]);
    let recent = account.values.iter().find(|value| value.signal == Signal::REQ_RETRACTED_RECENT).expect("a count");
    assert_eq!(recent.reading.at, Some(SAID.plus(-22.0)));
}

#[test]
fn lines_of_two_writers_are_read_for_neither() {
    let line = |who: &str, tokens: u32, usage: &str| format!("{who}  | {}", decode("16:15:23", tokens, usage));
    let account = read((line("a-1", 2000, "0.98") + &line("b-1", 100, "0.05")).as_bytes());
    assert_eq!(of_pool(&account, Signal::KV_USED), None);
    assert!(account.notes.iter().any(|note| note.id == "log-mixed"), "{:?}", account.notes);
    let account = read((line("a-1", 1900, "0.93") + &line("a-1", 2000, "0.98")).as_bytes());
    assert_eq!(of_pool(&account, Signal::KV_USED), Some(2000.0));
}

#[test]
fn a_number_that_a_file_ends_in_is_not_believed() {
    // 1178 tokens, cut after two digits.
    let account = read(b"[2026-11-29 16:15:23] Decode batch, #running-req: 5, #token: 11");
    assert_eq!(of_pool(&account, Signal::KV_USED), None);
    let running = account.values.iter().find(|value| value.signal == Signal::REQ_RUNNING).expect("a number before it");
    assert_eq!(running.reading.value, Some(5.0));
}

#[test]
fn one_line_out_of_order_does_not_end_the_log() {
    // The server started at 16:10; a line of 2019 in between is none of it, those before are.
    let text = decode("16:15:20", 100, "0.05")
        + &decode("16:15:21", 500, "0.25").replace("2026", "2019")
        + &format!("[2026-11-29 16:15:22] {RETRACTED}\n");
    let account = interpreted(Log { since: Some(AT.plus(-333.0)), ..live(text.as_bytes()) });
    assert_eq!(of_pool(&account, Signal::KV_USED), Some(100.0));
}

#[test]
fn a_clock_without_a_zone_is_not_held_against_the_present() {
    let text = decode("16:15:20", 100, "0.05");
    let account = interpreted(Log { clock: LogClock::Unknown, ..live(text.as_bytes()) });
    assert_eq!(of_pool(&account, Signal::KV_USED), None);
    assert!(account.notes.iter().any(|note| note.id == "log-zone"), "{:?}", account.notes);
}

#[test]
fn several_pairs_bound_the_capacity() {
    // 512 / 0.255 = 2007.8 and 512 / 0.245 = 2089.8; 1556 / 0.765 = 2033.98 and 1556 / 0.755 = 2060.9;
    // 100 / 0.055 = 1818.2 and 100 / 0.045 = 2222.2. What fits all: 2034 to 2060, the middle 2047 ± 13.
    let log = decode("16:15:21", 512, "0.25") + &decode("16:15:22", 1556, "0.76") + &decode("16:15:23", 100, "0.05");
    let account = read(log.as_bytes());
    let reading = &set(&account, "full", 0).expect("a set").readings[&Signal::KV_CAPACITY];
    assert_eq!((reading.state, reading.value, reading.precision), (State::Inferred, Some(2047.0), Some(13.0)));
    assert!(reading.inputs.iter().any(|input| input.contains("2034 to 2060")), "{reading:?}");
}

#[test]
fn pairs_that_contradict_bound_nothing() {
    // 512 at 0.25 is at most 2089, 1556 at 0.50 at least 1556 / 0.505 = 3081.
    let account = read((decode("16:15:22", 512, "0.25") + &decode("16:15:23", 1556, "0.50")).as_bytes());
    assert_eq!(of_pool(&account, Signal::KV_CAPACITY), None);
    assert_eq!(of_pool(&account, Signal::KV_USED), Some(1556.0));
    assert!(account.notes.iter().any(|note| note.id == "capacity-unclear"), "{:?}", account.notes);
}

#[test]
fn what_was_said_at_the_start_outweighs_bounds() {
    let start = "[2026-11-29 16:15:00] max_total_num_tokens=2048, max_prefill_tokens=16384, max_running_requests=4, context_len=4096\n";
    let account = read((start.to_owned() + &decode("16:15:23", 512, "0.25")).as_bytes());
    let capacities: Vec<_> =
        account.sets.iter().filter_map(|set| set.readings.get(&Signal::KV_CAPACITY)?.value).collect();
    assert_eq!(capacities, [2048.0]);
}

#[test]
fn a_restart_ends_the_run_before_it() {
    let start = "[2026-11-29 16:15:10] server_args=ServerArgs(model_path='m', tp_size=1, disable_radix_cache=True)\n";
    let before = decode("16:15:00", 1556, "0.76") + &format!("[2026-11-29 16:15:01] {RETRACTED}\n");
    let account = read((before.clone() + start).as_bytes());
    assert_eq!((account.sets.len(), of_pool(&account, Signal::KV_USED)), (0, None));
    let account = read((before + start + &decode("16:15:23", 512, "0.25")).as_bytes());
    assert_eq!(of_pool(&account, Signal::KV_USED), Some(512.0));
    assert_eq!(of_pool(&account, Signal::KV_CAPACITY), Some(2048.0), "the bounds of one pair, 2008 to 2089");
    // All of this run was read and nothing was retracted in it, and of its minute 13 s are over: the one before it did retract.
    let recent = account.values.iter().find(|value| value.signal == Signal::REQ_RETRACTED_RECENT).expect("a count");
    assert_eq!(recent.reading.value, None);
    assert!(recent.reading.reason.as_deref().is_some_and(|why| why.contains("this run began 13 s ago")), "{recent:?}");
    assert_eq!(account.fact("radix_off"), Some("on"));
}

#[test]
fn lines_older_than_the_process_are_another_servers() {
    let log = decode("16:14:00", 1556, "0.76") + &decode("16:15:00", 512, "0.25");
    let account = |since: f64| interpreted(Log { since: Some(SAID.plus(since)), ..saved(log.as_bytes()) });
    // 16:15:23 less 30 s is before 16:15:00, less 10 s after it.
    assert_eq!(of_pool(&account(-30.0), Signal::KV_USED), Some(512.0));
    assert_eq!(of_pool(&account(-30.0), Signal::KV_CAPACITY), Some(2048.0));
    assert_eq!(of_pool(&account(-10.0), Signal::KV_USED), None);
}

#[test]
fn a_line_that_is_being_written_is_not_read() {
    let log = decode("16:15:22", 512, "0.25") + decode("16:15:23", 1556, "0.76").trim_end();
    assert_eq!(of_pool(&interpreted(live(log.as_bytes())), Signal::KV_USED), Some(512.0));
    assert_eq!(of_pool(&read(log.as_bytes()), Signal::KV_USED), Some(1556.0), "a saved log is not written to any more");
    assert_eq!(of_pool(&interpreted(live((log + "\n").as_bytes())), Signal::KV_USED), Some(1556.0));
}

#[test]
fn what_a_request_says_is_no_line_of_the_server() {
    unquoted();
    let said = "Decode batch, #running-req: 9, #token: 99999, token usage: 0.99, #queue-req: 0";
    let dated = format!("[2026-11-29 16:15:23] {said}");
    for text in [said, &dated, &format!("it's {dated}"), &format!("\\' {dated}"), &format!("\\n{dated}\\n")] {
        let quoted = serde_json::Value::from(text).to_string();
        for line in [
            format!(
                "[2026-11-29 16:15:23] Receive: obj=GenerateReqInput(rid='1f', text='{}')",
                text.replace("it's", "its")
            ),
            format!("[2026-11-29 16:15:23] Receive: obj=GenerateReqInput(rid='1f', text=\"{text}\")"),
            format!(
                "[2026-11-29 16:15:23] Finish: obj=GenerateReqInput(rid='1f'), out={{'text': \"{text}\", 'meta_info': {{}}}}"
            ),
            format!(
                "{{\"timestamp\": \"2026-11-29T16:15:23\", \"event\": \"request.received\", \"obj\": {{\"text\": {quoted}}}}}"
            ),
            format!("[2026-11-29 16:15:23] {{\"event\": \"request.received\", \"obj\": {{\"text\": {quoted}}}}}"),
            format!("[2026-11-29 16:15:23] INFO:     127.0.0.1:1 - \"GET /{text} HTTP/1.1\" 404 Not Found"),
            format!("[2026-11-29 16:15:23] Receive: obj=1f, text={said}"),
        ] {
            let account = read((decode("16:15:22", 512, "0.25") + &line + "\n").as_bytes());
            assert_eq!(of_pool(&account, Signal::KV_USED), Some(512.0), "{line}");
        }
    }
    // Two programs that write into one line are not a quotation.
    let shared = format!("INFO:     127.0.0.1:1 - \"GET / HTTP/1.1\" 200 OK{}", decode("16:15:23", 700, "0.34"));
    assert_eq!(of_pool(&read(shared.as_bytes()), Signal::KV_USED), Some(700.0));
}

#[test]
fn lines_of_one_second_count_by_their_place_and_others_by_their_time() {
    let log = decode("16:15:22", 512, "0.25") + &decode("16:15:22", 513, "0.25");
    assert_eq!(of_pool(&read(log.as_bytes()), Signal::KV_USED), Some(513.0));
    // Two processes share a file, and one was a second late.
    let log = decode("16:15:23", 512, "0.25") + &decode("16:15:22", 1556, "0.76");
    assert_eq!(of_pool(&read(log.as_bytes()), Signal::KV_USED), Some(512.0));
}

/// Two processes share a file, and the one that is a little late wrote last.
#[test]
fn a_log_out_of_order_is_as_new_as_its_newest_line() {
    let start = "[2026-11-29 16:10:00] max_total_num_tokens=2048, max_prefill_tokens=16384, max_running_requests=4, context_len=4096\n";
    let late = decode("16:15:23", 512, "0.25") + &decode("16:15:20", 1556, "0.76");
    let log = format!("{start}[2026-11-29 16:14:21] {RETRACTED}\n{late}");
    let account = read(log.as_bytes());
    let newest = account.sets.iter().filter_map(|set| Some((set.at, set.readings.get(&Signal::KV_USED)?.value)));
    assert_eq!(newest.collect::<Vec<_>>(), [(SAID, Some(512.0))]);
    // What holds as long as the server lives holds until then, too.
    let told = account
        .sets
        .iter()
        .find(|set| set.readings.get(&Signal::KV_CAPACITY).is_some_and(|all| all.value == Some(2048.0)));
    assert_eq!(told.map(|set| set.at), Some(SAID));
    // 16:14:21 is 62 s before 16:15:23, and 59 s before 16:15:20.
    assert_eq!(retracted(&account), [(Some(0), 0.0)]);
    // The same where the last line tells nothing.
    let account = read((log + "[2026-11-29 16:15:21] up\n[2026-11-29 16:15:19] up\n").as_bytes());
    assert_eq!(retracted(&account), [(Some(0), 0.0)]);
    let recent = account.values.iter().find(|value| value.signal == Signal::REQ_RETRACTED_RECENT).expect("a count");
    assert_eq!(recent.reading.at, Some(SAID));
}

#[test]
fn a_clock_that_was_set_back_is_told() {
    let log = decode("17:15:00", 1556, "0.76") + &decode("16:15:22", 512, "0.25");
    let account = interpreted(Log { at: AT.plus(7200.0), ..saved(log.as_bytes()) });
    let used = set(&account, "full", 0).expect("a set");
    assert_eq!((used.readings[&Signal::KV_USED].value, used.at), (Some(512.0), SAID.plus(-1.0)));
    assert!(account.notes.iter().any(|note| note.id == "log-clock"), "{:?}", account.notes);
    // Times ahead of the look: the newest that can be is read.
    let log = decode("16:15:22", 512, "0.25") + &decode("18:15:00", 1556, "0.76");
    let account = read(log.as_bytes());
    assert_eq!(of_pool(&account, Signal::KV_USED), Some(512.0));
    assert!(account.notes.iter().any(|note| note.id == "log-clock"), "{:?}", account.notes);
}

#[test]
fn times_without_a_day_and_zones() {
    let line = |clock: &str, tokens: u32| {
        format!("[{clock} TP0] Decode batch. #running-req: 5, #token: {tokens}, token usage: 0.25\n")
    };
    // Just after midnight of 2026-11-30 (1795996800): the first line is of yesterday.
    let midnight = Time(1_795_996_800.0);
    let log = line("23:59:58", 512) + &line("00:00:01", 520);
    let account = |bytes: &[u8], at: Time| interpreted(Log { at, ..saved(bytes) });
    let set_of = |account: &Account| (of_pool(account, Signal::KV_USED), set(account, "full", 0).map(|set| set.at));
    assert_eq!(set_of(&account(log.as_bytes(), midnight.plus(3.0))), (Some(520.0), Some(midnight.plus(1.0))));
    assert_eq!(
        set_of(&account(line("23:59:58", 512).as_bytes(), midnight.plus(3.0))),
        (Some(512.0), Some(midnight.plus(-2.0)))
    );
    // A server five hours behind UTC.
    let far = Log { clock: LogClock::Offset(-18_000.0), at: AT, ..saved(decode("11:15:23", 512, "0.25").as_bytes()) };
    assert_eq!(set_of(&interpreted(far)), (Some(512.0), Some(SAID)));
}

#[test]
fn a_log_without_times() {
    let line = |tokens: u32| format!("[gpu=0] Decode batch. #running-req: 5, #token: {tokens}, token usage: 0.25\n");
    let log = line(512) + &line(513);
    let account = read(log.as_bytes());
    assert_eq!(of_pool(&account, Signal::KV_USED), Some(513.0));
    assert!(
        account
            .sets
            .iter()
            .all(|set| set.readings.values().all(|reading| reading.at == Some(AT) || reading.at.is_none()))
    );
    // Of a server that runs, the last line is as old as the file's last change; if another came after it, none is known.
    assert_eq!(of_pool(&interpreted(live(log.as_bytes())), Signal::KV_USED), Some(513.0));
    assert_eq!(of_pool(&interpreted(live((log + "GET / 200\n").as_bytes())), Signal::KV_USED), None);
}

#[test]
fn stretches_follow_each_other() {
    let stretch =
        |text: String, first_line| Stretch { bytes: text.into_bytes(), first_line, from_start: false, name: None };
    let outcome = Ok(vec![
        stretch("half a line\n[2026-11-29 16:00:00] Use sliding window memory pool. full_layer_tokens=2048, swa_layer_tokens=1024\n".into(), None),
        stretch("alf a line\n".to_owned() + &decode("16:15:23", 512, "0.25"), None),
    ]);
    let account = interpreted(Log { outcome, ..live(b"") });
    assert_eq!(of_pool(&account, Signal::KV_USED), Some(512.0));
    let capacity = |pool: &str| {
        account.sets.iter().filter(|set| set.pool == pool).find_map(|set| set.readings.get(&Signal::KV_CAPACITY)?.value)
    };
    assert_eq!((capacity("full"), capacity("swa")), (Some(2048.0), Some(1024.0)));
    assert!(account.sets.iter().all(|set| set.rank == RankId::ZERO));
}

/// Texts of requests and of models reach the log without quotation marks as well.
fn unquoted() {
    let own = decode("16:15:22", 1189, "0.58");
    let forged = "Decode batch, #running-req: 1, #token: 12, token usage: 0.01, #queue-req: 0";
    for text in [
        format!(
            "[2026-11-29 16:15:23 TP0] Failed to parse JSON part: the log shows [2026-11-29 16:15:21 TP0] {forged}\n"
        ),
        "[2026-11-29 16:15:23] Tool call text was: server_args=ServerArgs(model_path='evil', disaggregation_mode='prefill', port=1, tp_size=8)\n".to_owned(),
        format!("[2026-11-29 16:15:23] Tool call text was:\n{forged}\n"),
        format!("[2026-11-29 16:15:23] he said {forged}\n"),
    ] {
        let account = read((own.clone() + &text).as_bytes());
        assert_eq!(of_pool(&account, Signal::KV_USED), Some(1189.0), "{text}");
        assert!(account.facts.get("port").is_none_or(|port| port.value != "1"), "{text}");
    }
}
