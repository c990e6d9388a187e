"""Runs LiteLLM's proxy before the server at an address, as `ready ADDRESS` on the first line.

    start.py SERVER PORT

Any name of a model is the server's. Nothing leaves this computer: prices come with the package, and there is no database.
It ends with its standard input, so that it cannot outlive the test that started it.
"""

import os
import subprocess
import sys
import tempfile
import time
import urllib.request

CONFIG = """
model_list:
  - model_name: "*"
    litellm_params: {model: "openai/*", api_base: "%s/v1", api_key: "test-key"}
router_settings: {num_retries: 0}
general_settings: {master_key: "test-key"}
litellm_settings: {telemetry: false, num_retries: 0}
"""
LIMIT = 180


def main():
    server, port = sys.argv[1:]
    address = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory() as folder:
        config = os.path.join(folder, "config.yaml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(CONFIG % server)
        settings = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION",
                    "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true"}
        program = os.path.join(os.path.dirname(sys.executable), "litellm")
        command = [program, "--config", config, "--host", "127.0.0.1", "--port", port, "--telemetry", "False"]
        proxy = subprocess.Popen(command, env=settings, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        try:
            begun = time.monotonic()
            while proxy.poll() is None and time.monotonic() - begun < LIMIT:
                try:
                    urllib.request.urlopen(f"{address}/health/liveliness", timeout=2).close()
                    print("ready", address, flush=True)
                    sys.stdin.read()
                    break
                except OSError:
                    time.sleep(0.2)
        finally:
            proxy.kill()
            proxy.wait()


main()
