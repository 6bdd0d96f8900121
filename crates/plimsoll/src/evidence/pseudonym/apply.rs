//! Pseudonyms in questions and answers.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use model::{Answer, Blind, Observation};
use sense::capture::Site;
use sense::place::{CommandLine, Commands, Kept, Key, Listing, SiftedFile, SiftedFolder, Taken, Told};
use sense::ssh::Destination;
use sense::{Content, Ends, Ran};

use super::Pseudonyms;

impl Pseudonyms {
    /// A question and its answer with pseudonyms in both.
    pub(crate) fn rename(&mut self, kept: Kept) -> Kept {
        let answered = match kept.answered {
            Ok(told) => Ok(self.told(&kept.key.0, told)),
            Err(blind) => Err(self.blind(&blind)),
        };
        let key = match kept.key.0.as_slice() {
            [kind, host] if kind == "resolve" => vec![kind.clone(), self.whole(host)],
            words => words.iter().map(|word| self.text(word)).collect(),
        };
        Kept { key: Key(key), answered, ..kept }
    }

    fn told(&mut self, key: &[String], told: Told) -> Told {
        match told {
            Told::Content(content) => Told::Content(self.content(key, content)),
            Told::Listing(listing) => {
                let users = key.last().is_some_and(|path| path == "/home");
                let name = |name: OsString| match name.to_str() {
                    Some(name) if users => self.user(name).into(),
                    Some(name) => self.text(name).into(),
                    None => name,
                };
                Told::Listing(Listing { names: listing.names.into_iter().map(name).collect(), ..listing })
            }
            Told::Link(to) => Told::Link(self.path(&to)),
            Told::Ends(ends) => {
                let joined = ends.tail_from == ends.head.len() as u64;
                // Numbers of shared memory are no text.
                let text = std::str::from_utf8(&ends.head).is_ok() || !ends.head.contains(&0);
                let (head, tail) =
                    if text { (self.bytes(&ends.head), self.bytes(&ends.tail)) } else { (ends.head, ends.tail) };
                Told::Ends(Ends {
                    tail_from: if joined { head.len() as u64 } else { ends.tail_from },
                    head,
                    tail,
                    ..ends
                })
            }
            Told::Sifted(folder) => Told::Sifted(self.folder(key, folder)),
            Told::Commands(commands) => {
                let line = |line: CommandLine| CommandLine { bytes: self.bytes(&line.bytes), ..line };
                Told::Commands(Commands { found: commands.found.into_iter().map(line).collect(), ..commands })
            }
            Told::Ran(ran) => {
                let stderr = self.text(&ran.stderr);
                Told::Ran(Ran { stdout: self.bytes(&ran.stdout), stderr, ..ran })
            }
            Told::Addresses(addresses) => {
                Told::Addresses(addresses.into_iter().map(|address| self.address(address)).collect())
            }
            Told::Seen(seen) => Told::Seen(self.seen(seen)),
            // Events name servers by numbers.
            told @ (Told::Kin(_) | Told::Pipes(_) | Told::Heard(_)) => told,
        }
    }

    fn content(&mut self, key: &[String], content: Content) -> Content {
        let path = if key.first().is_some_and(|kind| kind == "lines") { key.get(1) } else { key.last() };
        let bytes = match path.map_or("", String::as_str) {
            path if path.ends_with("/net/tcp") || path.ends_with("/net/tcp6") => {
                self.sockets(&content.text()).into_bytes()
            }
            path if path.ends_with("/net/if_inet6") => self.interfaces(&content.text()).into_bytes(),
            "/proc/sys/kernel/hostname" => self.whole(&content.text()).into_bytes(),
            // Sums of what is released, and descriptions of zones.
            path if path.ends_with("/RECORD") || content.bytes.starts_with(b"TZif") => content.bytes,
            _ => self.bytes(&content.bytes),
        };
        Content { bytes, ..content }
    }

    /// Sources stay: their sums tell whether they are as released, and they were written elsewhere.
    fn folder(&mut self, key: &[String], folder: SiftedFolder) -> SiftedFolder {
        let leads = key.last().is_some_and(|ending| ending == ".pth");
        let files = folder.files.into_iter().map(|file| match file.taken {
            Taken::With(bytes) if leads => SiftedFile { taken: Taken::With(self.bytes(&bytes)), ..file },
            taken => SiftedFile { taken, ..file },
        });
        SiftedFolder { files: files.collect(), ..folder }
    }

    fn seen(&mut self, seen: Observation) -> Observation {
        let outcome = match seen.outcome {
            Ok(answer) => Ok(Answer { body: self.bytes(&answer.body), ..answer }),
            Err(blind) => Err(self.blind(&blind)),
        };
        Observation { url: self.text(&seen.url), outcome, ..seen }
    }

    fn blind(&mut self, blind: &Blind) -> Blind {
        let said = self.said(&blind.text);
        Blind { text: self.text(&said), kind: blind.kind }
    }

    fn path(&mut self, path: &Path) -> PathBuf {
        path.to_str().map_or_else(|| path.to_path_buf(), |text| PathBuf::from(self.text(text)))
    }

    /// Takes note of where a site is, before anything is said of it.
    pub(crate) fn meet_site(&mut self, site: &Site) {
        if let Some(Ok(way)) = site.via.as_ref().map(|via| via.parse::<Destination>()) {
            self.meet_way(&way);
        }
    }

    /// What was looked at, by its other names.
    pub(crate) fn site(&mut self, site: &Site) -> Site {
        let mut other = |words: &[String]| -> Vec<String> {
            for word in words {
                self.addresses_in(word);
            }
            words.iter().map(|word| self.text(word)).collect()
        };
        let (targets, logs) = (other(&site.targets), other(&site.logs));
        let (monitors, listed) = (other(&site.monitors), other(&site.listed));
        let via = site.via.as_ref().map(|via| match via.parse::<Destination>() {
            Ok(way) => self.way(&way).to_string(),
            Err(_) => "ssh://somewhere".to_owned(),
        });
        Site { via, targets, files: site.files, logs, monitors, listed }
    }

    /// A host's name that stands alone.
    fn whole(&mut self, name: &str) -> String {
        let (own, end) = name.split_at(name.trim_end().len());
        let other = self.host(own).map(str::to_owned);
        format!("{}{end}", other.unwrap_or_else(|| self.text(own)))
    }
}
