//! Tests that need a world of their own: another mount, another network.

use std::process::Command;

/// Runs the test `name` of this very program again, behind `command`, which makes that world and ends with 75 where it cannot.
/// The test is ignored but for that.
///
/// # Panics
/// When the test fails there, or was not run.
#[allow(clippy::print_stdout, reason = "a test's own output")]
pub(crate) fn rerun(command: &mut Command, name: &str) {
    let me = std::env::current_exe().expect("this test");
    let run = command.arg(me).args(["--exact", name, "--nocapture", "--ignored"]).output();
    match run {
        // unshare itself ends with 1 where it may not.
        Ok(run) if matches!(run.status.code(), Some(1 | 75)) => {
            println!("skipped: it cannot be had here ({})", String::from_utf8_lossy(&run.stderr).trim());
        }
        Err(error) => println!("skipped: it cannot be had here ({error})"),
        Ok(run) => {
            let said = [run.stdout, run.stderr].map(|said| String::from_utf8_lossy(&said).into_owned()).concat();
            assert!(run.status.success() && said.contains("1 passed"), "{said}");
            print!("{said}");
        }
    }
}
