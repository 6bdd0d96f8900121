//! Pages that are of several servers, or under other names, taken apart: which are, which are not, and what is left of each.

use std::path::Path;

use engines::{Apart, Page, Tables, apart};

fn taken(page: &str) -> Apart {
    apart(&Tables::builtin(), page.as_bytes()).unwrap_or_else(|| panic!("not taken apart:\n{page}"))
}

fn is_own(page: &str) -> bool {
    apart(&Tables::builtin(), page.as_bytes()).is_none()
}

/// Every server with its page's lines that are not empty.
fn servers(apart: &Apart) -> Vec<(&str, String)> {
    let lines = |page: &Page| {
        let text = String::from_utf8(page.body.clone()).expect("text");
        text.lines().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
    };
    apart.pages.iter().map(|page| (page.server.as_deref().unwrap_or_default(), lines(page))).collect()
}

#[test]
fn an_engines_own_page_is_left_alone() {
    for page in [
        "sglang:token_usage{tp_rank=\"0\"} 0.5\n",
        // A label on some series is the engine's, and one that its table reads as well.
        "sglang:token_usage{url=\"http://a\"} 0.5\nsglang:num_running_reqs 1\n",
        "smg_worker_requests_active{worker=\"http://a\",url=\"b\"} 1\nsmg_worker_cb_state 1\n",
        // Names of other programs that look alike.
        "ray_node_mem_used{SessionName=\"s\"} 1\nprometheus_http_requests_total 2\n",
        "kv_cache_usage_perc{model=\"m\"} 0.5\n",
        "",
        "{\"ray_sglang_token_usage\": 1}",
    ] {
        assert!(is_own(page), "{page}");
    }
}

/// What engines and routers were seen to serve themselves is taken for nothing else.
#[test]
fn no_recorded_page_is_taken_for_a_wrappers() {
    let tables = Tables::builtin();
    let (mut folders, mut read) = (vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../engines")], 0);
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "prom") {
                let taken = apart(&tables, &std::fs::read(&path).expect("a page"));
                assert_eq!(taken.and_then(|apart| apart.wrapper), None, "{}", path.display());
                read += 1;
            }
        }
    }
    assert!(read > 60, "{read} pages");
}

#[test]
fn names_lose_what_was_put_around_them_and_nothing_else() {
    for (name, own) in [
        ("ray_sglang_token_usage", "sglang_token_usage"),
        ("ray_sglang:token_usage", "sglang:token_usage"),
        ("sglang:token_usage_gauge", "sglang:token_usage"),
        ("prometheus_sglang:token_usage", "sglang:token_usage"),
        ("llm_sglang:token_usage", "sglang:token_usage"),
        ("a_b_sglang:token_usage", "sglang:token_usage"),
    ] {
        let page = format!("# HELP {name} -\n# TYPE {name} gauge\n{name}{{tp_rank=\"0\"}} 0.50 1796000000000\n");
        let apart = taken(&page);
        assert_eq!(servers(&apart), [("", format!("{own}{{tp_rank=\"0\"}} 0.5 1796000000000"))], "{name}");
        assert_eq!(apart.pages[0].first_line, 3, "{name}");
    }
    for name in ["llm_sglang_token_usage", "llmsglang:token_usage", "ray_token_usage", "sglang:token_usage_max"] {
        assert!(is_own(&format!("{name} 0.5\n")), "{name}");
    }
}

#[test]
fn lines_keep_their_numbers_and_labels_that_were_added_go() {
    let page = "ray_x 1\nray_sglang_token_usage{ReplicaId=\"b\",Version=\"2\",tp_rank=\"0\"} 0.5\n\
                ray_sglang_token_usage{ReplicaId=\"a\",tp_rank=\"1\"} 0.25\n\
                ray_sglang_num_running_reqs{ReplicaId=\"b\"} 3\n";
    let apart = taken(page);
    let bodies: Vec<(u32, String)> =
        apart.pages.iter().map(|page| (page.first_line, String::from_utf8_lossy(&page.body).into_owned())).collect();
    assert_eq!(
        bodies,
        [
            (3, "sglang_token_usage{tp_rank=\"1\"} 0.25\n".to_owned()),
            (2, "sglang_token_usage{tp_rank=\"0\"} 0.5\n\nsglang_num_running_reqs 3.0\n".to_owned()),
        ]
    );
    assert_eq!((apart.servers, apart.unnamed), (2, 0));
}

/// What another wrapper has read of a wrapper's page: the servers are told by the labels of both.
#[test]
fn wrappers_around_wrappers_do_not_put_servers_together() {
    let alone = "aibrix:token_usage{model_name=\"m\"} 0.5\nsglang:num_running_reqs{model_name=\"m\"} 1\n";
    let said = "sglang:token_usage{model_name=\"m\"} 0.5; sglang:num_running_reqs{model_name=\"m\"} 1.0";
    assert_eq!(servers(&taken(alone)), [("", said.to_owned())]);
    let line = |instance: &str| alone.replace("{model_name", &format!("{{instance=\"{instance}\",model_name"));
    let both = line("a:1") + &line("b:1");
    let apart = taken(&both);
    assert_eq!(servers(&apart), [("instance=a:1", said.to_owned()), ("instance=b:1", said.to_owned())]);
    let lag = &apart.pages[0].passed.as_ref().expect("who passes it on").lag;
    assert!(lag.contains("300 s") && apart.wrapper.as_deref().is_some_and(|title| title.contains("AIBrix")), "{lag}");
    let nested = "ray_sglang_token_usage{ReplicaId=\"r\",instance=\"a:1\"} 0.5\n\
                  ray_sglang_token_usage{ReplicaId=\"r\",instance=\"b:1\"} 0.6\n";
    let names: Vec<String> = taken(nested).pages.into_iter().filter_map(|page| page.server).collect();
    assert_eq!(names, ["ReplicaId=r,instance=a:1", "ReplicaId=r,instance=b:1"]);
}

#[test]
fn a_copy_is_read_where_the_original_is_missing() {
    let page = "sglang:token_usage 0.25\naibrix:token_usage 0.5\naibrix:queue_size 7\n";
    assert_eq!(servers(&taken(page)), [("", "sglang:token_usage 0.25; sglang:num_queue_reqs 7.0".to_owned())]);
}

#[test]
fn what_is_of_no_server_is_counted_and_not_read() {
    let page = "ray_sglang_token_usage{ReplicaId=\"a\"} 0.5\nray_sglang_token_usage 0.9\n";
    let apart = taken(page);
    assert_eq!(servers(&apart), [("ReplicaId=a", "sglang_token_usage 0.5".to_owned())]);
    assert_eq!((apart.servers, apart.unnamed), (1, 1));
    let page = "gpustack:num_requests_running{model_instance_name=\"i\",runtime=\"Other\"} 1\n";
    let apart = taken(page);
    assert!(apart.pages.is_empty() && apart.notes.iter().any(|note| note.id == "unplaced"), "{apart:?}");
}

/// Retractions alone are what is left of a replica that has gone; its counters say nothing of now.
#[test]
fn a_server_of_which_only_counters_are_left_has_gone() {
    let page = "ray_sglang_token_usage{ReplicaId=\"a\"} 0.5\n\
                ray_sglang_num_retracted_requests_total{ReplicaId=\"b\"} 9\n";
    let apart = taken(page);
    assert_eq!(servers(&apart).len(), 1);
    let note = apart.notes.iter().find(|note| note.id == "gone").expect("a note");
    assert!(note.text.contains("ReplicaId=b"), "{}", note.text);
    // Where counters do not stay, a server may have nothing else.
    let page = "sglang:num_retracted_requests_total{url=\"http://u:p@h/metrics?key=k\"} 9\n";
    assert_eq!(servers(&taken(page))[0].0, "url=http://h/metrics");
}

#[test]
fn servers_beyond_the_cap_are_counted() {
    let line = |number: u32| format!("ray_sglang_token_usage{{ReplicaId=\"{number:03}\"}} 0.5\n");
    let apart = taken(&(0..300).map(line).collect::<String>());
    assert_eq!((apart.pages.len(), apart.servers), (256, 300));
}

/// What a vLLM server says, with these labels: share in use, running, prefix cache queries.
fn scraped(labels: &str, share: f64, queries: u64, time: &str) -> String {
    format!(
        "vllm:kv_cache_usage_perc{{engine=\"0\",model_name=\"m\",{labels}}} {share} {time}\n\
         vllm:num_requests_running{{engine=\"0\",model_name=\"m\",{labels}}} 3 {time}\n\
         vllm:prefix_cache_queries_total{{engine=\"0\",model_name=\"m\",{labels}}} {queries} {time}\n"
    )
}

fn names(apart: &Apart) -> Vec<&str> {
    apart.pages.iter().map(|page| page.server.as_deref().unwrap_or_default()).collect()
}

/// Each host's own scraper asks `localhost`: its label alone says which server it is. A tenant is no scraper.
#[test]
fn an_address_that_every_host_has_is_no_servers() {
    for local in ["localhost:8000", "127.0.0.1:8000", "[::1]:8000", "http://LOCALHOST:8000/metrics"] {
        let of = |host: &str| format!("instance=\"{local}\",replica=\"{host}\"");
        let apart = taken(&(scraped(&of("gpu01"), 0.1, 50, "") + &scraped(&of("gpu02"), 0.11, 50, "")));
        assert_eq!((apart.pages.len(), apart.servers), (2, 2), "{local}");
        assert!(names(&apart).iter().zip(["gpu01", "gpu02"]).all(|(name, host)| name.ends_with(host)), "{apart:?}");
        assert!(apart.notes.iter().any(|note| note.text.contains("differ only in who scraped them")), "{local}");
    }
    let of = |tenant: &str| format!("instance=\"10.0.0.5:8000\",tenant_id=\"{tenant}\"");
    let apart = taken(&(scraped(&of("a"), 0.1, 50, "") + &scraped(&of("b"), 0.1, 50, "")));
    assert_eq!(names(&apart), ["instance=10.0.0.5:8000,tenant_id=a", "instance=10.0.0.5:8000,tenant_id=b"]);
}

/// Of one server no two looks can say such things.
#[test]
fn what_contradicts_another_is_no_copy_of_it() {
    let of = |replica: &str| format!("instance=\"10.0.0.5:8000\",job=\"v\",replica=\"{replica}\"");
    let (at, later, much_later) = ("1796000000000", "1796000005000", "1796000200000");
    let two = |one: String, other: String| {
        (one + &other, ["instance=10.0.0.5:8000,replica=a", "instance=10.0.0.5:8000,replica=b"])
    };
    let other_model = scraped(&of("b"), 0.1, 50, at).replace("\"m\"", "\"n\"");
    let size = |replica: &str, blocks: u32| {
        let labels = of(replica);
        let info = format!("vllm:cache_config_info{{engine=\"0\",num_gpu_blocks=\"{blocks}\",{labels}}} 1 {at}\n");
        scraped(&labels, 0.1, 50, at) + &info
    };
    let preempted = |replica: &str, count: u32| {
        format!("vllm:num_preemptions_total{{engine=\"0\",model_name=\"m\",{}}} {count}\n", of(replica))
    };
    for (why, (page, names_wanted)) in [
        ("a pool moves by a quarter at most", two(scraped(&of("a"), 0.1, 50, at), scraped(&of("b"), 0.99, 50, later))),
        ("the same without times", two(scraped(&of("a"), 0.1, 50, ""), scraped(&of("b"), 0.99, 50, ""))),
        ("a counter goes back", two(scraped(&of("a"), 0.1, 90, at), scraped(&of("b"), 0.1, 50, later))),
        ("however long after", two(scraped(&of("a"), 0.1, 90, at), scraped(&of("b"), 0.1, 50, much_later))),
        ("a counter doubles", two(scraped(&of("a"), 0.1, 5000, at), scraped(&of("b"), 0.1, 90_000, later))),
        ("another model", two(scraped(&of("a"), 0.1, 50, at), other_model)),
        ("another size", two(size("a", 2001), size("b", 4001))),
        (
            "each is ahead of the other",
            two(
                scraped(&of("a"), 0.1, 90, "") + &preempted("a", 3),
                scraped(&of("b"), 0.1, 50, "") + &preempted("b", 9),
            ),
        ),
        ("nothing in common", two(scraped(&of("a"), 0.1, 50, at), preempted("b", 1))),
    ] {
        let apart = taken(&page);
        let mut names = names(&apart);
        names.sort_unstable();
        assert_eq!((names, apart.servers), (names_wanted.to_vec(), 2), "{why}");
    }
}

/// Of copies the newest is read, also where a counter is not on its page yet; nothing older poses as now.
#[test]
fn of_copies_the_newest_is_read_and_all_are_counted() {
    let of = |replica: &str| format!("instance=\"10.0.0.5:8000\",prometheus_replica=\"{replica}\"");
    for older in ["1796000000000", "1796000190000"] {
        let old = scraped(&of("a"), 0.7, 50, older);
        let new = scraped(&of("b"), 0.8, 50, "1796000200000");
        let new: String =
            new.lines().filter(|line| !line.contains("queries")).map(|line| format!("{line}\n")).collect();
        let apart = taken(&(old + &new));
        let body = String::from_utf8_lossy(&apart.pages[0].body).into_owned();
        assert_eq!(apart.pages.len(), 1);
        assert!(body.contains(" 0.8 1796000200000") && !body.contains("0.7"), "{body}");
    }
    // The newest of twenty is the last; a name that a rule left out is no reason to know less.
    let copy = |number: u32| scraped(&of(&format!("r{number:02}")), 0.5, 50, &format!("17960000{number:02}000"));
    let apart = taken(&((0..20).map(copy).collect::<String>()));
    let note = apart.pages[0].note.as_ref().expect("a note").text.clone();
    assert!(note.contains("20 copies of this server") && note.contains("prometheus_replica=r19 was read"), "{note}");
    let bare = "vllm:num_requests_running{engine=\"0\",model_name=\"m\",instance=\"10.0.0.5:8000\"} 3 1796000005000\n";
    let apart = taken(&(scraped(&of("a"), 0.5, 50, "1796000000000") + bare));
    assert!(String::from_utf8_lossy(&apart.pages[0].body).contains("kv_cache_usage_perc"), "{apart:?}");
}

/// A line without an end keeps that, or whoever reads the page could not see that its number may have been cut.
#[test]
fn a_last_line_without_an_end_gets_none() {
    let page = scraped("instance=\"10.0.0.5:8000\"", 0.5, 50, "");
    let cut = page.trim_end_matches('\n');
    for (page, ended) in [(page.as_str(), true), (cut, false)] {
        assert_eq!(taken(page).pages[0].body.ends_with(b"\n"), ended);
    }
}

/// Servers of which each tells of several: the cap is on all of them together, and what it leaves out is counted.
#[test]
fn several_within_several_share_one_cap() {
    let line = |instance: usize, model: usize| {
        format!(
            "nv_trt_llm_kv_cache_block_metrics{{instance=\"10.0.0.{instance}:8002\",kv_cache_block_type=\"used\",model=\"m{model}\",version=\"1\"}} 5\n"
        )
    };
    for (instances, models, read, servers) in [(3, 2, 6, 6), (20, 20, 256, 400), (300, 2, 256, 556)] {
        let page: String = (0..instances).flat_map(|at| (0..models).map(move |model| line(at, model))).collect();
        let apart = taken(&page);
        // Of 300 the 44 beyond the cap are not looked into: each is one, at least.
        assert_eq!((apart.pages.len(), apart.servers), (read, servers), "{instances} times {models}");
    }
    let unnamed = "nv_trt_llm_request_metrics{instance=\"10.0.0.1:8002\",request_type=\"active\"} 5\n";
    assert_eq!(taken(&(line(1, 0) + &line(1, 1) + unnamed)).unnamed, 1);
}
