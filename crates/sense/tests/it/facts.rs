//! What processes take of their host.

use std::collections::BTreeSet;

use model::Time;
use sense::process::{Facts, facts_of, numa_of, numbers};

use crate::proc_real::here;
use crate::proc_tree::Tree;

/// A host of two nodes with four processors each, and a third node that is memory alone.
fn host(tree: &Tree) {
    for (path, text) in
        [("online", "0-2\n"), ("node0/cpulist", "0-1,4-5\n"), ("node1/cpulist", "2-3,6-7\n"), ("node2/cpulist", "\n")]
    {
        tree.file(&format!("../sys/devices/system/node/{path}"), text);
    }
}

#[tokio::test]
async fn nodes_and_memory() {
    let tree = Tree::new();
    // the tree's own folder must be there before `..` leads out of it
    host(&tree);
    let status = |memory: &str, cpus: &str| {
        format!(
            "Name:\tx\nVmRSS:\t  2048 kB\nCpus_allowed_list:\t{cpus}\nMems_allowed:\t7\nMems_allowed_list:\t{memory}\n"
        )
    };
    for (pid, memory, cpus, nodes) in [
        (10, "0-2", "0-7", None),
        (11, "1", "0-7", Some(vec![1])),
        (12, "0-2", "2,6", Some(vec![1])),
        (13, "0-2", "3-4", None),
        (14, "0-1", "0-1", Some(vec![0, 1])),
        (15, "0-9", "0-99", None),
        (16, "9", "4", Some(vec![0])),
        (17, "x", "y", None),
    ] {
        tree.process(pid, 1, "engine\0", &[], 1);
        tree.file(&format!("{pid}/status"), status(memory, cpus));
        assert_eq!(numa_of(&tree.place(), pid).await, nodes, "{pid}");
    }
    // 1700000000 is the boot, 5000 ticks of a hundredth of a second later it started; 2048 kB are 2 MiB
    let expected =
        Facts { pid: 11, started_at: Some(Time(1_700_000_050.0)), resident: Some(2 << 20), numa: Some(vec![1]) };
    let facts = facts_of(&tree.place(), &[11, 99]).await;
    assert_eq!(facts, [expected, Facts { pid: 99, ..Facts::default() }]);
}

/// A host of one node, or one that does not say, binds nobody.
#[tokio::test]
async fn hosts_without_nodes() {
    let tree = Tree::new();
    tree.process(10, 1, "engine\0", &[], 1);
    tree.file("10/status", "Cpus_allowed_list:\t0\nMems_allowed_list:\t0\n");
    assert_eq!(numa_of(&tree.place(), 10).await, None);
    tree.file("../sys/devices/system/node/online", "0\n");
    tree.file("../sys/devices/system/node/node0/cpulist", "0-7\n");
    assert_eq!(numa_of(&tree.place(), 10).await, None);
}

#[test]
fn lists() {
    let list = |text: &str| numbers(text).into_iter().collect::<Vec<u32>>();
    assert_eq!(list("0-3,8,10-11\n"), [0, 1, 2, 3, 8, 10, 11]);
    assert_eq!(list(""), Vec::<u32>::new());
    assert_eq!(list("x,-1,2-1,5-x, 7 ,1-2-3"), [7]);
    assert_eq!(list("8190-4294967295").len(), 3);
    assert_eq!(numbers("4294967295"), BTreeSet::new());
}

#[tokio::test]
async fn ourselves() {
    let facts = facts_of(&here(), &[std::process::id()]).await.remove(0);
    assert!(facts.resident.is_some_and(|bytes| bytes > 1 << 20), "{facts:?}");
    let age = sense::clock::now().since(facts.started_at.unwrap());
    assert!((-60.0..3600.0).contains(&age), "{age}");
}
