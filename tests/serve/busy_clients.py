"""busy_clients.py CLIENT URL: DeepL's own client (deepl), or OpenAI's (openai), meets 503 of a `rapt serve` with --queue 1, en-fr and
lm while many texts run, tries again, and gets its answer when these are no longer wanted. For check_serve_clients.sh.
"""
import http.client
import json
import sys
import threading
import time
import urllib.parse
import urllib.request

CLIENT, URL = sys.argv[1:]


def refusals(route):
    """How many requests of a path were answered 503."""
    with urllib.request.urlopen(URL + "/metrics", timeout=10) as response:
        lines = response.read().decode().splitlines()
    name = f'rapt_http_requests_total{{route="{route}",status="503"}}'
    return sum(int(line.split()[-1]) for line in lines if line.startswith(name))


def occupy():
    """A stream that runs until its connection is closed. It is refused as long as the server has not let go of the request before,
    which it does once its response is sent."""
    for _ in range(100):
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(URL).netloc, timeout=60)
        connection.request("POST", "/v1/completions", json.dumps({"model": "lm", "prompt": ["we"] * 10_000, "max_tokens": 60,
                                                                  "stream": True}), {"Content-Type": "application/json"})
        response = connection.getresponse()
        if response.status != 503:
            break
        connection.close()
        time.sleep(0.02)
    assert response.status == 200, response.read()
    response.fp.readline()
    return connection, response


def after_refusal(route, connection, response, seen):
    """Closes the stream once the client has met a refusal."""
    before = refusals(route)
    seen.append(None)
    for _ in range(300):
        if refusals(route) > before:
            seen.append(True)
            break
        time.sleep(0.1)
    response.close()
    connection.close()


def meets_refusal(route, ask):
    seen = []
    connection, response = occupy()
    closer = threading.Thread(target=after_refusal, args=(route, connection, response, seen))
    closer.start()
    while not seen:
        time.sleep(0.01)
    result = ask()
    closer.join()
    assert seen == [None, True], "nothing was refused"
    return result


def deepl_client():
    import deepl

    client = deepl.DeepLClient("any", server_url=URL)
    alone = client.translate_text("I see the house.", target_lang="FR").text
    assert meets_refusal("/v2/translate", lambda: client.translate_text("I see the house.", target_lang="FR")).text == alone
    deepl.http_client.max_network_retries = 0
    connection, response = occupy()
    try:
        deepl.DeepLClient("any", server_url=URL).translate_text("a", target_lang="FR")
        raise AssertionError("it was not refused")
    except deepl.DeepLException as error:
        assert error.should_retry and error.http_status_code == 503, error
    response.close()
    connection.close()
    try:
        deepl.DeepLClient("")
        raise AssertionError("an empty key was taken")
    except ValueError:
        pass


def openai_client():
    import openai

    client = openai.OpenAI(base_url=URL + "/v1", api_key="any", max_retries=10)
    request = dict(model="lm", prompt="we", max_tokens=8, seed=3)
    alone = client.completions.create(**request).choices[0].text
    assert meets_refusal("/v1/completions", lambda: client.completions.create(**request)).choices[0].text == alone
    connection, response = occupy()
    try:
        client.with_options(max_retries=0).completions.create(**request)
        raise AssertionError("it was not refused")
    except openai.InternalServerError as error:
        assert error.status_code == 503 and float(error.response.headers["Retry-After"]) >= 1, error
    response.close()
    connection.close()


{"deepl": deepl_client, "openai": openai_client}[CLIENT]()
