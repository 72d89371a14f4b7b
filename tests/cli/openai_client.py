"""openai_client.py LANGUAGE_MODEL TRANSLATION ENCODER CHAT CALLS: OpenAI's own client against `rapt serve`: texts whole and streamed,
chats, calls of tools, responses, embeddings, errors; and each response is had again by the command of its header, which names models as links of
this folder do. For check_openai_client.sh. RAPT is the program.
"""
import asyncio
import json
import os
import subprocess
import sys

import openai

RAPT = os.environ["RAPT"]


def serve(*models):
    server = subprocess.Popen([RAPT, "serve", *models, "--port", "0", "--log", "none"], stdout=subprocess.PIPE, text=True)
    line = server.stdout.readline()
    assert line.startswith("listening on "), line
    return server, line.split()[2]


def replay(response, **more):
    """What the command of a response prints."""
    line = response.headers["x-rapt-replay"]
    return subprocess.run(["bash", "-c", 'rapt() { "$RAPT" "$@"; }\n' + line], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=True, **more).stdout.decode()


def texts(choices):
    return [c.text for c in sorted(choices, key=lambda c: c.index)]


def check_completions(client):
    requests = [dict(prompt="The king", max_tokens=30, seed=7, n=3),
                dict(prompt="it's \"so\"\n", max_tokens=20, temperature=0, echo=True),
                dict(prompt="", max_tokens=20, seed=0) if client.end_of_text else dict(prompt="a", seed=0),
                dict(prompt="To be", max_tokens=40, seed=3, top_p=0.9, stop=["e", "\n"], logit_bias={"5": -3.5}),
                dict(prompt="To be", max_tokens=40, seed=3, extra_body=dict(top_k=5, min_p=0.1, repetition_penalty=1.3))]
    for request in requests:
        raw = client.completions.with_raw_response.create(model="lm", **request)
        whole = raw.parse()
        assert replay(raw) == "\n----\n".join(texts(whole.choices)) + "\n", (request, replay(raw), whole)
        assert whole.system_fingerprint.startswith("rapt-") and whole.usage.total_tokens > 0
        streamed = [""] * request.get("n", 1)
        for chunk in client.completions.create(model="lm", stream=True, **request):
            for choice in chunk.choices:
                streamed[choice.index] += choice.text
        if "seed" in request or request.get("temperature") == 0:
            assert streamed == texts(whole.choices), (streamed, whole)


def check_prompts(client):
    both = client.completions.create(model="lm", prompt=["The king", "A day"], max_tokens=8, temperature=0)
    alone = [client.completions.create(model="lm", prompt=p, max_tokens=8, temperature=0) for p in ["The king", "A day"]]
    assert texts(both.choices) == [a.choices[0].text for a in alone]
    ids = [1, 2, 3, 4, 5, 6]
    scored = client.completions.create(model="lm", prompt=ids, max_tokens=1, temperature=0, logprobs=1, echo=True, seed=1234)
    log_probs = scored.choices[0].logprobs
    assert log_probs.token_logprobs[0] is None and len(log_probs.token_logprobs) == 7
    assert all(max(top.values()) >= p for top, p in zip(log_probs.top_logprobs[1:], log_probs.token_logprobs[1:]))


async def check_async(url):
    """Many at once say what each says alone."""
    client = openai.AsyncOpenAI(base_url=url + "/v1", api_key="none")
    requests = [dict(model="lm", prompt="The king " + "and " * (i % 5), max_tokens=10 + i % 7, seed=i) for i in range(24)]
    together = await asyncio.gather(*[client.completions.create(**r) for r in requests])
    for request, response in zip(requests, together):
        alone = await client.completions.create(**request)
        assert texts(alone.choices) == texts(response.choices)
    await client.close()


def check_chat(client):
    messages = [{"role": "system", "content": "Translate."}, {"role": "user", "content": "Ein Mann.\nEine Frau?"}]
    raw = client.chat.completions.with_raw_response.create(model="de-en", messages=messages, temperature=0)
    reply = raw.parse()
    assert replay(raw) == reply.choices[0].message.content + "\n"
    streamed = ""
    with client.chat.completions.stream(model="de-en", messages=messages, stream_options={"include_usage": True}) as stream:
        for event in stream:
            if event.type == "content.delta":
                streamed += event.delta
        assert stream.get_final_completion().usage.total_tokens == reply.usage.total_tokens
    assert streamed == reply.choices[0].message.content
    again = messages + [reply.choices[0].message, {"role": "user", "content": [{"type": "text", "text": "Ein Hund."}]}]
    assert client.chat.completions.create(model="de-en", messages=again).choices[0].finish_reason == "stop"


TOOLS = [{"type": "function", "function": {
    "name": "get_weather", "description": "Weather of a city", "strict": True, "parameters": {
        "type": "object", "properties": {"city": {"type": "string", "maxLength": 5}, "unit": {"enum": ["C", "F"]}},
        "required": ["city", "unit"], "additionalProperties": False}}},
    {"type": "function", "function": {"name": "now"}}]


def check_tools(client):
    messages = [{"role": "user", "content": "Warm?"}]
    named = {"type": "function", "function": {"name": "get_weather"}}
    for choice in ("required", named):
        ask = dict(model="calls", messages=messages, tools=TOOLS, tool_choice=choice, seed=5, temperature=1)
        raw = client.chat.completions.with_raw_response.create(**ask)
        reply = raw.parse().choices[0]
        call = reply.message.tool_calls[0]
        arguments = json.loads(call.function.arguments)
        assert reply.finish_reason == "tool_calls" and reply.message.content is None and call.type == "function", reply
        if call.function.name == "get_weather":
            assert sorted(arguments) == ["city", "unit"] and len(arguments["city"]) <= 5 and arguments["unit"] in "CF", call
        else:
            assert (choice, call.function.name, arguments) == ("required", "now", {}), call
        assert json.loads(replay(raw)) == {"name": call.function.name, "arguments": arguments}
        with client.chat.completions.stream(**ask) as stream:
            kinds = {event.type for event in stream}
            final = stream.get_final_completion().choices[0]
        assert "tool_calls.function.arguments.delta" in kinds, kinds
        parts = final.message.tool_calls[0].function
        assert (parts.name, parts.arguments) == (call.function.name, call.function.arguments), (final, call)
        assert final.finish_reason == "tool_calls"
        # The message is sent back as the client has it, with the result.
        messages = messages + [reply.message, {"role": "tool", "tool_call_id": call.id, "content": "18 degrees"}]
    text = client.chat.completions.create(model="calls", messages=messages, tools=TOOLS, tool_choice="none", max_tokens=4)
    assert text.choices[0].message.tool_calls is None and text.choices[0].message.content
    auto = client.chat.completions.create(model="calls", messages=messages, tools=TOOLS, max_tokens=4, seed=1)
    assert auto.choices[0].finish_reason in ("length", "stop")
    try:
        client.chat.completions.create(model="chatty", messages=messages[:1], tools=TOOLS)
        raise AssertionError("a template without tools took some")
    except openai.BadRequestError as e:
        assert e.param == "tools", e


def check_responses(client):
    """A response is the chat of the same messages; what clients send by default asks for nothing."""
    asked = dict(model="chatty", temperature=0)
    chat = client.chat.completions.create(messages=[{"role": "system", "content": "Be."}, {"role": "user", "content": "hi"}],
                                          max_tokens=12, seed=-1, store=True, reasoning_effort="none", presence_penalty=0.0,
                                          extra_body={"chat_template_kwargs": {"enable_thinking": False}}, **asked)
    asked.update(max_output_tokens=12, instructions="Be.")
    raw = client.responses.with_raw_response.create(input="hi", **asked)
    whole = raw.parse()
    assert whole.output_text == chat.choices[0].message.content and replay(raw) == whole.output_text + "\n"
    assert whole.usage.input_tokens == chat.usage.prompt_tokens and whole.usage.output_tokens == chat.usage.completion_tokens
    kinds = [event.type for event in client.responses.create(input="hi", stream=True, **asked)]
    assert kinds[0] == "response.created" and kinds[-1] in ("response.completed", "response.incomplete"), kinds
    with client.responses.stream(input="hi", **asked) as stream:
        events = list(stream)
    assert "".join(e.delta for e in events if e.type == "response.output_text.delta") == whole.output_text
    assert events[-1].response.output_text == whole.output_text
    again = [{"role": "user", "content": [{"type": "input_text", "text": "hi"}]}, whole.output[0],
             {"role": "user", "content": "a"}]
    assert client.responses.create(input=again, **asked).status in ("completed", "incomplete")
    try:
        client.responses.create(input="a", previous_response_id="x", **asked)
    except openai.BadRequestError as e:
        assert e.param == "previous_response_id"
    else:
        raise AssertionError("a conversation that is not there")


def check_embeddings(client):
    raw = client.embeddings.with_raw_response.create(model="encoder", input=["The cat", "sing"])  # in base64
    base64 = raw.parse()
    numbers = client.embeddings.create(model="encoder", input=["The cat", "sing"], encoding_format="float")
    lines = "".join('{"embedding": [%s]}\n' % ", ".join("%.9g" % x for x in e.embedding) for e in base64.data)
    assert replay(raw) == lines
    assert [["%.9g" % x for x in e.embedding] for e in numbers.data] == [["%.9g" % x for x in e.embedding] for e in base64.data]


def check_errors(client):
    def fails(kind, param, code, call):
        try:
            call()
        except kind as e:
            assert e.param == param and e.code == code and e.type == "invalid_request_error", (e.param, e.code, e.type)
            return
        raise AssertionError(param)

    create = client.completions.create
    fails(openai.NotFoundError, "model", "model_not_found", lambda: create(model="gpt-4", prompt="a"))
    fails(openai.BadRequestError, "suffix", None, lambda: create(model="lm", prompt="a", suffix="b"))
    fails(openai.BadRequestError, "prompt", "context_length_exceeded", lambda: create(model="lm", prompt=[1] * 100000))
    fails(openai.BadRequestError, "model", None,
          lambda: client.chat.completions.create(model="lm", messages=[{"role": "user", "content": "hi"}]))
    assert {m.id for m in client.models.list()} == {"lm", "de-en", "encoder", "chatty", "calls"}
    assert client.models.retrieve("lm").owned_by == "rapt"


def main():
    names = dict(zip(("lm", "de-en", "encoder", "chatty", "calls"), sys.argv[1:]))
    for name, path in names.items():
        if not os.path.exists(name):
            os.symlink(path, name)
    server, url = serve(*("%s=%s" % one for one in names.items()))
    try:
        client = openai.OpenAI(base_url=url + "/v1", api_key="none", max_retries=0)
        try:
            client.completions.create(model="lm", prompt="", max_tokens=1)
            client.end_of_text = True
        except openai.BadRequestError:
            client.end_of_text = False
        for check in (check_completions, check_prompts, check_chat, check_tools, check_responses, check_embeddings,
                      check_errors):
            check(client)
            print(check.__name__, "passed")
        asyncio.run(check_async(url))
        print("check_async passed")
    finally:
        server.terminate()
        server.wait(60)


main()
