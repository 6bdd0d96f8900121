//! `/proc/PID/cmdline`.

/// Splits a command line file into arguments; what is not UTF-8 is replaced.
///
/// A process that sets its own title overwrites this memory: then there is one long argument and a tail of zeros, which
/// is dropped (and with it, rightly or not, empty arguments at the end). Empty for kernel threads and zombies.
pub fn split(cmdline: &[u8]) -> Vec<String> {
    let end = cmdline.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    if end == 0 {
        return Vec::new();
    }
    cmdline[..end].split(|&byte| byte == 0).map(|part| String::from_utf8_lossy(part).into_owned()).collect()
}
