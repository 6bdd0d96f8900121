//! Files that people save and paste, with a canary in every place where a real one has held a secret.

use testkit::canary::planted_in;

/// What a batch line looks like, so that a log is one.
const BATCH: &str = "Decode batch, #running-req: 3, #token: 4040, token usage: 0.62, #queue-req: 0";

/// Name, content, and whether it is of a kind that is read.
pub(crate) type File = (&'static str, String, bool);

/// `text` with each `{place}` that is written `<place>` there as a canary.
pub(crate) fn plant(text: &str) -> String {
    let mut parts = text.split('<');
    let mut planted = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once('>') {
            Some((place, rest)) if place.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-') => {
                planted += &planted_in(place);
                planted += rest;
            }
            _ => planted = planted + "<" + part,
        }
    }
    planted
}

/// The arguments that hold a secret, as a command line has them.
pub(crate) const ARGUMENTS: &str = "--api-key <argv-key> --admin-api-key=<argv-admin> --ssl-keyfile-password <argv-ssl> \
     --kv-events-config '{\"publisher\":\"zmq\",\"endpoint\":\"tcp://me:<argv-url>@h:5557\",\"token\":\"<argv-json>\"}' \
     --model-path s3://me:<argv-model>@store/m?token=<argv-query> \
     --served-model-name 'api_key=<argv-inside>' \
     --load-balance-method '{\"password\": \"<argv-object>\"}' \
     --dist-init-addr me:<argv-address>@10.0.0.1:5000 --hicache-storage-backend-extra-config '{\"secret\":\"<argv-extra>\"}'";

/// What a server prints of its arguments, in one spelling or the other.
fn dumped(open: &str, name: &dyn Fn(&str) -> String, close: &str) -> String {
    let fields = [
        ("model_path", "'s3://me:<dump-model>@store/m?token=<dump-query>'"),
        ("served_model_name", "'Bearer <dump-name>'"),
        ("host", "'127.0.0.1'"),
        ("port", "30000"),
        ("api_key", "'<dump-key>'"),
        ("admin_api_key", "\"<dump-admin>\""),
        ("ssl_keyfile_password", "'<dump-ssl>'"),
        ("kv_events_config", "'{\"endpoint\":\"tcp://me:<dump-url>@*:5557\",\"token\":\"<dump-json>\"}'"),
        ("dist_init_addr", "'me:<dump-address>@10.0.0.1:5000'"),
        ("tp_size", "1"),
        ("extra_metric_labels", "{'api_key': '<dump-label>'}"),
        ("disaggregation_mode", "'decode'"),
    ];
    let fields: Vec<String> = fields.iter().map(|(field, value)| format!("{}{value}", name(field))).collect();
    format!("server_args={open}{}{close}", fields.join(", "))
}

fn log(arguments: &str) -> String {
    let lines = [
        arguments.to_owned(),
        "Receive: obj=GenerateReqInput(rid='1', text='my password is <prompt>', api_key=<prompt-key>)".to_owned(),
        "Finish: obj=GenerateReqInput(text='<prompt-end>'), out={'text': '<answer>'}".to_owned(),
        "INFO: 127.0.0.1:1 - \"GET /metrics?api_key=<access-query> HTTP/1.1\" 200 OK".to_owned(),
        "Authorization: Bearer <header>, token=<assigned>, HF_TOKEN=<variable>".to_owned(),
        "max_total_num_tokens=6516, api_key=<beside-figures>, chunked_prefill_size=2048".to_owned(),
        BATCH.replace("0.62", "0.62, auth: <in-a-batch>"),
        format!("http://me:<log-url>@h/?token=<log-query> {BATCH}"),
        BATCH.to_owned(),
    ];
    lines.iter().map(|line| format!("[2026-11-29 16:15:23] {line}\n")).collect()
}

/// Every kind of file, planted.
pub(crate) fn all() -> Vec<File> {
    let dict = dumped("{", &|field| format!("'{field}': "), "}");
    let call = dumped("ServerArgs(", &|field| format!("{field}="), ")");
    let command = format!("python3 -m sglang.launch_server --port 30000 {ARGUMENTS}");
    let unit = format!(
        "# /etc/systemd/system/decode.service\n[Service]\nEnvironment=HF_TOKEN=<unit-variable> \"A=http://me:<unit-url>@h\"\n\
         EnvironmentFile=/etc/default/decode\nExecStart=/usr/bin/{}\n\
         # /etc/systemd/system/decode.service.d/10.conf\n[Service]\nEnvironment=WANDB_API_KEY=<drop-in>\n",
        command.replace("--admin", "\\\n    --admin").replace("--kv", "\\\n    --kv")
    );
    let shell = format!(
        "#!/bin/bash\nexport HF_TOKEN=<shell-variable>\nexport KEY=<shell-indirect>\n\
         curl -H 'Authorization: Bearer <shell-header>' http://me:<shell-url>@h/\nAPI_KEY=<shell-assignment> {command} --tokenizer-path $KEY\n"
    );
    let docker = format!("docker run -e HF_TOKEN=<docker-variable> --env=K=<docker-other> -p 1:1 image:1 {command}\n");
    let compose = format!(
        "services:\n  decode:\n    image: me:<compose-image>@registry/sglang:1\n    environment:\n      HF_TOKEN: <compose-variable>\n      \
         OTHER: <compose-other>\n    command: >\n      {}\n",
        command.replace('\n', " ")
    );
    let manifest = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: keys\nstringData:\n  key: <secret-object>\n---\n\
        apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: decode\n  annotations:\n    token: <annotation>\nspec:\n  \
        template:\n    spec:\n      containers:\n        - name: server\n          image: sglang:1\n          env:\n            \
        - name: HF_TOKEN\n              value: <manifest-variable>\n            - name: OTHER\n              \
        value: \"http://me:<manifest-url>@h\"\n          \
        command: [python3, -m, sglang.launch_server, --port, \"30000\", --api-key, <manifest-key>, --admin-api-key=<manifest-admin>,\n            \
        --model-path, 's3://me:<manifest-model>@store/m', --served-model-name, $(OTHER)]\n";
    let info = r#"{"model_path":"s3://me:<info-model>@store/m","served_model_name":"token=<info-name>","port":30000,"host":"127.0.0.1",
        "api_key":"<info-key>","admin_api_key":"<info-admin>","ssl_keyfile_password":"<info-ssl>","dist_init_addr":"me:<info-address>@h:1",
        "kv_events_config":"{\"endpoint\":\"tcp://me:<info-url>@*:5557\",\"token\":\"<info-json>\"}","tp_size":1,"dp_size":1,
        "disaggregation_mode":"decode","load_balance_method":"password: <info-method>","max_total_num_tokens":2048,"status":"ready",
        "internal_states":[{"api_key":"<info-state>","memory_usage":{"token_capacity":2048}}],"version":"0.5.23"}"#;
    let page = "sglang:max_total_num_tokens{model_name=\"s3://me:<page-model>@store/m\",token=\"<page-label>\"} 1000\n\
        sglang:kv_used_tokens{model_name=\"s3://me:<page-model>@store/m\",token=\"<page-label>\"} 250\n\
        sglang:kv_evictable_tokens{model_name=\"s3://me:<page-model>@store/m\",token=\"<page-label>\"} 500\n\
        sglang:kv_available_tokens{model_name=\"s3://me:<page-model>@store/m\",token=\"<page-label>\"} 250\n\
        api_key=<page-bad-line>\n";
    let read = [
        ("dict.log", log(&dict)),
        ("call.log", log(&call)),
        ("dump.txt", dict),
        ("decode.service", unit),
        ("start.sh", shell),
        ("docker.sh", docker),
        ("compose.yaml", compose),
        ("manifest.yaml", manifest.to_owned()),
        ("server_info.json", info.to_owned()),
        ("metrics.prom", page.to_owned()),
    ];
    let refused = [
        ("config.yaml", "api-key: <config-key>\nmodel-path: m\npassword: <config-word>\n"),
        ("other.json", r#"{"api_key":"<json-key>"}"#),
        ("other.txt", "password <text>\n"),
        ("other.prom", "x{token=\"<other-page>\"} 1\n"),
        ("page.html", "<!DOCTYPE html><html><input value=\"<html>\"></html>"),
        ("binary", "\0\0\u{1}<binary>\0"),
        ("other.service", "[Service]\nExecStart=/usr/bin/other --password <other-unit>\n"),
        ("cut.json", r#"{"api_key":"<cut-key>","version":"#),
        ("broken.yaml", "services:\n  a: [<broken-yaml>\n   b: {"),
    ];
    let read = read.into_iter().map(|(name, text)| (name, plant(&text), true));
    read.chain(refused.into_iter().map(|(name, text)| (name, plant(text), false))).collect()
}
