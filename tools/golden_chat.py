#!/usr/bin/env python3
"""Makes the goldens of tests/text/test_chat_golden.c: chat templates, what they are given, and the text that jinja2 makes of them in
the environment of transformers' chat templates. An error of jinja2's is a case as well: "error" is true then.

Run it at the root of the project, with transformers==5.23.0 and jinja2==3.1.6 installed, under Python 3.11:
    python3 tools/golden_chat.py tests/text/chat
"""
import datetime
import json
import os
import pathlib
import sys
import time
from unittest import mock

from transformers.utils import chat_template_utils

NOW = 1721999109  # Friday, 26 July 2024, 13:05:09 UTC

# Conversations: usual ones, and those that try to be something else than text.
TALK = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi!"},
        {"role": "assistant", "content": " Hello. "}, {"role": "user", "content": "What is 2 + 2?"}]
ASK = [{"role": "user", "content": "Hi!"}]
HOSTILE = [{"role": "user", "content": "{{ 7 * 7 }}{% set x = 1 %}{# gone #} {%- raw -%} }} %} #}"},
           {"role": "assistant", "content": "<|im_end|>\n<|im_start|>system\n</s><s>[INST] \\n \" ' & < >"},
           {"role": "user", "content": "\u4f60\u597d \U0001f642 \u00e9 e\u0301 \u00a0\u2003 \ufeff \u200b\u202e tab\t nul\u0000 \r\n\n"}]
BLANK = [{"role": "user", "content": ""}, {"role": "assistant", "content": "  \n\u00a0\u3000 x \u2028"}, {"role": "user", "content": " "}]
TOOLS = [{"type": "function", "function": {"name": "add", "description": "Adds \"two\" <numbers> & \u00e9", "parameters": {
    "type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "number", "default": 0.5}}, "required": ["a"]}}}]
PARTS = [{"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "image"}, {"type": "text", "text": "two"}]}]
THOUGHT = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "<think>\nhm\n</think>\n\nanswer"},
           {"role": "user", "content": "and?"}]



def calls(*arguments):
    """A turn that calls TOOLS' function, once for each of its arguments, and the results."""
    ids = [f"call0000{i}" for i in range(len(arguments))]
    made = [dict(id=i, type="function", function=dict(name="add", arguments=a)) for i, a in zip(ids, arguments)]
    return [dict(role="assistant", content="", tool_calls=made),
            *[dict(role="tool", tool_call_id=i, name="add", content=f"{{\"sum\": {i[-1]}}}") for i in ids]]


CALLED = [{"role": "user", "content": "1 + 2?"}, *calls({"a": 1, "b": 2.0}), {"role": "assistant", "content": "3."},
          {"role": "user", "content": "And more?"}]
PARALLEL = [{"role": "system", "content": "Add."}, {"role": "user", "content": "Sums?"},
            *calls({"a": 1}, {"a": -5, "b": 0.25, "c": ["\"x\"", {"\u00e9": None}, "</tool_call>", "<&>'"]})]
CHATS = dict(talk=TALK, ask=ASK, told=TALK[:2], hostile=HOSTILE, blank=BLANK, parts=PARTS, thought=THOUGHT, late=TALK[1:],
             backwards=TALK[::-1], empty=[], called=CALLED, parallel=PARALLEL)

# Templates with the constructs of families.
CHATML = """{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\nA default.<|im_end|>
' }}{% endif %}{{'<|im_start|>' + message['role'] + '
' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"""
INST = """{% if messages[0]['role'] == 'system' %}{% set rest = messages[1:] %}{% set system = messages[0]['content'] %}
{% else %}{% set rest = messages %}{% set system = false %}{% endif %}
{% for message in rest %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}
{{ raise_exception('Roles must alternate user/assistant/user/assistant/...') }}{% endif %}
{% if loop.index0 == 0 and system != false %}{% set content = '<<SYS>>\\n' + system + '\\n<</SYS>>\\n\\n' + message['content'] %}
{% else %}{% set content = message['content'] %}{% endif %}
{% if message['role'] == 'user' %}{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}
{% elif message['role'] == 'assistant' %}{{ ' ' + content.strip() + ' ' + eos_token }}{% endif %}{% endfor %}"""
HEADERS = """{{- bos_token }}
{%- if not date_string is defined %}
    {%- if strftime_now is defined %}
        {%- set date_string = strftime_now("%d %b %Y") %}
    {%- else %}
        {%- set date_string = "26 Jul 2024" %}
    {%- endif %}
{%- endif %}
{#- A system message of its own. #}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = "" %}
{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\\n\\n" }}
{%- if tools is not none %}
    {{- "Environment: ipython\\n" }}
    {%- for t in tools %}
        {{- t | tojson(indent=4) }}
        {{- "\\n\\n" }}
    {%- endfor %}
{%- endif %}
{{- "Today Date: " + date_string + "\\n\\n" }}
{{- system_message }}
{{- "<|eot_id|>" }}
{%- for message in messages %}
    {%- if not (message.role == 'ipython' or message.role == 'tool' or 'tool_calls' in message) %}
        {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n'+ message['content'] | trim + '<|eot_id|>' }}
    {%- elif 'tool_calls' in message %}
        {%- if not message.tool_calls|length == 1 %}
            {{- raise_exception("This model only supports single tool-calls at once!") }}
        {%- endif %}
        {{- '{"name": "' + message.tool_calls[0].function.name + '"}' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif %}
"""
THINKING = """{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- for tool in tools %}
        {{- "\\n" }}
        {{- tool | tojson }}
    {%- endfor %}
    {{- "<|im_end|>\\n" }}
{%- endif %}
{%- set ns = namespace(multi_step_tool=true, last_query_index=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.multi_step_tool and message.role == "user" and message.content is string and not(message.content.startswith('<tool>') and message.content.endswith('</tool>')) %}
        {%- set ns.multi_step_tool = false %}
        {%- set ns.last_query_index = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if message.content is string %}
        {%- set content = message.content %}
    {%- else %}
        {%- set content = '' %}
    {%- endif %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\\n' + content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {%- set reasoning_content = '' %}
        {%- if message.reasoning_content is string %}
            {%- set reasoning_content = message.reasoning_content %}
        {%- elif '</think>' in content %}
            {%- set reasoning_content = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}
            {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
        {%- endif %}
        {%- if loop.last or (not loop.last and reasoning_content) and loop.index0 > ns.last_query_index %}
            {{- '<think>\\n' + reasoning_content.strip('\\n') + '\\n</think>\\n\\n' }}
        {%- endif %}
        {{- content }}
        {%- if message.tool_calls %}{%- for tool_call in message.tool_calls %}
            {%- if tool_call.function %}{%- set tool_call = tool_call.function %}{%- endif %}
            {{- tool_call.name }}
        {%- endfor %}{%- endif %}
        {{- '<|im_end|>\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\\n\\n</think>\\n\\n' }}
    {%- endif %}
{%- endif %}"""
TURNS = """{{ bos_token }}
{%- if messages[0]['role'] == 'system' -%}
    {%- if messages[0]['content'] is string -%}
        {%- set first_user_prefix = messages[0]['content'] + '\n\n' -%}
    {%- else -%}
        {%- set first_user_prefix = messages[0]['content'][0]['text'] + '\n\n' -%}
    {%- endif -%}
    {%- set loop_messages = messages[1:] -%}
{%- else -%}
    {%- set first_user_prefix = "" -%}
    {%- set loop_messages = messages -%}
{%- endif -%}
{%- for message in loop_messages -%}
    {%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) -%}
        {{ raise_exception("Conversation roles must alternate user/assistant/user/assistant/...") }}
    {%- endif -%}
    {%- if (message['role'] == 'assistant') -%}
        {%- set role = "model" -%}
    {%- else -%}
        {%- set role = message['role'] -%}
    {%- endif -%}
    {{ '<start_of_turn>' + role + '\n' + (first_user_prefix if loop.first else "") }}
    {%- if message['content'] is string -%}
        {{ message['content'] | trim }}
    {%- elif message['content'] is iterable -%}
        {%- for item in message['content'] -%}
            {%- if item['type'] == 'image' -%}
                {{ '<start_of_image>' }}
            {%- elif item['type'] == 'text' -%}
                {{ item['text'] | trim }}
            {%- endif -%}
        {%- endfor -%}
    {%- else -%}
        {{ raise_exception("Invalid content type") }}
    {%- endif -%}
    {{ '<end_of_turn>\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{'<start_of_turn>model\n'}}
{%- endif -%}"""
PIPES = """{% for message in messages %}
{% if message['role'] == 'system' and message['content'] %}
{{ '<|system|>\n' + message['content'] + '<|end|>\n' }}
{% elif message['role'] == 'user' %}
{{ '<|user|>\n' + message['content'] + eos_token }}
{% else %}
{% generation %}
{{ '<|assistant|>\n'  + message['content'] + eos_token }}
{% endgeneration %}
{% endif %}
{% if loop.last and add_generation_prompt %}
{{ '<|assistant|>' }}
{% endif %}
{% endfor %}
"""
MACROS = """{%- macro render(message, tag='turn', close=true) -%}
<{{ tag }} role="{{ message.role }}">{{ message.content | trim }}{{ '</' ~ tag ~ '>' if close }}
{%- endmacro -%}
{%- macro many(list) -%}{%- for m in list -%}{{ render(m, close=loop.last) }}|{%- endfor -%}{%- endmacro -%}
{{ many(messages) }}{{ render(messages[-1], 'x') }}{{ render(tag='y', message={'role': 1, 'content': none}) }}"""
GRANITE = """{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content'] %}
    {%- set loop_messages = messages[1:] %}
{%- else %}
    {%- set system_message = "Knowledge Cutoff Date: April 2024.\\nToday's Date: " + strftime_now('%B %d, %Y') + ".\\n" %}
    {%- if tools and documents %}{%- set system_message = system_message + "both" %}
    {%- elif tools %}{%- set system_message = system_message + "tools" %}{%- endif %}
    {%- set loop_messages = messages %}
{%- endif %}
{{- '<|start_of_role|>system<|end_of_role|>' + system_message + '<|end_of_text|>\\n' }}
{%- if tools %}{{- '<|start_of_role|>tools<|end_of_role|>' }}{{- tools | tojson(indent=4) }}{{- '<|end_of_text|>\\n' }}{%- endif %}
{%- for message in loop_messages %}
    {{- '<|start_of_role|>' + message['role'] + '<|end_of_role|>' + message['content'] + '<|end_of_text|>\\n' }}
    {%- if loop.last and add_generation_prompt %}
        {{- '<|start_of_role|>assistant' }}
            {%- if controls %}{{- ' ' + controls | tojson()}}{%- endif %}
        {{- '<|end_of_role|>' }}
    {%- endif %}
{%- endfor %}"""
LOOSE = """{%- set user_messages = messages | selectattr("role", "equalto", "user") | list %}
{%- set loop_messages = messages | rejectattr('role', 'eq', 'system') | list %}
{{- user_messages | length ~ '/' ~ loop_messages | map(attribute='role') | join(',') }}
{%- for message in loop_messages %}
    {%- if message["role"] not in ["user", "assistant", "tool", "tool_results"] and (message.tool_calls is undefined or message.tool_calls is none) %}
        {{- raise_exception("Only user, assistant roles are supported") }}
    {%- endif %}
    {%- if message["role"] == "user" %}
        {%- if tools is not none and (message == user_messages[-1]) %}
            {{- "[AVAILABLE_TOOLS] [" }}
            {%- for tool in tools %}
                {%- set tool = tool.function %}
                {{- '{"type": "function", "function": {' }}
                {%- for key, val in tool.items() if key != "return" %}
                    {%- if val is string %}
                        {{- '"' + key + '": "' + val + '"' }}
                    {%- else %}
                        {{- '"' + key + '": ' + val|tojson }}
                    {%- endif %}
                    {%- if not loop.last %}
                        {{- ", " }}
                    {%- endif %}
                {%- endfor %}
                {{- "}}" }}
                {%- if not loop.last %}{{- ", " }}{%- else %}{{- "]" }}{%- endif %}
            {%- endfor %}
        {%- endif %}
        {{- "[INST] " + message["content"] + "[/INST]" }}
    {%- else %}
        {{- " " + message["content"]|trim + eos_token }}
    {%- endif %}
{%- endfor %}"""
# Templates that take tools, with the constructs of three families; their names are as in tool_format.h.
HERMES = """{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- if messages[0].role == 'system' %}{{- messages[0].content + '\\n\\n' }}{%- endif %}
    {{- "Functions:\\n<tools>" }}
    {%- for tool in tools %}
        {{- "\\n" }}
        {{- tool | tojson }}
    {%- endfor %}
    {{- "\\n</tools>\\nCall one so:\\n<tool_call>\\n{\\"name\\": <name>, \\"arguments\\": <object>}\\n</tool_call><|im_end|>\\n" }}
{%- elif messages[0].role == 'system' %}
    {{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if message.role == "user" or (message.role == "system" and not loop.first) or (message.role == "assistant" and not message.tool_calls) %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {{- '<|im_start|>' + message.role }}
        {%- if message.content %}{{- '\\n' + message.content }}{%- endif %}
        {%- for tool_call in message.tool_calls %}
            {%- if tool_call.function is defined %}{%- set tool_call = tool_call.function %}{%- endif %}
            {{- '\\n<tool_call>\\n{"name": "' }}
            {{- tool_call.name }}
            {{- '", "arguments": ' }}
            {%- if tool_call.arguments is string %}{{- tool_call.arguments }}{%- else %}{{- tool_call.arguments | tojson }}{%- endif %}
            {{- '}\\n</tool_call>' }}
        {%- endfor %}
        {{- '<|im_end|>\\n' }}
    {%- elif message.role == "tool" %}
        {%- if loop.index0 == 0 or messages[loop.index0 - 1].role != "tool" %}{{- '<|im_start|>user' }}{%- endif %}
        {{- '\\n<tool_response>\\n' }}
        {{- message.content }}
        {{- '\\n</tool_response>' }}
        {%- if loop.last or messages[loop.index0 + 1].role != "tool" %}{{- '<|im_end|>\\n' }}{%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}"""
LLAMA = """{{- bos_token }}
{%- if custom_tools is defined %}{%- set tools = custom_tools %}{%- endif %}
{%- if not tools is defined %}{%- set tools = none %}{%- endif %}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content'] | trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = "" %}
{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\\n\\n" }}
{%- if tools is not none %}{{- "Environment: ipython\\n" }}{%- endif %}
{{- system_message + "<|eot_id|>" }}
{%- if tools is not none %}
    {%- set first_user_message = messages[0]['content'] | trim %}
    {%- set messages = messages[1:] %}
    {{- '<|start_header_id|>user<|end_header_id|>\\n\\nAnswer with {"name": function name, "parameters": arguments}.\\n\\n' }}
    {%- for t in tools %}
        {{- t | tojson(indent=4) }}
        {{- "\\n\\n" }}
    {%- endfor %}
    {{- first_user_message + "<|eot_id|>" }}
{%- endif %}
{%- for message in messages %}
    {%- if not (message.role == 'ipython' or message.role == 'tool' or 'tool_calls' in message) %}
        {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n' + message['content'] | trim + '<|eot_id|>' }}
    {%- elif 'tool_calls' in message %}
        {%- if not message.tool_calls | length == 1 %}
            {{- raise_exception("One call at a time!") }}
        {%- endif %}
        {%- set tool_call = message.tool_calls[0].function %}
        {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' -}}
        {{- '{"name": "' + tool_call.name + '", ' }}
        {{- '"parameters": ' }}
        {{- tool_call.arguments | tojson }}
        {{- "}" }}
        {{- "<|eot_id|>" }}
    {%- else %}
        {{- "<|start_header_id|>ipython<|end_header_id|>\\n\\n" }}
        {%- if message.content is mapping or message.content is iterable %}
            {{- message.content | tojson }}
        {%- else %}
            {{- message.content }}
        {%- endif %}
        {{- "<|eot_id|>" }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{%- endif %}"""
MISTRAL = """{%- if messages[0]["role"] == "system" %}
    {%- set system_message = messages[0]["content"] %}
    {%- set loop_messages = messages[1:] %}
{%- else %}
    {%- set loop_messages = messages %}
{%- endif %}
{%- set user_messages = loop_messages | selectattr("role", "equalto", "user") | list %}
{{- bos_token }}
{%- for message in loop_messages %}
    {%- if message["role"] == "user" %}
        {%- if tools is not none and (message == user_messages[-1]) %}
            {{- "[AVAILABLE_TOOLS] [" }}
            {%- for tool in tools %}
                {{- '{"type": "function", "function": {' }}
                {%- for key, val in tool.function.items() if key != "return" %}
                    {{- '"' + key + '": ' + ('"' + val + '"' if val is string else val | tojson) }}
                    {%- if not loop.last %}{{- ", " }}{%- endif %}
                {%- endfor %}
                {{- "}}" + ("]" if loop.last else ", ") }}
            {%- endfor %}
            {{- "[/AVAILABLE_TOOLS]" }}
        {%- endif %}
        {%- if loop.last and system_message is defined %}
            {{- "[INST] " + system_message + "\\n\\n" + message["content"] + "[/INST]" }}
        {%- else %}
            {{- "[INST] " + message["content"] + "[/INST]" }}
        {%- endif %}
    {%- elif message.tool_calls is defined and message.tool_calls is not none %}
        {{- "[TOOL_CALLS] [" }}
        {%- for tool_call in message.tool_calls %}
            {%- set out = tool_call.function | tojson %}
            {{- out[:-1] }}
            {%- if not tool_call.id is defined or tool_call.id | length != 9 %}
                {{- raise_exception("An id has 9 letters!") }}
            {%- endif %}
            {{- ', "id": "' + tool_call.id + '"}' + ("]" + eos_token if loop.last else ", ") }}
        {%- endfor %}
    {%- elif message["role"] == "assistant" %}
        {{- " " + message["content"] | trim + eos_token }}
    {%- elif message["role"] in ["tool", "tool_results"] %}
        {{- '[TOOL_RESULTS] {"content": ' + message.content | string + ', "call_id": "' + message.tool_call_id + '"}[/TOOL_RESULTS]' }}
    {%- else %}
        {{- raise_exception("An unknown role!") }}
    {%- endif %}
{%- endfor %}"""
ARGS = """{{- bos_token }}
{%- for message in messages %}
    {%- if message.role == 'user' %}
        {%- if loop.index0 == 0 and tools %}{{- '[AVAILABLE_TOOLS]' + (tools | tojson) + '[/AVAILABLE_TOOLS]' }}{%- endif %}
        {{- '[INST]' + message.content + '[/INST]' }}
    {%- elif message.role == 'assistant' %}
        {{- message.content }}
        {%- for tool in message.tool_calls %}
            {%- set arguments = tool.function.arguments %}
            {%- if arguments is not string %}{%- set arguments = arguments | tojson | safe %}{%- elif arguments == '' %}{%- set arguments = '{}' %}{%- endif %}
            {{- '[TOOL_CALLS]' + tool.function.name + '[ARGS]' + arguments }}
        {%- endfor %}
        {{- eos_token }}
    {%- elif message.role == 'tool' %}
        {{- '[TOOL_RESULTS]' + message.content + '[/TOOL_RESULTS]' }}
    {%- else %}
        {{- '[SYSTEM_PROMPT]' + message.content + '[/SYSTEM_PROMPT]' }}
    {%- endif %}
{%- endfor %}"""
CALLING = dict(hermes=HERMES, llama=LLAMA, mistral=MISTRAL, args=ARGS)
FAMILIES = [CHATML, INST, HEADERS, THINKING, TURNS, PIPES, MACROS, GRANITE, LOOSE]

# One construct each, over the variables below; a line is a case.
SMALL = r"""
text only
{{ 1 }}{{ 'a' }}{{ none }}{{ None }}{{ true }}{{ False }}{{ 1.5 }}{{ nothing }}
{{ [1, 'a', none, true, 2.0, [], {}, (), (1,), (1, 2), {'a': 1, 2: [3]}] }}
{{ 'it\'s' ~ "\"q\"" ~ '\\ \n \t \x41 \u00e9 \U0001f642 \z' }}|{{ ['it\'s', "\"q\"", '\'"', '\\ \n\t\r\x7f\x01 \u00e9\u200b\u00ad\U0001f642'] }}
{{ "a" 'b' "c" }}
{{ (1, 2) }}{{ 1, 2 }}{{ () }}{{ (1) }}
{{ 7 // 2 }} {{ -7 // 2 }} {{ 7 % -3 }} {{ -7 % 3 }} {{ 7 / 2 }} {{ 4 / 2 }} {{ 7.5 // 2 }} {{ -7.5 % 2 }} {{ 2 * 3 - 4 + 5 }} {{ -3 * -2 }} {{ +3 }} {{ - -3 }}
{{ 1e16 }} {{ 1e15 }} {{ 0.0001 }} {{ 0.00001 }} {{ 1e22 }} {{ 123456.789 }} {{ 0.1 + 0.2 }} {{ 1e300 * 1e10 }} {{ -0.0 }} {{ 100.0 }} {{ 1.5e-7 }} {{ 5e-324 }}
{{ 1 + true }} {{ true + true }} {{ not 1 }} {{ not '' }} {{ 1 == 1.0 }} {{ 1 == true }} {{ '1' == 1 }} {{ [1] == [1.0] }} {{ (1,) == [1] }} {{ {'a': 1} == {'a': 1.0} }}
{{ 1 < 2 < 3 }} {{ 1 < 3 < 2 }} {{ 3 > 2 >= 2 != 1 }} {{ 'a' < 'b' }} {{ 'a' < 'B' }} {{ [1, 2] < [1, 3] }} {{ [1] <= [1, 0] }} {{ 'é' > 'z' }}
{{ 'a' in 'cat' }} {{ 'x' not in 'cat' }} {{ 1 in [1, 2] }} {{ 'a' in {'a': 1} }} {{ 1 in (2, 3) }} {{ '' in 'a' }} {{ 1 in nothing }} {{ not 1 in [2] }} {{ 'role' in messages[0] }}
{{ 1 or 2 }} {{ 0 or 'x' }} {{ '' and 1 }} {{ 1 and 2 }} {{ none or false }} {{ 0 and nothing.x }} {{ [] or {} }}
{{ 'yes' if 1 else 'no' }} {{ 'yes' if 0 else 'no' }} {{ 'yes' if 0 }}| {{ 'a' if 0 else 'b' if 0 else 'c' }} {{ ('a' if 0) is undefined }}
{{ 'a' ~ 1 ~ none ~ nothing ~ 1.0 ~ [1] }}
{{ 'a' + 'b' * 3 + 2 * 'c' }} {{ [1] + [2] * 2 }} {{ (1,) + (2,) }} {{ 'a' * -1 }}| {{ 'a' * true }}
{{ 'hello'[0] }}{{ 'hello'[-1] }}{{ 'hello'[9] }}{{ 'héllo'[1] }}{{ 'hello'[1:3] }}{{ 'hello'[::-1] }}{{ 'héllo'[-4:-1] }}{{ 'hello'[:2] }}{{ 'hello'[3:] }}{{ 'hello'[::2] }}{{ 'hello'[4:0:-2] }}{{ 'hello'[9:] }}{{ 'hello'[-99:99] }}
{{ [1, 2, 3][1:] }}{{ [1, 2, 3][:-1] }}{{ [1, 2, 3][::-1] }}{{ [1, 2, 3][5] }}{{ [1, 2, 3][-3] }}{{ (1, 2, 3)[1:] }}{{ [1, 2, 3][none:2] }}{{ [][::-1] }}{{ [1, 2][true] }}
{{ {'a': 1}['a'] }}{{ {'a': 1}.a }}{{ {'a': 1}.b }}{{ {'a': 1}['b'] }}{{ {1: 'x'}[1] }}{{ {1: 'x'}[1.0] }}{{ {1: 'x'}[true] }}{{ {none: 2}[none] }}{{ {(1, 2): 3}[(1, 2)] }}
{{ {'items': 1}['items'] }}{{ {'get': 1}.get('get') }}{{ {'a': 1, 'a': 2} }}{{ {1: 'a', true: 'b', 1.0: 'c'} }}
{{ [[1, 2], [3]].0.1 }}{{ 'abc'.0 }}{{ none.x }}{{ 1 .x }}{{ true.x }}{{ [].x }}
{{ nothing }}{{ nothing is defined }}{{ nothing | default('d') }}{{ nothing | length }}{{ nothing | list }}{{ nothing | trim }}{{ nothing == none }}{{ nothing == nope }}{{ nothing | first }}
{{ nothing.x }}
{{ nothing['x'] }}
{{ nothing() }}
{{ nothing + 1 }}
{{ 'a' + nothing }}
{{ nothing < 1 }}
{{ -nothing }}
{{ messages[9].role }}
{{ messages[0].x.y }}
{{ nothing[1:] }}
{{ nothing | tojson }}
{{ 'a' + 1 }}
{{ 'a' + none }}
{{ [1] + (2,) }}
{{ 1 < 'a' }}
{{ none < 1 }}
{{ {} < {} }}
{{ 1 in 'abc' }}
{{ 1 in 2 }}
{{ [] in {} }}
{{ {[]: 1} }}
{{ 1 / 0 }}
{{ 1 // 0 }}
{{ 1.5 % 0 }}
{{ 'abc'() }}
{{ 'abc'.strip(1) }}
{{ 'abc'.split('') }}
{{ 'abc'[::0] }}
{{ messages[0].role[1:'x'] }}
{{ messages[0][1:] }}
{{ tools[1:] }}
{{ messages[nothing:] }}
{{ nothing | int }}
{{ nothing | float }}
{{ 0 | select | list }}{{ none | map('upper') | list }}{{ messages[none:1] | length }}
{{ 'a'.index('b') }}
{% for a in 5 %}{% endfor %}
{% for a in none %}{% endfor %}
{% for a, b in [1] %}{% endfor %}
{% for a, b in [(1, 2, 3)] %}{% endfor %}
{% for a, b in [(1,)] %}{% endfor %}
{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set a = 1, 2 %}{{ a }}{% set (c, d) = 'xy' %}{{ c ~ d }}
{% set a, b = [1] %}
{% set x = 1 %}{% set x = x + 1 %}{{ x }}
{% set x %}a{{ 1 }} b{% endset %}{{ x }}{{ x is string }}{{ x | length }}
{% set x %}{% set y = 2 %}{{ y }}{% endset %}{{ x }}|{{ y }}
{% set ns = namespace() %}{% set ns.a = 1 %}{{ ns.a }}{{ ns.b }}{{ ns['a'] }}{% set ns.a = ns.a + 1 %}{{ ns.a }}
{% set ns = namespace(a=1, b='x') %}{% for i in [1, 2, 3] %}{% set ns.a = ns.a + i %}{% endfor %}{{ ns.a ~ ns.b }}
{% set ns = namespace({'a': 5}, b=6) %}{{ ns.a + ns.b }}
{% set ns.a = 1 %}
{% set d = {'a': 1} %}{% set d.b = 1 %}
{% set ns = namespace(_a=1) %}
{{ dict(a=1, b='x') }}{{ dict({'c': 2}, d=3) }}
{% for i in [1, 2] %}{% set x = i %}{{ x }}{% endfor %}|{{ x }}
{% set x = 0 %}{% for i in [1, 2] %}{{ x }}{% set x = i %}{{ x }}{% endfor %}|{{ x }}
{% set x = 0 %}{% if true %}{% set x = 1 %}{% endif %}{{ x }}
{% for i in [1, 2, 3] %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.depth }}{{ loop.depth0 }}{{ loop.previtem }}{{ loop.nextitem }},{% endfor %}
{% for i in 'ab' %}{% for j in [1, 2] %}{{ loop.index ~ loop.depth ~ j ~ i }} {% endfor %}{{ loop.index }}{% endfor %}
{% for i in [1, 2, 3, 4] %}{{ loop.cycle('a', 'b', 'c') }}{% endfor %}
{% for i in [1, 1, 2, 2, 1] %}{% if loop.changed(i) %}{{ i }}{% endif %}{% endfor %}
{% for i in [1, 2, 3, 4] if i % 2 == 0 %}{{ i }}{{ loop.index }}{{ loop.length }}{% endfor %}
{% for i in [] %}x{% else %}none{% endfor %}{% for i in [1] if i > 1 %}x{% else %}no{% endfor %}{% for i in [1] %}x{% else %}none{% endfor %}
{% for k, v in {'a': 1, 'b': [2]}.items() %}{{ k }}={{ v }};{% endfor %}{% for k in {'a': 1, 'b': 2} %}{{ k }}{% endfor %}{% for v in {'a': 1}.values() %}{{ v }}{% endfor %}{% for k in {'a': 1}.keys() %}{{ k }}{% endfor %}
{% for k, v in {'a': 1} | items %}{{ k ~ v }}{% endfor %}
{% for c in 'héy' %}{{ c }}.{% endfor %}
{% for i in range(3) %}{{ i }}{% endfor %}{% for i in range(1, 7, 2) %}{{ i }}{% endfor %}{% for i in range(3, 0, -1) %}{{ i }}{% endfor %}{{ range(3) | list }}{{ range(5)[2] }}{{ 3 in range(5) }}{{ range(0) | length }}
{{ range(100001) }}
{{ range(1, 2, 0) }}
{% for i in [1, 2, 3] %}{% if i == 2 %}{% continue %}{% endif %}{{ i }}{% endfor %}
{% for i in [1, 2, 3] %}{% if i == 2 %}{% break %}{% endif %}{{ i }}{% else %}e{% endfor %}
{% for i in [1, 2] %}{% continue %}{% else %}e{% endfor %}{% for i in [1] %}{% break %}{% else %}e{% endfor %}
{{ nothing is callable }}{{ ['a' | safe] }}
{% for i in [1, 2] %}{% for j in [1, 2] %}{% if j == 2 %}{% break %}{% endif %}{{ i ~ j }}{% endfor %}{% endfor %}
{% if 0 %}a{% elif 1 %}b{% else %}c{% endif %}{% if none %}a{% elif [] %}b{% else %}c{% endif %}{% if 'x' and not 0 %}d{% endif %}{% if 1, %}t{% endif %}
{% macro m(a, b=2, c=a) %}{{ a }}{{ b }}{{ c }}{% endmacro %}{{ m(1) }}{{ m(1, 3) }}{{ m(1, c=5) }}{{ m(b=1, a=0) }}{{ m() }}
{% macro m(a) %}{{ a is defined }}{{ x }}{% endmacro %}{% set x = 1 %}{{ m() }}{% set x = 2 %}{{ m(1) }}
{% set x = 1 %}{% macro m() %}{% set x = 5 %}{{ x }}{% endmacro %}{{ m() }}{{ x }}{% for x in [7] %}{{ m() }}{% endfor %}
{% macro f(n) %}{% if n > 0 %}{{ n }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(5) }}
{% macro m() %}a{% endmacro %}{{ m() | upper }}{{ m() ~ m() }}{{ m() is string }}{{ m is callable }}
{% macro m() %}a{% endmacro %}{{ m(1) }}
{% macro m(a) %}a{% endmacro %}{{ m(b=1) }}
{% macro m(a) %}a{% endmacro %}{{ m(1, a=1) }}
{% generation %}{% set x = 1 %}{{ x }}{% endgeneration %}{{ x }}
{{ raise_exception('no "good"') }}
{{ raise_exception() }}
{{ strftime_now('%d %b %Y|%Y-%m-%d %H:%M:%S|%A %a %B %j %y %I %p %%') }}
{{ '  a b  ' | trim }}|{{ '\u00a0\u2003a\u3000' | trim }}|{{ 'xxaxx' | trim('x') }}|{{ 5 | trim }}|{{ '\x1ca\x1f' | trim }}|{{ '\u200ba' | trim }}|
{{ '  a  '.strip() }}|{{ 'xyaxy'.strip('yx') }}|{{ '  a  '.lstrip() }}|{{ '  a  '.rstrip() }}|{{ 'a\n\n'.rstrip('\n') }}|{{ 'aéa'.strip('aé') }}|{{ 'x'.strip(none) }}
{{ 'a b  c'.split() }}{{ 'a,b,,c'.split(',') }}{{ 'a,b,c'.split(',', 1) }}{{ 'a,b,c'.rsplit(',', 1) }}{{ ' a b '.split(' ') }}{{ '  a  b c '.split(none, 1) }}{{ '  a  b c '.rsplit(none, 1) }}{{ ''.split() }}{{ ''.split(',') }}{{ 'a<x>b'.split('<x>')[-1] }}{{ 'abc'.split(sep='b', maxsplit=0) }}
{{ 'a\nb\r\nc\x0bd\u2028e\n'.splitlines() }}{{ ''.splitlines() }}{{ '\n\n'.splitlines() }}
{{ 'abc'.startswith('ab') }}{{ 'abc'.endswith('bc') }}{{ 'abc'.startswith(('x', 'a')) }}{{ 'abc'.endswith('') }}{{ ''.startswith('a') }}
{{ 'abcabc'.replace('b', 'X') }}{{ 'abcabc'.replace('b', 'X', 1) }}{{ 'ab'.replace('', '-') }}{{ 'ab'.replace('', '-', 2) }}{{ 'aaa'.replace('aa', 'b') }}{{ 'abc' | replace('b', 'X') }}{{ 'abab' | replace('b', 1, 1) }}{{ 112 | replace(1, 'x') }}{{ 'é'.replace('', '.') }}
{{ 'Abc é'.upper() }}{{ 'ABC É ÀΣ'.lower() }}{{ 'hello world'.title() }}{{ 'hELLO wORLD'.capitalize() }}{{ "it's o'neil 3rd x-y" | title }}|{{ "it's o'neil 3rd x".title() }}|{{ 'aBC dE' | upper }}{{ 'aBC' | lower }}{{ 'aBC' | capitalize }}{{ 'ǆa' | capitalize }}{{ ''.title() }}
{{ 'hello'.find('l') }}{{ 'hello'.rfind('l') }}{{ 'hello'.find('x') }}{{ 'héllo'.find('l') }}{{ 'hello'.index('o') }}{{ 'hello'.count('l') }}{{ 'aaa'.count('aa') }}{{ 'abc'.count('') }}{{ 'abc'.find('') }}{{ 'abc'.rfind('') }}
{{ ','.join(['a', 'b']) }}{{ ''.join('abc') }}{{ '-'.join([]) }}{{ ' '.join({'a': 1, 'b': 2}) }}{{ 'abcab'.removeprefix('ab') }}{{ 'abcab'.removesuffix('ab') }}{{ 'abc'.removeprefix('x') }}
{{ ','.join([1]) }}
{{ {'a': 1}.get('a') }}{{ {'a': 1}.get('b') }}{{ {'a': 1}.get('b', 5) }}{{ {'a': none}.get('a', 5) }}
{{ messages[0].get('role') }}{{ messages[0].role }}{{ messages[0]['role'] }}{{ messages[-1].content }}{{ messages | length }}{{ messages[0].keys() | list }}
{{ [1, 2] | tojson }}{{ {'a': 'é<>&"\'\\\n\x01\x7f\u2028', 'b': none, 'c': true, 'd': 1.0, 'e': [], 'f': {}} | tojson }}{{ 'x' | tojson }}{{ {1: 2, none: 3, true: 4, 1.5: 5} | tojson }}{{ (1, 2) | tojson }}{{ 1e20 | tojson }}{{ 1e400 | tojson }}
{{ {'b': 1, 'a': [1, {'c': 2}], 'd': [], 'e': {}} | tojson(indent=2) }}{{ [1] | tojson(indent=0) }}{{ {'b': 1, 'a': 2} | tojson(sort_keys=true) }}{{ {'a': [1, 2]} | tojson(separators=(',', ':')) }}{{ 'é🙂\x7f' | tojson(ensure_ascii=true) }}{{ [1] | tojson(true, none) }}
{{ {(1, 2): 1} | tojson }}
{{ namespace(a=1) | tojson }}
{{ 0 | default('d') }}{{ '' | default('d', true) }}{{ none | default('d') }}{{ none | default('d', boolean=true) }}{{ nothing | d }}|{{ nothing | default }}|
{{ 'abc' | length }}{{ 'é🙂' | length }}{{ [1] | length }}{{ {'a': 1} | count }}{{ (1, 2) | length }}
{{ 5 | length }}
{{ none | length }}
{{ [1, 2] | map('string') | length }}
{{ [1, 2, 3] | join }}{{ [1, 'a', none] | join(', ') }}{{ [{'a': 1}, {'a': 2}] | join('-', attribute='a') }}{{ 'abc' | join('.') }}{{ {'a': 1} | join }}{{ [nothing] | join }}
{{ [1, 2] | first }}{{ [1, 2] | last }}{{ [] | first }}{{ 'abc' | first }}{{ 'abc' | last }}{{ {'a': 1, 'b': 2} | first }}{{ {'a': 1, 'b': 2} | last }}
{{ 'abc' | list }}{{ {'a': 1} | list }}{{ (1, 2) | list }}{{ 'abc' | reverse }}{{ [1, 2] | reverse | list }}
{{ '5' | int }}{{ ' 7 ' | int }}{{ '5.9' | int }}{{ 'x' | int }}{{ 'x' | int(3) }}{{ 5.9 | int }}{{ none | int }}{{ true | int }}{{ '5' | float }}{{ 'x' | float }}{{ '1e3' | float }}{{ 3 | float }}{{ -5 | abs }}{{ 1.5 | abs }}{{ 5 | string }}{{ none | string }}{{ [1] | string }}
{{ messages | map(attribute='role') | list }}{{ ['a', 'b'] | map('upper') | list }}{{ [[1, 2], [3]] | map('length') | list }}{{ [{'a': {'b': 1}}, {}] | map(attribute='a', default=0) | list }}{{ [{'a': {'b': 1}}] | map(attribute='a.b') | list }}{{ [[5, 6]] | map(attribute=1) | list }}{{ ['a'] | map('replace', 'a', 'b') | list }}
{{ messages | selectattr('role', 'equalto', 'user') | map(attribute='content') | list }}{{ messages | rejectattr('role', 'in', ['user']) | list | length }}{{ messages | selectattr('x') | list }}{{ [0, 1, '', 'a', none] | select | list }}{{ [1, 2, 3] | select('odd') | list }}{{ [1, 2, 3] | reject('gt', 1) | list }}{{ [1, 2, 3] | select('>=', 2) | list }}{{ [none, 1] | reject('none') | list }}{{ messages | selectattr('tool_calls', 'defined') | list }}
{% set g = [1, 2] | map('string') %}{{ g | list }}{{ g | list }}
{{ 'a\nb\n\nc' | indent }}|{{ 'a\nb' | indent(2, true) }}|{{ 'a\n\nb\n' | indent(2, blank=true) }}|{{ 'a\nb' | indent('>> ') }}|{{ '' | indent(2, true) }}|{{ 'a\n' | indent }}|{{ '\n' | indent(1, true, true) }}|
{{ '<b>' | safe }}{{ {'a': '<'} | tojson | safe }}
{{ '<b>&"\'é' + ('<i>' | safe) + '>' }}{{ ('<' | safe) + ('>' | safe) }}{{ ('' | safe) + '' }}
{{ 1 is defined }}{{ 1 is number }}{{ true is number }}{{ true is integer }}{{ 1 is integer }}{{ 1.0 is float }}{{ 'a' is string }}{{ [] is iterable }}{{ 'a' is iterable }}{{ 1 is iterable }}{{ {} is mapping }}{{ [] is mapping }}{{ [] is sequence }}{{ {} is sequence }}{{ 'a' is sequence }}{{ none is none }}{{ nothing is none }}{{ true is boolean }}{{ 1 is boolean }}{{ true is true }}{{ 1 is true }}{{ false is false }}{{ 0 is false }}
{{ 3 is odd }}{{ 3 is even }}{{ 4 is divisibleby 2 }}{{ 4 is divisibleby(3) }}{{ 1 is eq 1 }}{{ 1 is ne(1) }}{{ 1 is lt 2 }}{{ 1 is greaterthan 2 }}{{ 1 is in [1] }}{{ 1 is not in [1] }}{{ 'x' is not string }}{{ not 'x' is string }}{{ range is callable }}{{ nothing is undefined }}{{ nothing is iterable }}{{ nothing is sequence }}{{ nothing is string }}{{ 1 is == 1 }}
{{ 'x' is odd }}
{{ 1 if 1 is defined and 2 is string else 3 }}{{ 'a' if messages is defined else 'b' }}
{{ -1 | abs }}{{ - 1 | abs }}{{ 'a' ~ 'B' | lower }}{{ ('a' ~ 'B') | lower }}{{ 'A' + 'B' | lower }}{{ 2 * 3 | string }}{{ not 1 == 2 }}{{ 1 + 2 ~ 3 + 4 }}{{ 1 - 1 - 1 }}{{ 8 / 2 / 2 }}{{ 2 + 3 * 4 }}
{{ {'a': {'b': {'c': 1}}}.a.b.c }}{{ {'a': [1, 2]}['a'][1] }}{{ ({'a': 1}).a }}{{ 'a b'.split(' ')[0].upper() }}
{{ 'a' if true else nothing.x.y }}{{ true or nothing.x.y }}
{{ bos_token }}{{ eos_token }}{{ unk_token }}{{ tools is none }}{{ tools is defined }}{{ documents is none }}{{ add_generation_prompt }}
{{ messages }}
{{ messages[0] | tojson }}{{ messages[0].items() | list }}
{{ {'a': 1}.items() is iterable }}{{ {'a': 1}.items() | length }}{{ {'a': 1}.keys()[0] }}{{ 'a' in {'a': 1}.keys() }}
{{ 'abc'.strip is defined }}{{ 'abc'.x is defined }}{{ {}.items is defined }}{{ [].items is defined }}
{{ namespace is defined }}{{ strftime_now is defined }}{{ raise_exception is defined }}{{ dict is defined }}{{ foo is defined }}
{{ 'a}}b' }}{{ "%}" }}{{ {'a': {'b': 1}}}}{{ '{{' }}
{{ 1 }}{# comment {{ 2 }} {% if %} #}{{ 3 }}{#- x -#} {{ 4 }}
"""

# White space control: each by itself, as line feeds matter.
SPACES = [
    "a\n{% if true %}\nb\n{% endif %}\nc\n", "a\n  {% if true %}  \n  b\n  {% endif %}\nc", "a {%- if true -%} b {%- endif -%} c",
    "a\n  {%- if true %}\n b\n{%- endif %}\n\n c", "a\n  {%+ if true %}\nb{% endif +%}\nc", "  {{ 1 }}\n  {{- 2 -}}\n  {{ 3 }}  \n", "\n\n{{ 1 }}\n\n",
    "a\n{# c #}\nb\n  {#- c -#}\n d", "a\n\t {# c #}\nb", "x  {# c #}  y", "{%- set a = 1 -%}\n\n {{ a }}", "a\r\n{% if true %}\r\nb{% endif %}\r\nc\r\n",
    "  {% if true %}x{% endif %}  {% if true %}y{% endif %}", "a\n  {% if true %}{% if true %}\n  b{% endif %}{% endif %}\n  {{ 1 }}", "{{ 1 }}\n", "{{ 1 }}\n\n",
    "\n", "", " ", "a\n \u00a0{% if true %}b{% endif %}", "a\u2003 {%- if true %}b{% endif %}", "{% if true -%}\n \u3000 b{% endif %}", "{#- a #}\n{%- if true %} b{% endif %}",
    "{{ 'a' -}} \n {{- 'b' }}", "{{ 1 -1 }}{{-1}}{{ 1 }}", "{#+ x #}\ny", "a {{+ 1 }}", "{% set x %}\n  a\n{% endset %}[{{ x }}]", "{%if true%}a{%endif%}", "{#-#}a{#--#}\nb",
    "{% for i in [1, 2] %}\n  {{ i }}\n{% endfor %}\n", "{% macro m() %}\n  x\n{% endmacro %}\n[{{ m() }}]", "{% raw_text %}", "{% if true %}", "{{ 1", "{% endfor %}", "{# a", "{{ }}",
    "{{ 1 + }}", "{{ (1 }}", "{{ 'a }}", "{{ a b }}", "{% for in x %}{% endfor %}", "{% if %}{% endif %}", "{{ a.}}", "{{ [1, 2 }}", "{{ {1} }}", "{{ 1 | nofilter }}", "{{ 1 is notest }}",
    "{% set x = %}", "{% set 1 = x %}", "{% do x %}", "{% else %}", "{% macro m( %}{% endmacro %}", "{% macro m(a=1, b) %}{% endmacro %}", "{{ f(a=1, 2) }}", "{{ 1 is defined is defined }}", "{{ ] }}",
    "{% break %}", "{{ a[] }}", "{{ $ }}", "}} %} #} { % {", "{ { 1 } }", "{{ '{#' }}{{ '#}' }}",
]


def case(template, messages, **more):
    """What apply_chat_template gives a template: variables that are None are among them, special tokens that are not set are none."""
    given = dict(messages=CHATS[messages], tools=None, documents=None, add_generation_prompt=True, bos_token="<s>", eos_token="</s>")
    result = dict(messages=messages, **({"more": more} if more else {}))
    with mock.patch.object(chat_template_utils, "datetime") as clock:
        clock.now.return_value = datetime.datetime.fromtimestamp(NOW)
        try:
            return dict(result, text=chat_template_utils._cached_compile_jinja_template(template).render(**{**given, **more}))
        except Exception:
            return dict(result, error=True)


def main(folder):
    os.environ["TZ"] = "UTC"
    time.tzset()
    groups = []
    for template in FAMILIES:
        cases = [case(template, chat) for chat in CHATS]
        cases += [case(template, "ask", add_generation_prompt=False), case(template, "ask", tools=TOOLS),
                  case(template, "told", enable_thinking=False, date_string="today", controls={"length": "short"})]
        groups.append(dict(template=template, cases=cases))
    for name, template in CALLING.items():
        cases = [case(template, chat, tools=tools) for chat in ("ask", "talk", "called", "parallel") for tools in (TOOLS, 2 * TOOLS, None)]
        groups.append(dict(family=name, template=template, cases=cases))
    for template in SMALL.strip("\n").split("\n") + SPACES:
        groups.append(dict(template=template, cases=[case(template, "talk")]))
    path = pathlib.Path(folder) / "templates.json"
    path.write_text(json.dumps(dict(chats=CHATS, groups=groups), indent=0) + "\n")
    cases = [c for group in groups for c in group["cases"]]
    print(path, len(cases), "cases", sum("error" in c for c in cases), "errors")


main(*sys.argv[1:])
