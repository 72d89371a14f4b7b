"""narrowed_schema.py URL LANGUAGE_MODEL TRANSLATION ENCODER CROSS_ENCODER: the OpenAPI document of a `rapt serve`, narrowed to what these models
of it take: their names and languages, ids of their vocabularies, lengths within their contexts. So schemathesis asks for what is
computed, where the document itself, which knows no models, mostly leads to refusals. For check_serve_clients.sh.
"""
import json
import sys
import urllib.request

URL, LANGUAGE_MODEL, TRANSLATION, ENCODER, CROSS_ENCODER = sys.argv[1:]
SOURCE, TARGET = TRANSLATION.split("-")
MODELS = {"CompletionRequest": [LANGUAGE_MODEL], "ChatRequest": [LANGUAGE_MODEL], "EmbeddingRequest": [ENCODER],
          "RerankRequest": [CROSS_ENCODER], "RerankTextsRequest": [CROSS_ENCODER],
          "PairScoreRequest": [CROSS_ENCODER],
          "TranslateRequest": [TRANSLATION], "ExplainRequest": [LANGUAGE_MODEL], "TokenizeRequest": [LANGUAGE_MODEL],
          "DetokenizeRequest": [LANGUAGE_MODEL]}
LETTERS, IDS, TOKENS = 20, 250, 100  # of a text at most; at 4 bytes a letter within every context
ENCODER_IDS = 60


def narrow(part, ids=IDS):
    """Lengths and ids, wherever they are."""
    if isinstance(part, list):
        for p in part:
            narrow(p, ids)
    if not isinstance(part, dict):
        return
    if part.get("type") in ("string", ["string", "null"]) and "enum" not in part:
        part.update(maxLength=LETTERS)
    if part.get("type") in ("array", ["array", "null"]):
        part["maxItems"] = min(4, part.get("maxItems", 4))
        part["items"] = part.get("items", {})
    if part.get("maximum") == 2147483647:
        part["maximum"] = ids
    for p in part.values():
        narrow(p, ids)


def main():
    with urllib.request.urlopen(URL + "/openapi.json", timeout=60) as response:
        document = json.load(response)
    schemas = document["components"]["schemas"]
    for name, schema in schemas.items():
        if not name.endswith(("Request", "Form")) and name != "Message":
            continue
        narrow(schema, ENCODER_IDS if name == "EmbeddingRequest" else IDS)
        fields = schema["properties"]
        if name in MODELS:
            fields["model"] = {"enum": MODELS[name]}
            if name != "TranslateRequest":  # else a model is named by its languages
                schema["required"] = schema.get("required", []) + ["model"]
        for field, code in (("source", SOURCE), ("source_lang", SOURCE.upper()), ("target_lang", TARGET.upper())):
            if field in fields:
                fields[field] = {"enum": [code]}
        if "target" in fields and name != "ExplainRequest":
            fields["target"] = {"enum": [TARGET]}
        for field in fields.values():
            if field.get("description") in ("Has no effect", "Instead of a header"):  # anything but integers beyond 64 bits
                field.update(type=["string", "null"], pattern="^[^\\u0000]*$")
        if name == "Message":  # the template of these models takes no tools
            fields["role"]["enum"].remove("tool")
            fields["tool_calls"] = {"type": "null"}
            del fields["tool_call_id"]
        if "tools" in fields:
            fields.update(tools={"enum": [[], None]}, tool_choice={"enum": ["none", "auto", None]})
        if "n" in fields:
            fields["n"]["maximum"] = 3
            fields["logit_bias"]["propertyNames"]["pattern"] = "^[0-9]{1,2}$"
        if "max_tokens" in fields:
            fields["max_tokens"]["maximum"] = TOKENS
        # Their values depend on the model or on each other.
        for field in ("dimensions", "side", "prefix", "only", "best_of", "max_completion_tokens"):
            fields.pop(field, None)
        if "text_1" in fields:
            fields["text_1"] = {"type": "string", "maxLength": LETTERS, "pattern": "^[^\\u0000]*$"}
        if "beam" in fields:
            fields["beam"], fields["n_best"]["maximum"] = {"enum": [4]}, 4
            schema["required"] = ["beam"]
            for field in (fields["text"], fields["texts"]["items"]):
                field["pattern"] = "^[^\\u0000\\n]*$"  # alignments are of one line
        if name == "ExplainRequest":
            del fields["target"]
    parameters = document["paths"]["/v1/explain"]["get"]["parameters"]
    parameters[:] = [p for p in parameters if p["name"] not in ("target", "full", "book")]
    for parameter in parameters:
        narrow(parameter["schema"])
        if parameter["name"] == "model":
            parameter.update(required=True, schema={"enum": [LANGUAGE_MODEL]})
    json.dump(document, sys.stdout)


main()
