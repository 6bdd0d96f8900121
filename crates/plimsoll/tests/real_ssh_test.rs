//! Another host over a real sshd: router, prefill, decode (metrics off) and unified server run there, and it is looked at as
//! root, as users with fewer and fewer rights, and over connections that delay, end, stall or never begin. What is said from
//! afar is held against the servers' own log lines and against the same program run on that host. The tests share one host
//! and run in order.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitCode, Output, Stdio};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant, UNIX_EPOCH};

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use testkit::far::Far;
use testkit::lab::{Batch, batch};
use testkit::real::wanted;
use testkit::{Answer, Replay, canary, schema_faults};

const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");
/// Tokens of each pool.
const POOL: f64 = 65536.0;
/// Seconds between two of a busy server's batch lines (10 steps), with room for a busy machine.
const BETWEEN: f64 = 4.0;
/// Seconds after which a look that has not ended is a fault: more than all of its own limits together.
const ENDLESS: &str = "60";

type Test = fn() -> Result<(), Failed>;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads = Some(1);
    let runs = wanted() && !arguments.list && start();
    let trial = |name: &str, test: Test| Trial::test(name, test).with_ignored_flag(!runs);
    let trials = vec![
        trial("root sees from afar what is seen on the host", as_on_the_host),
        trial("doctor says from afar what it says on the host", doctor_as_on_the_host),
        trial("decode fills: its log says the same", decode_fills),
        trial("an ordinary user is told what is denied", ordinary_user),
        trial("without curl pages come over forwarding", without_curl),
        trial("without forwarding pages come by curl", without_forwarding),
        trial("without either the way is told, and logs still speak", without_either),
        trial("what a login shell prints is no answer", banners),
        trial("one session is enough", one_session),
        trial("far away", slow),
        trial("a connection that ends in the middle", cut),
        trial("a host that stalls or says nothing", silent),
        trial("hosts that do not let us in", closed),
        trial("one dead host costs the others nothing", many),
        trial("one call, several kinds of targets", mixed),
        trial("a capture of another host says later what was said then", captured),
        trial("a secret is on no command line there", secrets),
        trial("nothing stays behind", behind),
    ];
    let code = libtest_mimic::run(&arguments, trials).exit_code();
    // A static is never dropped; what it started must end with us.
    if let Some(place) = PLACE.get() {
        drop(place.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take());
    }
    code
}

static PLACE: OnceLock<Mutex<Option<Far>>> = OnceLock::new();

fn start() -> bool {
    let far = Far::start(&["--servers", "--unified"]);
    let runs = far.is_some();
    let _ = PLACE.set(Mutex::new(far));
    runs
}

fn with<T>(test: impl FnOnce(&Far) -> T) -> T {
    let place = PLACE.get().expect("it was started").lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    test(place.as_ref().expect("it runs until the end"))
}

/// Runs plimsoll here, against that host by these names.
fn run(far: &Far, words: &[&str]) -> Output {
    let mut command = Command::new("timeout");
    command.arg(ENDLESS).arg(PROGRAM).args(words).args(["--ssh-config", far.config()]).env("NO_COLOR", "1");
    let output = canary::run(&mut command);
    assert_ne!(output.status.code(), Some(124), "it never ended: {words:?}");
    output
}

fn json(output: &Output) -> Value {
    let value: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(schema_faults(&value), Vec::<String>::new());
    value
}

fn status(far: &Far, names: &[&str]) -> Value {
    json(&run(far, &[&["status", "--json"], names].concat()))
}

/// The servers of an answer by their ports.
fn by_port(value: &Value) -> BTreeMap<String, &Value> {
    let servers = value["servers"].as_array().expect("servers").iter();
    let port = |server: &Value| server["url"].as_str().expect("a url").rsplit(':').next().expect("a port").to_owned();
    servers.map(|server| (port(server), server)).collect()
}

fn pool<'a>(servers: &BTreeMap<String, &'a Value>, port: &str, signal: &str) -> &'a Value {
    &servers[port]["ranks"][0]["pools"][0][signal]
}

/// What does not depend on when it was asked, or from where.
fn lasting(value: &Value) -> Value {
    const FLEETING: [&str; 9] = ["age_s", "at", "took", "took_s", "taken_at", "self", "hosts", "evidence", "meanwhile"];
    match value {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(name, _)| !FLEETING.contains(&name.as_str()));
            kept.map(|(name, field)| (name.clone(), lasting(field))).collect()
        }
        Value::Array(items) => items.iter().map(lasting).collect(),
        Value::String(text) => Value::from(text.replace("ssh://far-root/", "http://").replace("ssh://far-root", "")),
        other => other.clone(),
    }
}

/// The same command on the host itself.
fn there(far: &Far, words: &[&str]) -> Value {
    let output = canary::run(far.inside(PROGRAM).args(words).env("NO_COLOR", "1").env("XDG_CACHE_HOME", "/run/cache"));
    json(&output)
}

fn as_on_the_host() -> Result<(), Failed> {
    with(|far| {
        let (near, afar) = (there(far, &["status", "--json"]), status(far, &["ssh://far-root"]));
        let (near, afar) = (by_port(&near), by_port(&afar));
        assert_eq!(afar.keys().collect::<Vec<_>>(), near.keys().collect::<Vec<_>>(), "the same servers");
        assert_eq!(near.len(), 4, "router, prefill, decode, unified");
        for (port, server) in &near {
            for field in
                ["role", "engine", "version", "model", "pid", "unit", "numa_nodes", "gpus", "unreachable", "gaps"]
            {
                assert_eq!(lasting(&afar[port][field]), lasting(&server[field]), "{field} of {port}");
            }
            assert!(afar[port]["url"].as_str().expect("a url").starts_with("ssh://far-root/127.0.0.1:"), "{port}");
            assert_eq!(afar[port]["host"], "far-root");
        }
        // What the command line of far.py gave each of them.
        for port in ["30000", "30002", "30010"] {
            assert_eq!(pool(&afar, port, "capacity")["value"], POOL, "{port}");
            assert!(pool(&afar, port, "used")["age_s"].as_f64().expect("an age") < 5.0, "{port}");
        }
        Ok(())
    })
}

fn doctor_as_on_the_host() -> Result<(), Failed> {
    with(|far| {
        let near = lasting(&there(far, &["doctor", "--json"]));
        let afar = lasting(&json(&run(far, &["doctor", "--json", "ssh://far-root"])));
        let build = |value: &Value| {
            value["servers"].as_array().expect("servers").iter().map(|one| one["build"].clone()).collect::<Vec<_>>()
        };
        assert_eq!(build(&afar), build(&near), "the installed source");
        assert!(
            build(&afar).iter().any(|build| build["defined"].as_u64().is_some_and(|count| count > 100)),
            "was read"
        );
        assert_eq!(afar["servers"], near["servers"]);
        assert_eq!(afar["gaps"], near["gaps"]);
        Ok(())
    })
}

fn now() -> f64 {
    UNIX_EPOCH.elapsed().expect("a clock").as_secs_f64()
}

/// Looks while decode fills, held against every line that its log has of that time.
fn decode_fills() -> Result<(), Failed> {
    with(|far| {
        let mut load = far.load("29000 -n 16 -p 3400 -o 680 -c 16");
        let mut looks = Vec::new();
        while load.try_wait()?.is_none() {
            let begun = now();
            let value = status(far, &["ssh://far-root"]);
            looks.push((begun, now(), value));
        }
        let lines: Vec<Batch> = far.log("decode").lines().filter_map(batch).collect();
        let mut held = 0;
        for (begun, ended, value) in &looks {
            let servers = by_port(value);
            let used = pool(&servers, "30002", "used");
            let Some(tokens) = used["value"].as_f64() else { continue };
            let around = lines.iter().filter(|line| line.at > begun - BETWEEN && line.at < ended + BETWEEN);
            let around: Vec<f64> = around.map(|line| line.tokens).collect();
            // Without lines before and after nothing bounds it.
            if around.len() < 2 {
                continue;
            }
            let (least, most) =
                around.iter().fold((POOL, 0.0_f64), |(least, most), one| (least.min(*one), most.max(*one)));
            // Before the first and after the last line the load is not there, and 0 is true.
            let begins = lines.first().is_some_and(|first| first.at > *begun);
            let ends = lines.last().is_some_and(|last| last.at < *ended);
            let least = if begins || ends { 0.0 } else { least };
            assert!(
                tokens >= least - 0.01 * POOL && tokens <= most + 0.01 * POOL,
                "{tokens} tokens by {}, and the log says {least} to {most}",
                used["source"]
            );
            held += 1;
        }
        assert!(held >= 4, "only {held} of {} looks could be held against the log", looks.len());
        Ok(())
    })
}

/// All three caches are seen, by pages or otherwise.
fn sees_all(value: &Value, why: &str) {
    let servers = by_port(value);
    for port in ["30000", "30002", "30010"] {
        let capacity = pool(&servers, port, "capacity");
        assert_eq!(capacity["value"], POOL, "{why}: {port} {capacity}");
        assert!(pool(&servers, port, "used")["value"].is_f64(), "{why}: {port}");
    }
}

fn notes(far: &Far, name: &str) -> String {
    let output = run(far, &["status", name]);
    String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn ordinary_user() -> Result<(), Failed> {
    with(|far| {
        let value = status(far, &["ssh://far-user"]);
        sees_all(&value, "an ordinary user");
        assert!(value["self"]["denied"].as_f64().expect("a count") >= 4.0, "four processes of root");
        let text = notes(far, "ssh://far-user");
        assert!(text.contains("processes belong to other users"), "{text}");
        // Its log is root's: no retraction is said to have been counted there.
        let recent = &by_port(&value)["30002"]["ranks"][0]["retracted_recent"];
        assert!(recent["value"].is_null(), "{recent}");
        Ok(())
    })
}

/// Whether ssh itself may connect from there: what a test is about must be so.
fn may_forward(far: &Far, name: &str) -> bool {
    let mut child = Command::new("ssh")
        .args(["-F", far.config(), "-o", "BatchMode=yes", "-W", "127.0.0.1:30000", name])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("ssh");
    std::thread::sleep(Duration::from_secs(1));
    let open = child.try_wait().expect("a child").is_none();
    let _ = child.kill();
    let _ = child.wait();
    open
}

fn has(far: &Far, name: &str, program: &str) -> bool {
    let words = ["-F", far.config(), "-o", "BatchMode=yes", name, "command", "-v", program];
    Command::new("ssh").args(words).output().expect("ssh").status.success()
}

fn without_curl() -> Result<(), Failed> {
    with(|far| {
        assert!(
            !["curl", "wget", "python3"].iter().any(|program| has(far, "far-bare", program))
                && may_forward(far, "far-bare")
        );
        sees_all(&status(far, &["ssh://far-bare"]), "over forwarding");
        // A port on which nobody listens is told as one, also where ssh makes the connection.
        let value = status(far, &["ssh://far-bare/31999"]);
        let why = value["servers"][0]["unreachable"].as_str().expect("why").to_owned();
        assert!(why.contains("nothing listens there"), "{why}");
        Ok(())
    })
}

fn without_forwarding() -> Result<(), Failed> {
    with(|far| {
        assert!(has(far, "far-noforward", "curl") && !may_forward(far, "far-noforward"));
        sees_all(&status(far, &["ssh://far-noforward"]), "by curl");
        Ok(())
    })
}

fn without_either() -> Result<(), Failed> {
    with(|far| {
        assert!(!["curl", "wget", "python3"].iter().any(|program| has(far, "far-neither", program)));
        assert!(!may_forward(far, "far-neither"));
        let output = run(far, &["status", "--json", "ssh://far-neither"]);
        assert_eq!(output.status.code(), Some(1), "no figure");
        let value = json(&output);
        for (port, server) in by_port(&value) {
            if server["role"] == "router" {
                continue;
            }
            let why = server["unreachable"].as_str().unwrap_or_default();
            assert!(why.contains("AllowTcpForwarding") && why.contains("curl"), "{port}: {why}");
            assert!(
                server["ranks"]
                    .as_array()
                    .expect("ranks")
                    .iter()
                    .all(|rank| rank["pools"][0]["used"]["value"].is_null())
            );
        }
        Ok(())
    })
}

fn banners() -> Result<(), Failed> {
    with(|far| {
        for name in ["ssh://far-banner", "ssh://far-bashrc"] {
            sees_all(&status(far, &[name]), name);
        }
        Ok(())
    })
}

fn one_session() -> Result<(), Failed> {
    with(|far| {
        sees_all(&status(far, &["ssh://far-one-session"]), "one session");
        Ok(())
    })
}

fn slow() -> Result<(), Failed> {
    with(|far| {
        let value = status(far, &["ssh://far-slow"]);
        sees_all(&value, "200 ms away");
        assert_eq!(by_port(&value).len(), 4);
        // How long that takes is the machine's business as well: benches/far.sh measures it.
        Ok(())
    })
}

/// What is said of a host that cannot be looked at.
fn unreached(far: &Far, name: &str) -> String {
    let output = run(far, &["status", "--json", name]);
    assert_eq!(output.status.code(), Some(1), "{name}: no figure");
    let value = json(&output);
    assert_eq!(value["servers"], Value::Array(Vec::new()), "{name}: nothing is made up");
    let host = &value["hosts"][0];
    assert_eq!(host["via"], name);
    let why = host["unreachable"].as_str().unwrap_or_else(|| panic!("{name}: why: {host}")).to_owned();
    assert!(value["gaps"].as_array().expect("gaps").iter().any(|gap| gap["id"] == "host-unreached"), "{name}: a gap");
    // The same for people, before anything else.
    let text = String::from_utf8_lossy(&run(far, &["status", name]).stdout).into_owned();
    assert!(text.starts_with("NOT REACHED"), "{name}: {text}");
    why
}

fn cut() -> Result<(), Failed> {
    with(|far| {
        for name in ["ssh://far-cut-early", "ssh://far-cut", "ssh://far-cut-late"] {
            let why = unreached(far, name);
            assert!(why.contains("the connection ended in the middle"), "{name}: {why}");
        }
        Ok(())
    })
}

fn silent() -> Result<(), Failed> {
    with(|far| {
        let why = unreached(far, "ssh://far-silent");
        assert!(why.contains("did not take the connection in time") || why.contains("then said nothing"), "{why}");
        let why = unreached(far, "ssh://far-stall");
        assert!(why.contains("does not answer any more") || why.contains("did not answer within"), "{why}");
        Ok(())
    })
}

fn closed() -> Result<(), Failed> {
    with(|far| {
        for (name, words) in [
            ("ssh://far-refused", "nothing listens there for ssh"),
            ("ssh://far-unknown", "its host key is not known to ssh"),
            ("ssh://far-changed", "its host key is another one than ssh knows"),
            ("ssh://far-password", "nobody is asked for a password"),
            ("ssh://far-nologin", "gave no shell"),
            ("ssh://no-such-host.invalid", "its name does not resolve"),
        ] {
            let why = unreached(far, name);
            assert!(why.contains(words), "{name}: {why}");
        }
        Ok(())
    })
}

fn many() -> Result<(), Failed> {
    with(|far| {
        let names = ["ssh://far-silent", "ssh://far-root", "ssh://far-refused", "ssh://far-user", "ssh://far-stall"];
        let value = status(far, &names);
        let hosts = value["hosts"].as_array().expect("hosts");
        let of = |name: &str| hosts.iter().find(|host| host["via"] == name).expect("every host is told of");
        let (took, silent) = (&of("ssh://far-root")["took_s"], &of("ssh://far-silent")["took_s"]);
        assert!(of("ssh://far-root")["unreachable"].is_null() && of("ssh://far-user")["unreachable"].is_null());
        assert!(took.as_f64() < silent.as_f64(), "root was done in {took} s, the silent one in {silent} s");
        let ages = value["servers"].as_array().expect("servers").iter().filter(|server| server["host"] == "far-root");
        assert_eq!(ages.count(), 4);
        // The same server seen by two users is two: nothing tells that they are one host.
        assert_eq!(hosts.iter().filter(|host| !host["unreachable"].is_null()).count(), 3);
        Ok(())
    })
}

fn mixed() -> Result<(), Failed> {
    with(|far| {
        let page = "# HELP sglang:num_running_reqs -\n# TYPE sglang:num_running_reqs gauge\nsglang:num_running_reqs{engine_type=\"unified\",model_name=\"m\",tp_rank=\"0\"} 1\n";
        let near = Replay::start().with("/metrics", Answer::page(page));
        let value = status(far, &["ssh://far-root/30002", &near.url()]);
        let urls: Vec<&str> =
            value["servers"].as_array().expect("servers").iter().filter_map(|one| one["url"].as_str()).collect();
        assert!(urls.contains(&"ssh://far-root/127.0.0.1:30002") && urls.contains(&near.url().as_str()), "{urls:?}");
        assert_eq!(urls.len(), 2);
        Ok(())
    })
}

fn captured() -> Result<(), Failed> {
    with(|far| {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("a.capture").to_str().expect("a path").to_owned();
        let live = json(&run(far, &["doctor", "--json", "ssh://far-root"]));
        let output = run(far, &["capture", "-o", &file, "--for", "3s", "ssh://far-root", "ssh://far-refused"]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let later = |words: &[&str]| {
            let mut command = Command::new(PROGRAM);
            command.args(words).args(["--json", "--capture", &file]).env("PATH", "/nowhere");
            json(&canary::run(&mut command))
        };
        // Also of the last look, the first of which alone read the installed source.
        let doctor = later(&["doctor"]);
        let build = |value: &Value| {
            let servers = value["servers"].as_array().expect("servers").iter();
            let mut built: Vec<String> = servers.map(|one| format!("{} {}", one["url"], one["build"])).collect();
            built.sort();
            built
        };
        assert_eq!(build(&doctor), build(&live));
        assert_eq!(doctor["hosts"][1]["via"], "ssh://far-refused");
        assert!(
            doctor["hosts"][1]["unreachable"].as_str().is_some_and(|why| why.contains("nothing listens")),
            "{doctor}"
        );
        let status = later(&["status"]);
        for port in ["30000", "30002", "30010"] {
            let servers = by_port(&status);
            assert_eq!(pool(&servers, port, "capacity")["value"], POOL, "{port}");
            assert!(pool(&servers, port, "used")["value"].is_f64(), "{port}");
        }
        Ok(())
    })
}

/// A server on that host that answers only to a token, and that finds out whether anybody there can see it.
const GUARD: &str = r##"
import http.server, glob, sys
TOKEN = sys.argv[1].replace("_", "")
class Guard(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        seen = []
        for path in glob.glob("/proc/[0-9]*/cmdline") + glob.glob("/proc/[0-9]*/environ"):
            try:
                seen += [path] if TOKEN.encode() in open(path, "rb").read() else []
            except OSError:
                pass
        good = self.headers.get("Authorization") == "Bearer " + TOKEN
        body = b"# TYPE sglang:max_total_num_tokens gauge\nsglang:max_total_num_tokens{model_name=\"m\"} %d\n" % (1 if seen else 4096)
        self.send_response(200 if good and self.path == "/metrics" else 401)
        self.end_headers()
        self.wfile.write(body if good and self.path == "/metrics" else b"")
    def log_message(self, *words):
        pass
http.server.HTTPServer(("127.0.0.1", 31500), Guard).serve_forever()
"##;

fn secrets() -> Result<(), Failed> {
    with(|far| {
        let token = canary::planted_in("bearer-over-ssh");
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("token");
        std::fs::write(&file, &token)?;
        // The guard's own command line has the token with a sign in it.
        let spelled = token.replacen('-', "_-", 1);
        let mut guard = far.inside("python3").args(["-c", GUARD, &spelled]).spawn()?;
        std::thread::sleep(Duration::from_secs(2));
        for name in ["ssh://far-root/31500", "ssh://far-noforward/31500"] {
            let value = status(far, &[name, "--bearer-file", file.to_str().expect("a path")]);
            let capacity = &value["servers"][0]["ranks"][0]["pools"][0]["capacity"];
            // 1 would say that the token was in somebody's arguments or environment.
            assert_eq!(capacity["value"], 4096.0, "{name}: {value}");
        }
        guard.kill()?;
        guard.wait()?;
        Ok(())
    })
}

/// What is in the folder where shared connections have their sockets.
fn sockets(folder: &Path) -> usize {
    std::fs::read_dir(folder).expect("a folder").count()
}

/// Processes here that run ssh to that host.
fn left(far: &Far) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").expect("processes").filter_map(Result::ok);
    let line = |entry: std::fs::DirEntry| {
        let words = std::fs::read(entry.path().join("cmdline")).ok()?;
        let text = String::from_utf8_lossy(&words).replace('\0', " ");
        (text.starts_with("ssh ") && text.contains(far.config())).then_some(text)
    };
    entries.filter_map(line).collect()
}

fn behind() -> Result<(), Failed> {
    with(|far| {
        let settled = |far: &Far| {
            let begun = Instant::now();
            while !left(far).is_empty() && begun.elapsed() < Duration::from_secs(10) {
                std::thread::sleep(Duration::from_millis(100));
            }
            left(far)
        };
        assert_eq!(settled(far), Vec::<String>::new(), "after looks that ended");
        // A folder of their own: others may look at hosts meanwhile.
        let folder = tempfile::tempdir()?;
        let look = |host: &str| {
            let mut command = Command::new(PROGRAM);
            command.args(["status", host, "--ssh-config", far.config()]).stdout(Stdio::null());
            command.env("XDG_RUNTIME_DIR", folder.path()).spawn()
        };
        let mut child = look("ssh://far-root")?;
        let begun = Instant::now();
        while sockets(folder.path()) == 0 && child.try_wait()?.is_none() && begun.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_ne!(sockets(folder.path()), 0, "the connection is shared there");
        child.wait()?;
        assert_eq!(settled(far), Vec::<String>::new(), "after one more");
        assert_eq!(sockets(folder.path()), 0, "the socket of the connection that it shared is gone");
        // And after one that is killed in the middle.
        let mut child = look("ssh://far-slow")?;
        std::thread::sleep(Duration::from_millis(2200));
        child.kill()?;
        child.wait()?;
        assert_eq!(settled(far), Vec::<String>::new(), "after one that was killed");
        assert_eq!(sockets(folder.path()), 0, "and its socket");
        Ok(())
    })
}
