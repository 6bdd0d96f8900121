#!/bin/bash
set -e
export HF_TOKEN=canary-script-env
python -m sglang.launch_server --model-path /srv/m --port 30000 --disaggregation-mode prefill &
python -m sglang.launch_server --model-path /srv/m --port 30001 --disaggregation-mode decode --enable-metrics &
smg launch --pd-disaggregation --prefill http://a:30000 --decode http://a:30001 --port 8000 --api-key canary-router-key
