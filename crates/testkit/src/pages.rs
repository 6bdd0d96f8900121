//! The smallest page of a server that says how full it is.

use crate::Answer;

/// Its text: so many tokens fit, so many are used and evictable, the rest is free. Of one rank where that is named.
///
/// # Panics
/// When more is in it than fits.
pub fn text(rank: Option<u32>, capacity: u32, used: u32, evictable: u32) -> String {
    let rank = rank.map_or(String::new(), |rank| format!(r#"dp_rank="{rank}","#));
    let labels = format!(r#"{{engine_type="unified",model_name="m",{rank}pp_rank="0",tp_rank="0"}}"#);
    let available = capacity.checked_sub(used + evictable).expect("no more than fits");
    let lines = [
        ("max_total_num_tokens", capacity),
        ("kv_used_tokens", used),
        ("kv_evictable_tokens", evictable),
        ("kv_available_tokens", available),
    ];
    lines.map(|(name, value)| format!("sglang:{name}{labels} {value}\n")).concat()
}

/// The page of a server with one rank.
pub fn page(capacity: u32, used: u32, evictable: u32) -> Answer {
    Answer::page(text(None, capacity, used, evictable))
}
