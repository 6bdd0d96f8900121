//! `plimsoll serve` when its configuration changes: what is in force then, what is not and says so, and that nothing of it is told
//! that may be secret.

use std::path::{Path, PathBuf};

use testkit::canary::{found, planted_in};
use testkit::real::wait_until;
use testkit::{Answer, Replay, Serve, plimsoll};

const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");

/// A page of a server with 1,000 tokens, of which these are used.
fn page(used: u32) -> Answer {
    let labels = r#"{engine_type="unified",model_name="m",pp_rank="0",tp_rank="0"}"#;
    Answer::page(format!(
        "sglang:max_total_num_tokens{labels} 1000\nsglang:kv_used_tokens{labels} {used}\n\
         sglang:kv_evictable_tokens{labels} 0\nsglang:kv_available_tokens{labels} {}\n",
        1000 - used
    ))
}

/// A folder with a configuration, which is watched.
struct Home {
    folder: tempfile::TempDir,
    config: PathBuf,
}

impl Home {
    fn new() -> Home {
        let folder = tempfile::tempdir().expect("a folder");
        let config = folder.path().join("plimsoll.toml");
        Home { folder, config }
    }

    /// Writes the configuration: these settings, and looks that follow each other closely.
    fn write(&self, settings: &str) {
        self.file("plimsoll.toml", &format!("{settings}\n[watch]\nevery = \"300ms\"\nsearch = \"1s\"\n"));
    }

    fn file(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("a file");
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn serve(&self) -> Serve {
        Serve::start(PROGRAM, self.folder.path(), &["--config", self.config.to_str().expect("a path")])
    }
}

fn used(serve: &Serve, url: &str) -> Option<f64> {
    let card = serve.card(url)?;
    card["pools"][0]["used"][0].as_f64().filter(|_| card["pools"][0]["used"][1] == "reported")
}

fn notes(serve: &Serve) -> String {
    serve.json("/api/v1/overview")["watch"]["notes"].to_string()
}

/// All that is in a folder, as text.
fn all_of(folder: &Path) -> String {
    let mut text = String::new();
    for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        if entry.is_dir() {
            text += &all_of(&entry);
        } else {
            text += &String::from_utf8_lossy(&std::fs::read(&entry).expect("a file"));
        }
    }
    text
}

/// Slips that put a secret where it does not belong: in an option that there is not, without quotes, as another kind of value, in an
/// address that is none.
#[test]
fn a_secret_in_the_configuration_is_told_nowhere() {
    let (home, server) = (Home::new(), Replay::start().with("/metrics", page(100)));
    let good = format!("targets = [{:?}]", server.url());
    home.write(&good);
    let serve = home.serve();
    let config = home.config.to_str().expect("a path").to_owned();
    let secret = planted_in("configuration");
    let slips = [
        format!("bearer = \"{secret}\""),
        format!("token = '{secret}'"),
        format!("bearer_file = {secret}"),
        format!("targets = \"http://ops:{secret}@h\""),
        format!("targets = [\"http://ops:{secret}@h:x\"]"),
        format!("targets = [\"ssh://ops:{secret}@h:x\"]"),
        format!("user = [\"{secret}\"]"),
        format!("pin = \"{secret}\""),
        format!("[tls]\ncert = \"a\"\nkey = \"b\"\npassphrase = \"{secret}\""),
        "targets_file = \"slip.toml\"".to_owned(),
    ];
    home.file("slip.toml", &format!("[[target]]\nurl = \"http://h:1\"\npassword = \"{secret}\"\n"));
    for slip in &slips {
        let before = serve.events("config").len();
        home.write(slip);
        serve.signal("HUP");
        wait_until("it to be refused", || serve.events("config").len() > before);
        wait_until("the note", || notes(&serve).contains("not in force"));
        for (what, text) in [("notes", notes(&serve)), ("the service manager", serve.told()), ("log", serve.log())] {
            assert_eq!(found(&text), None, "{slip}: told to {what}");
        }
        assert_eq!(found(&serve.get("/api/v1/events").1), None, "{slip}: an event");
        assert_eq!(found(&serve.get("/api/v1/snapshot").1), None, "{slip}");
        // This searches what it says itself.
        assert_eq!(plimsoll(PROGRAM, &["config", "check", &config]).code, 2, "{slip}");
    }
    assert!(serve.told().contains("STATUS=the configuration is not in force"), "{}", serve.told());
    serve.signal("TERM");
    assert!(serve.ended().0.success());
    assert_eq!(found(&all_of(&home.path("data"))), None, "on disk");
}

/// How often a server was told this token.
fn told(server: &Replay, token: &str) -> usize {
    let header = format!("authorization: Bearer {token}");
    server.headers().iter().filter(|said| said.eq_ignore_ascii_case(&header)).count()
}

/// The open page goes on answering all the time, so that nothing but the reload gives a reason to ask otherwise.
#[test]
fn keys_that_change_are_used_at_once_and_old_ones_no_more() {
    let home = Home::new();
    let (listed, worker) = (Replay::start().with("/metrics", page(100)), Replay::start().with("/metrics", page(200)));
    let router = Replay::router(&[worker.url()]);
    home.write("targets_file = \"targets.toml\"");
    for name in ["one", "two"] {
        home.file(name, &planted_in(name));
    }
    let rows = |keys: &str| {
        let row = |url: String| format!("[[target]]\nurl = {url:?}\n{keys}\n");
        // The worker is in no row without its keys: what a router names is asked, and given nothing.
        let worker = if keys.is_empty() { String::new() } else { row(worker.url()) };
        home.file("targets.toml", &(row(listed.url()) + &row(router.url()) + &worker));
    };
    rows("");
    let serve = home.serve();
    let all = [&listed, &worker, &router];
    wait_until("both", || {
        [(&listed, 100.0), (&worker, 200.0)].iter().all(|(one, of)| used(&serve, &one.url()) == Some(*of))
    });
    for name in ["one", "two"] {
        rows(&format!("bearer_file = {name:?}"));
        serve.signal("HUP");
        wait_until("the token to be used", || all.iter().all(|server| told(server, &planted_in(name)) > 3));
    }
    assert_eq!(found(&serve.log()), None);
    let before = serve.events("config").len();
    rows("");
    serve.signal("HUP");
    wait_until("it to be read", || serve.events("config").len() > before);
    let asked = |than: &[usize]| all.iter().zip(than).all(|(server, than)| server.asked().len() > *than);
    let then: Vec<usize> = all.iter().map(|server| server.asked().len() + 1).collect();
    wait_until("looks", || asked(&then));
    let knocks = || all.map(|server| (told(server, &planted_in("one")), told(server, &planted_in("two"))));
    let (before, then) = (knocks(), then.iter().map(|than| than + 3).collect::<Vec<_>>());
    wait_until("more looks", || asked(&then));
    assert_eq!(knocks(), before, "what was taken back is told no more");
}

/// Has the configuration read again, and waits until what is said of that begins so.
fn says(serve: &Serve, beginning: &str) {
    let before = serve.log().lines().count();
    serve.signal("HUP");
    let is_said = |log: &str| log.lines().skip(before).last().is_some_and(|line| line.starts_with(beginning));
    wait_until(beginning, || is_said(&serve.log()));
}

/// A self-signed certificate and its key.
fn renew(home: &Home) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    home.file("page.pem", &made.cert.pem());
    home.file("page.key", &made.signing_key.serialize_pem());
}

#[test]
fn what_wants_a_restart_is_said_until_there_was_one() {
    let home = Home::new();
    let plain = "targets = [\"http://127.0.0.1:9\"]\ntoken_file = \"token\"\n";
    let settings = |more: &str| home.write(&format!("{plain}{more}\n[tls]\ncert = \"page.pem\"\nkey = \"page.key\""));
    let (old, new) = ("correct-horse-battery", "correct-horse-staple-x");
    home.file("token", old);
    renew(&home);
    settings("");
    let serve = home.serve();
    says(&serve, "the configuration was read again");
    // The same places, and something else in them: what was loaded is what is in force.
    home.file("token", new);
    for _ in 0..2 {
        says(&serve, "token: in force after a restart;");
    }
    renew(&home);
    says(&serve, "tls, token: in force after a restart;");
    settings("hosts = [\"gpu-a.example\"]");
    for _ in 0..2 {
        says(&serve, "tls, token, hosts: in force after a restart;");
    }
    // A pair that does not go together would end the next start: it is told before.
    let key = std::fs::read_to_string(home.path("page.key")).expect("a file");
    home.file("page.key", "");
    says(&serve, "the configuration is not in force");
    home.file("page.key", &key);
    settings("");
    home.file("token", &format!("{old}\n"));
    says(&serve, "tls: in force after a restart;");
    assert!(![old, new].iter().any(|token| serve.log().contains(token)));
    let port = serve.port();
    drop(serve);
    let again =
        Serve::begin_on(port, PROGRAM, home.folder.path(), &["--config", home.config.to_str().expect("a path")]);
    again.wait_for_page();
    says(&again, "the configuration was read again");
}

#[test]
fn whatever_the_configuration_names_is_read_again_when_it_changes() {
    let (home, server) = (Home::new(), Replay::start().with("/metrics", page(100)));
    let table = home.path("engines/mine");
    std::fs::create_dir_all(&table).expect("a folder");
    home.file("engines/mine/engine.toml", "name = \"mine\"\n");
    home.write("targets = [\"http://127.0.0.1:9\"]\nengines = \"engines\"\n");
    let serve = home.serve();
    let again = |what: &str, change: &dyn Fn()| {
        let read = || serve.log().matches("the configuration was read again").count();
        let before = read();
        change();
        wait_until(what, || read() > before);
    };
    again("a table that changed", &|| home.file("engines/mine/engine.toml", "name = \"mine too\"\n"));
    again("a file that came to a table", &|| home.file("engines/mine/knobs.toml", "\n"));
    again("a table that came", &|| std::fs::create_dir(home.path("engines/other")).expect("a folder"));
    again("a table that went", &|| std::fs::remove_dir(home.path("engines/other")).expect("a folder"));
    // What is refused for a file that it names is read again when that file is there.
    home.write("targets_file = \"targets.toml\"\n");
    wait_until("it to be refused", || notes(&serve).contains("not in force"));
    again("the file that was missing", &|| {
        home.file("targets.toml", &format!("[[target]]\nurl = {:?}\n", server.url()));
    });
    wait_until("its figure", || used(&serve, &server.url()) == Some(100.0));
    // Nothing is read again for nothing.
    let before = serve.log();
    std::thread::sleep(std::time::Duration::from_secs(5));
    assert_eq!(serve.log(), before);
}
