//! Which of command line and configuration counts. What must come out follows from what docs/serve.md promises: the command line
//! comes first, paths are beside the file, and what opens the file's servers opens no others.

use std::path::{Path, PathBuf};

use clap::Parser as _;
use sense::SecretSource;

use super::config::Settings;
use super::reload::Sources;
use crate::cli::{Cli, Command, Opener, ServeArgs};

const FILE: &str = "/etc/plimsoll/plimsoll.toml";

fn settings(arguments: &[&str], file: &str) -> anyhow::Result<Settings> {
    let cli = Cli::try_parse_from([&["plimsoll", "serve"], arguments].concat())?;
    let Some(Command::Serve(args)) = cli.command else { panic!("it is `serve`") };
    Settings::of(&args, Some(Path::new(FILE)), file)
}

fn opener(arguments: &[&str], file: &str) -> Opener {
    settings(arguments, file).expect("settings").look.access.opener
}

fn at(path: &str) -> PathBuf {
    PathBuf::from(path)
}

#[test]
fn the_token_is_that_of_the_command_line() {
    let token = |arguments: &[&str], file: &str| settings(arguments, file).map(|settings| settings.token);
    let (file, env) = ("token_file = \"t\"\n", "token_env = \"T\"\n");
    let is_file = |path: &str| Some(SecretSource::File(at(path)));
    assert_eq!(token(&["--token-file", "own"], env).expect("one"), is_file("own"));
    assert_eq!(token(&["--token-env", "OWN"], file).expect("one"), Some(SecretSource::Env("OWN".to_owned())));
    assert_eq!(token(&[], file).expect("one"), is_file("/etc/plimsoll/t"));
    assert!(token(&[], &format!("{file}{env}")).is_err());
}

#[test]
fn a_password_goes_with_the_user_of_its_place() {
    let file = "user = \"of-file\"\npassword_env = \"OF_FILE\"\nca = \"ca.pem\"\n";
    // The user is the file's, the password the command line's.
    let given = opener(&["--password-file", "own"], file);
    assert_eq!(
        (given.user.as_deref(), given.password_file, given.password_env),
        (Some("of-file"), Some(at("own")), None)
    );
    // Another user has not that user's password.
    let given = opener(&["--user", "me"], file);
    assert_eq!((given.user.as_deref(), given.password_file, given.password_env), (Some("me"), None, None));
    let given = opener(&["--bearer-env", "OWN"], file);
    assert_eq!((given.bearer_env.as_deref(), given.user, given.password_env), (Some("OWN"), None, None));
    assert_eq!(given.ca, Some(at("/etc/plimsoll/ca.pem")));
    // Both are the file's.
    let given = opener(&[], file);
    assert_eq!((given.user.as_deref(), given.password_env.as_deref()), (Some("of-file"), Some("OF_FILE")));
    // A password for nobody is told.
    let given = opener(&["--password-file", "own"], "bearer_file = \"token\"\n");
    assert_eq!((given.bearer_file, given.password_file), (Some(at("/etc/plimsoll/token")), Some(at("own"))));
}

#[test]
fn what_opens_the_files_servers_opens_no_others() {
    let file = "targets = [\"http://of-file:1\"]\nbearer_file = \"token\"\nca = \"ca.pem\"\ncert = \"c.pem\"\nkey = \"c.key\"\n";
    let whole = Opener {
        bearer_file: Some(at("/etc/plimsoll/token")),
        ca: Some(at("/etc/plimsoll/ca.pem")),
        cert: Some(at("/etc/plimsoll/c.pem")),
        key: Some(at("/etc/plimsoll/c.key")),
        ..Opener::default()
    };
    assert_eq!(opener(&[], file), whole);
    assert_eq!(opener(&["http://h:1"], file), Opener::default());
    assert_eq!(opener(&["--targets-file", "x.toml"], file), Opener::default());
    let given = opener(&["--cert", "own.pem", "--key", "own.key"], file);
    assert_eq!(given, Opener { cert: Some(at("own.pem")), key: Some(at("own.key")), ..whole });
}

#[test]
fn paths_are_beside_the_file() {
    let file =
        "logs = [\"a.log\", \"/var/b.log\"]\nengines = \"engines\"\nssh_config = \"ssh\"\ntargets_file = \"t.toml\"\n";
    let look = settings(&[], file).expect("settings").look;
    assert_eq!(look.log, ["/etc/plimsoll/a.log", "/var/b.log"]);
    assert_eq!((look.engines, look.ssh_config), (Some(at("/etc/plimsoll/engines")), Some(at("/etc/plimsoll/ssh"))));
    assert_eq!(look.access.targets_file, Some(at("/etc/plimsoll/t.toml")));
    assert_eq!(settings(&["http://h:1"], file).expect("settings").look.log, [""; 0], "those are of other servers");
    assert_eq!(settings(&["--log", "own.log"], file).expect("settings").look.log, ["own.log"]);
}

#[test]
fn a_file_that_comes_is_a_change() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("plimsoll.toml");
    let none = Sources::begin(&ServeArgs { config: Some(file.clone()), ..ServeArgs::default() });
    let mut none = none.of(&settings(&[], "").expect("settings"));
    assert!(!none.changed() && !none.changed());
    std::fs::write(&file, "").expect("a file");
    assert!(!none.changed(), "it may still be written");
    std::fs::write(&file, "# more").expect("a file");
    assert!(!none.changed(), "it was");
    assert!(none.changed() && none.changed());
    let mut again = none.again();
    assert!(!again.changed() && !again.changed());
    // Without a name it is the usual one, which need not be there.
    assert_eq!(super::config::path(&ServeArgs::default()), at(super::USUAL));
    let files = settings(&["--token-file", "t"], "targets_file = \"x\"\n[tls]\ncert = \"c\"\nkey = \"k\"\n");
    let files = files.expect("settings").files();
    for named in ["t", "/etc/plimsoll/x", "/etc/plimsoll/c", "/etc/plimsoll/k", "/etc/plimsoll/engines"] {
        assert!(files.contains(&at(named)), "{named} in {files:?}");
    }
}
