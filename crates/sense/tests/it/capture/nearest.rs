//! Questions that were not asked in just this way, but nearly.

use std::path::Path;

use model::{Blind, BlindKind};
use sense::capture::Capture;
use sense::{Ends, Place, Recorder, Wanted};

use super::NOW;
use crate::proc_tree::Tree;

fn wanted() -> Wanted {
    Wanted::File(Path::new("/proc/log").to_path_buf())
}

async fn one(place: &Place, head: usize, tail: usize) -> Result<Ends, Blind> {
    place.ends_each(vec![wanted()], head, tail).await.remove(0)
}

/// A place that answers what was asked with these sizes.
async fn of(tree: &Tree, sizes: &[(usize, usize)]) -> Place {
    let recorder = Recorder::default();
    let place = tree.place().recorded(recorder.clone());
    for &(head, tail) in sizes {
        let _ = one(&place, head, tail).await;
    }
    Place::from(Capture::new(recorder.take(), NOW))
}

/// What was seen whole gives what the file itself would give, for all sizes; of what was not, as much as is there.
#[tokio::test]
async fn ends_of_other_sizes() {
    let tree = Tree::new();
    tree.file("log", "0123456789");
    for sizes in [&[(10, 0)][..], &[(0, 10)], &[(4, 6)], &[(99, 99)], &[(0, 0), (5, 5), (1, 1)]] {
        let place = of(&tree, sizes).await;
        for head in 0..13 {
            for tail in 0..13 {
                let truth = one(&tree.place(), head, tail).await.unwrap();
                assert_eq!(one(&place, head, tail).await.unwrap(), truth, "{head} {tail} of {sizes:?}");
            }
        }
    }
    let place = of(&tree, &[(3, 4)]).await;
    for (head, tail, first, last, from) in [
        (3, 4, "012", "6789", 6),
        (2, 2, "01", "89", 8),
        (9, 9, "012", "6789", 6),
        (0, 9, "", "6789", 6),
        (9, 0, "012", "", 10),
        (0, 0, "", "", 0),
    ] {
        let ends = one(&place, head, tail).await.unwrap();
        let seen = (&ends.head[..], &ends.tail[..], ends.tail_from, ends.size);
        assert_eq!(seen, (first.as_bytes(), last.as_bytes(), from, 10), "{head} {tail}");
    }
    // It was only asked what lies there: that is no empty file.
    let place = of(&tree, &[(0, 0)]).await;
    assert_eq!(one(&place, 0, 0).await.unwrap().size, 10);
    assert_eq!(one(&place, 1, 0).await.unwrap_err().text, "/proc/log: not in this capture");
    // And what was not there, is not there in any size.
    std::fs::remove_file(tree.path("log")).unwrap();
    let place = of(&tree, &[(1, 1)]).await;
    let blind = one(&place, 5, 5).await.unwrap_err();
    assert_eq!(blind.kind, BlindKind::Gone);
    assert!(blind.text.contains("No such file"), "{blind}");
}

#[tokio::test]
async fn processes_by_other_words() {
    let tree = Tree::new();
    for (pid, line) in [(10, "engine\0--router\0"), (11, "router\0"), (12, "sshd\0"), (13, "engine\0")] {
        tree.process(pid, 1, line, &[], 1);
    }
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
    let of = async |asked: &[&[&str]], now: &[&str]| {
        let recorder = Recorder::default();
        let place = tree.place().recorded(recorder.clone());
        for asked in asked {
            place.commands(&words(asked)).await.unwrap();
        }
        let place = Place::from(Capture::new(recorder.take(), NOW));
        let found = place.commands(&words(now)).await;
        found.map(|found| (found.found.iter().map(|process| process.pid).collect::<Vec<u32>>(), found.seen))
    };
    assert_eq!(of(&[&[]], &["engine"]).await.unwrap(), (vec![10, 13], 4));
    assert_eq!(of(&[&["sshd"], &[]], &["router", "ssh"]).await.unwrap(), (vec![10, 11, 12], 4));
    assert_eq!(of(&[&["engine", "router"]], &["router"]).await.unwrap(), (vec![10, 11], 4));
    assert_eq!(of(&[&["engine"], &["router"]], &["e"]).await.unwrap(), (vec![10, 11, 13], 4));
    assert_eq!(of(&[&["router"]], &[]).await.unwrap(), (vec![10, 11], 4));
    assert_eq!(of(&[&["router"]], &["nobody"]).await.unwrap(), (vec![], 4));
    assert!(of(&[], &["router"]).await.is_err());
}

/// An address is its own, also where no name was resolved.
#[tokio::test]
async fn addresses() {
    let place = Place::from(Capture::new(Vec::new(), NOW));
    assert_eq!(place.resolve("::1").await.unwrap(), ["::1".parse::<std::net::IpAddr>().unwrap()]);
    assert_eq!(place.resolve("h").await.unwrap_err().text, "h: not in this capture");
    for blind in [
        place.read("/f", 9).await.unwrap_err(),
        place.read_under(Path::new("/proc/1/root"), Path::new("/f"), 9).await.unwrap_err(),
        place.link("/f").await.unwrap_err(),
        place.list("/f", 9).await.unwrap_err(),
    ] {
        assert_eq!((blind.kind, blind.text.as_str()), (BlindKind::Gone, "/f: not in this capture"));
    }
}
