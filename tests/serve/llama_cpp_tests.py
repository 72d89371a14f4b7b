"""llama_cpp_tests.py: llama.cpp's own server tests (tools/server/tests, which are not copied here) against `rapt serve`; loaded
into them as a plugin of pytest by check_serve_clients.sh. Their ServerProcess starts `rapt serve` with the slots, keys and origins
that a test asks for, and requests of llama.cpp's own dialect go to the paths of rapt that do the same, under their names there.

Exact texts are those of their model, which is fetched from the Internet: here any text passes. What is left out, with the
reason: NOT_RUN. RAPT is the program, RAPT_LANGUAGE_MODEL a model of 256 tokens of context with a chat template, RAPT_ENCODER an
encoder.
"""
import inspect
import json
import os
import re
import subprocess
import sys
import tempfile
import types

import openai
import pytest
import requests

sys.modules["wget"] = types.ModuleType("wget")  # their utils fetch nothing here
import utils  # noqa: E402: theirs

CALLS = "rapt has no such path or field: it shows the inside of llama-server"
COUNTS = "the numbers are those of the tokens of their model"
NOT_RUN = {
    "test_basic.py::test_server_multiple_addresses": "rapt listens on one address or socket",
    "test_basic.py::test_server_props": CALLS,
    "test_basic.py::test_server_slots": CALLS,
    "test_basic.py::test_load_split_model": "it fetches a model",
    "test_basic.py::test_no_ui": "the page cannot be left out",
    "test_basic.py::test_server_model_aliases_and_tags": "rapt has no aliases: a name a model",
    "test_completion.py::test_completion[": COUNTS,
    "test_completion.py::test_completion_stream[": CALLS,
    "test_completion.py::test_completion_stream_with_openai_library_stops": "it fetches a model",
    "test_completion.py::test_json_prompt": "no prompts as objects, which are for images",
    "test_completion.py::test_completion_with_tokens_input": "no ids and texts in one prompt, nor prompts as objects",
    "test_completion.py::test_completion_unified": "rapt waits for memory, where llama-server breaks off",
    "test_completion.py::test_completion_response_fields": CALLS,
    "test_completion.py::test_n_probs": "log-probabilities of completions are 0 to 5, as OpenAI's; test_logprobs asks for 10",
    "test_completion.py::test_logit_bias[False": "biases are for ids, as OpenAI's",
    "test_completion.py::test_completion_prompt_cache": COUNTS,
    "test_chat_completion.py::test_chat_completion[": COUNTS,
    "test_chat_completion.py::test_chat_completion_cached_tokens": COUNTS,
    "test_chat_completion.py::test_chat_completion_stream": COUNTS,
    "test_chat_completion.py::test_chat_template": "templates are the model's, and end with the turn of the assistant",
    "test_chat_completion.py::test_apply_chat_template": CALLS,
    "test_chat_completion.py::test_completion_with_": "no grammars",
    "test_chat_completion.py::test_chat_completion_with_timings_per_token": CALLS,
    "test_chat_completion.py::test_invalid_chat_completion_req[messages7]": "which turns may follow each other is the template's",
    "test_chat_completion.py::test_logprobs_stream": "the first delta has an empty content, as OpenAI's, not null",
    "test_chat_completion.py::test_context_size_exceeded": "the error is OpenAI's context_length_exceeded",
    "test_chat_completion.py::test_return_progress": CALLS,
    "test_chat_completion.py::test_chat_completions_token_count": CALLS,
    "test_chat_completion.py::test_verbose_debug": CALLS,
    "test_security.py::test_access_static_assets_without_api_key": "the page is one file",
    "test_security.py::test_cors_options[origin-Access-Control-Allow-Credentials": "rapt has no cookies",
    "test_security.py::test_cors_options[web.mydomain.fr-Access-Control-Allow-Methods": "rapt names the methods of the path",
    "test_security.py::test_cors_options[web.mydomain.fr-Access-Control-Allow-Headers": "rapt names the headers that it reads",
    "test_security.py::test_cors_origins_defaults_to_localhost_with_tools_enabled": "no tools",
    "test_security.py::test_cors_proxy": "no proxy",
    "test_security.py::test_local_media_file": "no images",
    "test_ctx_shift.py::test_ctx_shift_enabled": COUNTS,
    "test_ctx_shift.py::test_ctx_shift_disabled_short_prompt": COUNTS,
    "test_ctx_shift.py::test_ctx_shift_disabled_long_prompt": "the words of the error are others",
    "test_embedding.py::test_embedding_multiple_with_fa": "it needs a context of 256",
    "test_embedding.py::test_embedding_mixed_input[input": "texts and ids are not mixed, and there are no inputs as objects",
    "test_embedding.py::test_embedding_content_text_same_as_string": "no inputs as objects",
    "test_embedding.py::test_embedding_pooling_none": "pooling is the model's",
    "test_embedding.py::test_embedding_error_prompt_too_long": "the words of the error are others",
    "test_embedding.py::test_embedding_usage": COUNTS,
    "test_tokenize.py::test_tokenize_with_bos": "their model's first token",
}
RUN_ANYWAY = "test_cache_vs_nocache_prompt"  # which they skip, as llama-server fails it
PATHS = {"/completion": "/v1/completions", "/completions": "/v1/completions", "/chat/completions": "/v1/chat/completions",
         "/models": "/v1/models", "/tokenize": "/v1/tokenize", "/detokenize": "/v1/detokenize"}
IGNORED = ("cache_prompt", "id_slot")  # neither changes a text
CONTEXT = 256  # of the language model
current = None  # the test that runs


def pytest_collection_modifyitems(config, items):
    for item in items:
        name = f"{item.path.name}::{item.name}"
        reason = next((why for test, why in NOT_RUN.items() if name.startswith(test)), None)
        if item.originalname == RUN_ANYWAY:
            item.own_markers = [m for m in item.own_markers if m.name != "skip"]
        if reason:
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(autouse=True)
def what_runs(request, monkeypatch):
    global current
    current = request.function
    created = openai.OpenAI.__init__

    def __init__(self, **options):  # paths of OpenAI begin with /v1; their fingerprints with a b, and ours with rapt
        base_url = options.pop("base_url").removesuffix("/v1") + "/v1"
        created(self, base_url=base_url, **options)
        self._client.event_hooks["response"].append(name_a_build)
    monkeypatch.setattr(openai.OpenAI, "__init__", __init__)
    yield


def name_a_build(response):
    if response.headers.get("content-type", "").startswith("application/json"):
        response.read()
        response._content = response.content.replace(b'"system_fingerprint":"rapt-', b'"system_fingerprint":"b-')


def launch(names, model, options):
    """A server, and its port."""
    server = subprocess.Popen([os.environ["RAPT"], "serve", *(f"{n}={model}" for n in sorted(names)), *options],
                              stdout=subprocess.PIPE, text=True)
    line = server.stdout.readline()
    assert line.startswith("listening on "), line
    return server, int(line.rsplit(":", 1)[1])


def start(self, **_):
    """`rapt serve` under their name of the model and those that the test names."""
    source = inspect.getsource(current)
    encoder = "bert" in (self.model_hf_file or "") or "test_embedding" in current.__module__
    model = os.environ["RAPT_ENCODER" if encoder else "RAPT_LANGUAGE_MODEL"]
    self.name = self.model_alias or "model"
    names = {self.name, *re.findall(r'model="([^"]+)"', source)}
    options = ["--port", "0", "--log", "none", "--slots", str(self.n_slots or 1), "--chunk", str(self.n_batch or 64)]
    if self.api_key:
        with tempfile.NamedTemporaryFile("w", delete=False) as keys:
            keys.write(self.api_key + "\n")
        options += ["--api-key-file", keys.name]
    if "test_cors" in current.__name__:
        local = re.search(r"test_cors_origins_localhost", current.__name__)
        origins = ["http://" + h + p for h in ("localhost", "127.0.0.1", "[::1]") for p in ("", ":3000", ":8080")]
        options += [o for origin in (origins if local else ["*"]) for o in ("--cors", origin)]
    self.server_host = "127.0.0.1"
    self.process, self.server_port = launch(names, model, options)
    self.uncached = None
    utils.server_instances.add(self)
    if current.__name__ == RUN_ANYWAY:  # one server without a cache, and one that has the beginning of the prompt
        self.uncached = launch(names, model, options + ["--no-prefix-cache"])
        self.make_request("POST", "/completion", data={"prompt": "I believe the meaning of death", "n_predict": 4})
    if self.api_key:
        os.unlink(keys.name)


def stop(self):
    their_stop(self)
    if self.uncached:
        self.uncached[0].terminate()
        self.uncached[0].wait(timeout=30)


def translate_request(self, path, data):
    """The path and fields of rapt for theirs."""
    if data is None or path not in PATHS and not path.startswith("/v1/"):
        return PATHS.get(path, path), data
    data = {k: v for k, v in data.items() if k not in IGNORED}
    data["model"] = data.get("model") or self.name
    if "completion" in path:
        most = data.pop("n_predict", data.get("max_tokens", self.n_predict))
        if path == "/completion" and most is not None:
            most = min(most, self.n_predict) if self.n_predict and self.n_predict > 0 else most
        if most is not None:
            data["max_tokens"] = most if most > 0 else CONTEXT  # -1: until the context is full
        if "chat" not in path:
            data.setdefault("temperature", 0.8 if self.temperature is None else self.temperature)
            data.setdefault("seed", self.seed)
            if isinstance(data.get("logit_bias"), list):
                data["logit_bias"] = {str(token): bias for token, bias in data["logit_bias"]}
    elif path == "/tokenize":
        data = {"model": data["model"], "text": data["content"]}
    elif path == "/detokenize":
        data = {"model": data["model"], "ids": data["tokens"]}
    return PATHS.get(path, path), data


def translate_response(path, asked, body):
    """Their form of a response of rapt."""
    if not isinstance(body, dict) or "error" in body:
        return body
    if path in ("/completion", "/completions"):
        choice = body["choices"][0]
        return dict(body, content=choice["text"], stop=choice.get("finish_reason") is not None)
    if path == "/tokenize":
        result = body["results"][0]
        pieces = [{"id": i, "piece": t} for i, t in zip(result["ids"], result["tokens"])]
        return {"tokens": pieces if asked.get("with_pieces") else result["ids"]}
    if path == "/detokenize":
        return {"content": body["text"] if "text" in body else body["results"][0]["text"]}
    return body


def running_slots(self):
    """Their GET /slots, of which rapt has a count among its metrics."""
    metrics = requests.get(f"http://127.0.0.1:{self.server_port}/metrics", timeout=10).text
    running = sum(float(line.split()[-1]) for line in metrics.splitlines() if line.startswith("rapt_jobs_running{"))
    response = utils.ServerResponse()
    response.status_code, response.headers = 200, {}
    response.body = [{"is_processing": i < running} for i in range(self.n_slots)]
    return response


their_request, their_stream = utils.ServerProcess.make_request, utils.ServerProcess.make_stream_request
their_stop = utils.ServerProcess.stop


def make_request(self, method, path, data=None, headers=None, **more):
    if path == "/slots":
        return running_slots(self)
    new_path, new_data = translate_request(self, path, data)
    cached_port = self.server_port
    if self.uncached and not data.get("cache_prompt", True):
        self.server_port = self.uncached[1]
    response = their_request(self, method, new_path, new_data, headers, **more)
    self.server_port = cached_port
    response.body = translate_response(path, data, response.body)
    if method == "OPTIONS" and response.status_code == 204:  # a success without a body
        response.status_code = 200
    return response


def make_stream_request(self, method, path, data=None, headers=None, **more):
    new_path, new_data = translate_request(self, path, data)
    for event in their_stream(self, method, new_path, new_data, headers, **more):
        yield translate_response(path, data, event)


utils.ServerProcess.start = start
utils.ServerProcess.stop = stop
utils.ServerProcess.make_request = make_request
utils.ServerProcess.make_stream_request = make_stream_request
utils.ServerPreset.load_all = staticmethod(lambda: None)
utils.match_regex = lambda regex, text: isinstance(text, str) and text != ""
