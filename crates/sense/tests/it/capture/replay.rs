//! A look at a place, and the same look at its capture: the same comes out.

use std::os::unix::fs::symlink;
use std::path::Path;

use model::Observation;
use sense::process::{Grounds, Outputs, file_of, grounds_of, outputs_of};
use sense::{Host, Place, Processes, Recorder, Target, processes};

use super::{NOW, read, written};
use crate::peer::{Peer, client, ok, patient};
use crate::proc_tree::Tree;

/// What a look brings.
#[derive(Debug, PartialEq)]
struct Look {
    processes: Processes,
    grounds: Grounds,
    outputs: Vec<Outputs>,
    files: Vec<Result<String, model::Blind>>,
    lines: String,
    pages: Vec<Observation>,
    pipes: sense::place::Pipes,
}

async fn look(place: &Place, target: &Target) -> Look {
    let mut files = Vec::new();
    for (path, cap) in [("/srv/app/config", 100), ("/srv/app/config", 3), ("/srv/none", 100)] {
        files.push(file_of(place, 10, Path::new(path), cap).await.map(|content| content.text()));
    }
    let mut pages = Vec::new();
    for path in ["/metrics", "/metrics", "/v1/loads", "/not/listed"] {
        pages.push(place.get(target, path).await);
    }
    let mut lines = place.lines_each(vec!["/proc/10/status".into()], &["Uid"], 100).await;
    Look {
        processes: processes(place, &["engine".to_owned()], |argv| argv[0] == "engine").await.unwrap(),
        grounds: grounds_of(place, Some(10)).await,
        outputs: outputs_of(place, &[10, 30]).await,
        files,
        lines: lines.remove(0).unwrap().text(),
        pages,
        pipes: place.pipes().await.unwrap(),
    }
}

#[tokio::test]
async fn a_look_and_its_capture() {
    let tree = Tree::new();
    tree.process(10, 1, "engine\0-m\0\u{e9}\0", &[100], 1);
    tree.process(11, 10, "engine::worker\0", &[101], 1);
    tree.process(30, 1, "engine\0", &[300], 7);
    tree.file("30/cmdline", b"engine\0\xff\xfe\0");
    tree.listens(10, &[(30000, 1000, 100), (30001, 1000, 101)]);
    tree.listens(30, &[(8000, 0, 300)]);
    tree.file("10/net/fib_trie", "|-- 172.17.0.2\n   /32 host LOCAL\n");
    tree.file("10/root/srv/app/config", "a: 1\n");
    symlink("pipe:[77]", tree.path("10/fd/1")).unwrap();
    symlink("pipe:[77]", tree.path("11/fd/9")).unwrap();
    let count = std::sync::atomic::AtomicU32::new(0);
    let peer = Peer::answers(move |head| {
        if head.starts_with("GET /v1/loads") {
            return "no HTTP\r\n\r\n".to_owned();
        }
        ok(&format!("a{{}} {}\n", count.fetch_add(1, std::sync::atomic::Ordering::SeqCst)))
    });
    let recorder = Recorder::default();
    let host = Host::under(tree.path("..").canonicalize().unwrap(), client(patient()));
    let place = Place::from(host).recorded(recorder.clone());
    let first = look(&place, &peer.target()).await;
    assert_eq!((first.processes.found.len(), first.grounds.listening.len()), (2, 2), "{first:?}");
    assert!(first.pages[0] != first.pages[1] && first.pages[3].outcome.is_err(), "{:?}", first.pages);
    let kept = recorder.take();
    assert!(kept.len() > 40 && recorder.take().is_empty(), "{}", kept.len());
    drop(tree);
    let (_, capture, notes) = read(written(&kept)).site(0, 0).unwrap();
    let again = Recorder::default();
    let place = Place::from(capture).recorded(again.clone());
    let second = look(&place, &peer.target()).await;
    assert_eq!((second, notes), (first, vec![]));
    assert_eq!((place.now(), place.counts().requests, place.counts().failed), (NOW, 4, 2));
    assert!(place.counts().bytes > 10);
    // What is recorded of a capture is the capture.
    let answers = |kept: Vec<sense::Kept>| kept.into_iter().map(|kept| (kept.key, kept.answered)).collect::<Vec<_>>();
    assert_eq!(answers(again.take()), answers(kept));
}
