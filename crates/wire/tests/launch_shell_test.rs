//! Scripts and pasted commands, as a POSIX shell and the container programs read them.

use wire::launch::{Form, Launch, shell};

fn argvs(text: &str) -> Vec<Vec<String>> {
    shell(text).found.iter().map(Launch::argv).collect()
}

fn lines(launch: &Launch) -> Vec<(&str, u32)> {
    launch.words.iter().map(|word| (word.text.as_str(), word.line)).collect()
}

#[test]
fn a_script() {
    let text = "#!/bin/bash\nset -euo pipefail\nexport HF_HOME=/data/hf\nMODEL=/models/big  # the model\nARGS=(\n  \
        --tp 8\n  --host \"0.0.0.0\"\n)\ncat > /tmp/x.yaml <<'EOF'\npython -m not.this --flag\nEOF\nif [ -n \"$A\" ]; then\n  \
        NCCL_DEBUG=INFO nohup python -m sglang.launch_server \\\n    --model-path $MODEL \"${ARGS[@]}\" \\\n    \
        --port ${PORT:-30000} \\\n    --name \"$MODEL x\" --key '$MODEL' --rest $REST > /tmp/log 2>&1 &\nfi\nwait\n";
    let read = shell(text);
    let servers: Vec<&Launch> = read.found.iter().filter(|launch| launch.words.len() > 3).collect();
    assert_eq!(servers.len(), 1, "{:?}", argvs(text));
    let launch = servers[0];
    let wanted = [
        ("nohup", 13),
        ("python", 13),
        ("-m", 13),
        ("sglang.launch_server", 13),
        ("--model-path", 14),
        ("/models/big", 14),
        ("--tp", 14),
        ("8", 14),
        ("--host", 14),
        ("0.0.0.0", 14),
        ("--port", 15),
        ("30000", 15),
        ("--name", 16),
        ("/models/big x", 16),
        ("--key", 16),
        ("$MODEL", 16),
        ("--rest", 16),
        ("$REST", 16),
    ];
    assert_eq!(lines(launch), wanted);
    assert_eq!((launch.form, launch.line), (Form::Shell, 13));
    let environment: Vec<_> =
        launch.environment.iter().map(|(name, value, line)| (name.as_str(), value.as_str(), *line)).collect();
    assert_eq!(environment, [("HF_HOME", "/data/hf", 3), ("NCCL_DEBUG", "INFO", 13)]);
    assert_eq!(read.notes.iter().map(|note| note.id).collect::<Vec<_>>(), ["default-taken"]);
}

#[test]
fn pasted_from_a_terminal() {
    let text = "user@node1:~/x$ source venv/bin/activate\n(venv) user@node1:~/x$ python -m sglang.launch_server \\\n> --port 30000\n\
        [2026-01-01 10:00:00] server_args=ServerArgs(a=1)\nINFO: it runs --really\n[root@node1 tmp]# smg launch --port 1\n";
    let read = shell(text);
    let wanted =
        [vec!["python", "-m", "sglang.launch_server", "--port", "30000"], vec!["smg", "launch", "--port", "1"]];
    assert_eq!(argvs(text), wanted);
    assert_eq!(read.found[0].line_of("--port"), Some(3));
    assert_eq!(argvs("$ python -m a --b \\\n    --c\n"), [["python", "-m", "a", "--b", "--c"]]);
    // Inside of quotes it is no prompt.
    assert_eq!(argvs("run 'it'\\''s\n$ x'\n"), [["run", "it's\n$ x"]]);
    // A commented line is no prompt of root's, unless nothing else is there.
    assert_eq!(argvs("# python -m old --x\npython -m new --x\n"), [["python", "-m", "new", "--x"]]);
    assert_eq!(argvs("# python -m new \\\n  --x\n"), [["python", "-m", "new", "--x"]]);
}

#[test]
fn quotes_operators_and_redirections() {
    for (text, commands) in [
        (
            "a 'b c'\"d $X\"\\ e && f | g || h; i & j",
            vec![vec!["a", "b cd $X e"], vec!["f"], vec!["g"], vec!["h"], vec!["i"], vec!["j"]],
        ),
        ("a >x 2>&1 <y b 2>> z &> w c", vec![vec!["a", "b", "c"]]),
        ("a $(cat /x | tr a b) `date -u` ${Y%z} c", vec![vec!["a", "$(cat /x | tr a b)", "`date -u`", "${Y%z}", "c"]]),
        ("a <<-X b\n\tc --d\n\tX\ne <<< f g", vec![vec!["a", "b"], vec!["e", "g"]]),
        ("a '' \"\" $'b\nc'", vec![vec!["a", "", "", "b\nc"]]),
        ("a \"x\\\ny\\$z\\q\" 'p\\'\r\nb \\\r\n  c\r\n", vec![vec!["a", "xy$z\\q", "p\\"], vec!["b", "c"]]),
        ("X='1 2'\na $X \"$X\" ${X}3", vec![vec!["a", "1", "2", "1 2", "1", "23"]]),
        ("a#b #c\n#d\n{ e; }\n(f)\n! g", vec![vec!["a#b"], vec!["e"], vec!["f"], vec!["g"]]),
    ] {
        assert_eq!(argvs(text), commands, "{text}");
    }
    let stray = shell("python -m x --a \\\n  # --b \\\n  --c\n");
    assert_eq!(stray.found[0].argv(), ["python", "-m", "x", "--a"]);
    assert_eq!(stray.notes.iter().map(|note| note.id).collect::<Vec<_>>(), ["stray-options"]);
}

#[test]
fn containers() {
    let text = "sudo docker run -d --gpus all \\\n  --shm-size 32g -p 30000:30000 -p30001:30001 \\\n  -v ~/.cache:/root/.cache \\\n  \
        --env \"HF_TOKEN=hf_secret\" -e A=B -e PASSED --env-file ./env --ipc=host --name sgl -it \\\n  lmsysorg/sglang:latest \\\n  \
        python3 -m sglang.launch_server --port 30000 --api-key sesame\n";
    let read = shell(text);
    let launch = &read.found[0];
    assert_eq!(
        (launch.form, launch.name.as_deref(), launch.image.as_deref()),
        (Form::Container, Some("sgl"), Some("lmsysorg/sglang:latest"))
    );
    let wanted = [
        ("python3", 6),
        ("-m", 6),
        ("sglang.launch_server", 6),
        ("--port", 6),
        ("30000", 6),
        ("--api-key", 6),
        ("sesame", 6),
    ];
    assert_eq!(lines(launch), wanted);
    let environment: Vec<_> =
        launch.environment.iter().map(|(name, value, line)| (name.as_str(), value.as_str(), *line)).collect();
    assert_eq!(environment, [("HF_TOKEN", "hf_secret", 4), ("A", "B", 4)]);
    assert_eq!(read.environment_files, [("./env".to_owned(), false, 4)]);
    assert!(!launch.entrypoint && launch.holds_secret());
    let shown = format!("{read:?}");
    assert!(!shown.contains("hf_secret") && !shown.contains("sesame"), "{shown}");

    for (text, words, name, entrypoint) in [
        ("docker run --entrypoint bash i -c 'x --y'", vec!["bash", "-c", "x --y"], None, true),
        ("podman --log-level debug container run --rm=true -dit --name=n i x", vec!["x"], Some("n"), false),
        ("nerdctl run --net host i --model m", vec!["--model", "m"], None, false),
        ("docker exec -it -e A=B c x --y", vec!["x", "--y"], Some("c"), true),
        ("nohup apptainer exec --nv --bind /a:/b i.sif x --y &", vec!["x", "--y"], None, true),
        ("kubectl -n ns exec pod -- x --y", vec!["kubectl", "-n", "ns", "exec", "pod", "--", "x", "--y"], None, false),
        ("kubectl exec -it pod -- x --y", vec!["x", "--y"], Some("pod"), true),
        ("srun -N 2 --ntasks-per-node=1 -l --gpus-per-task 8 --mpi=pmix x --y", vec!["x", "--y"], None, false),
        ("mpirun -np 2 --allow-run-as-root -x A=B -mca a b docker run i x", vec!["x"], None, false),
        ("torchrun --nproc-per-node 8 --standalone -m mod --y", vec!["python", "-m", "mod", "--y"], None, false),
        ("docker compose up -d", vec!["docker", "compose", "up", "-d"], None, false),
        ("docker run", vec!["docker", "run"], None, false),
    ] {
        let launch = shell(text).found.remove(0);
        assert_eq!(launch.argv(), words, "{text}");
        assert_eq!((launch.name.as_deref(), launch.entrypoint), (name, entrypoint), "{text}");
    }
}

#[test]
fn lines_inside_of_scripts_that_are_words() {
    let text = "bash -c '\ncd /x\npython -m m \\\n  --port 1\n'\n";
    let launch = &shell(text).found[0];
    assert_eq!((launch.words.len(), launch.line_of("--port"), launch.line_of("--none")), (3, Some(4), None));
}
