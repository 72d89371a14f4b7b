"""rank_client.py imitated|cohere URL MODEL FOLDER: rankings at POST /v1/rerank and /v2/rerank, asked by Cohere's own client or in
its form, are what `rapt rerank` ($RAPT) prints with the model's folder. For check_serve_clients.sh.
"""
import json
import os
import subprocess
import sys
import urllib.request

KIND, URL, MODEL, FOLDER = sys.argv[1:]
QUERY = "the cat"
DOCUMENTS = ["The cat wants to sing.", "", "cat", "the cat sings", "cat", "\u00c4nne ging in das Caf\u00e9"]
TOP = 4


def printed():
    out = subprocess.run([os.environ["RAPT"], "rerank", FOLDER, "--query", QUERY, "--top", str(TOP), "--json"], check=True,
                         input="".join(d + "\n" for d in DOCUMENTS), capture_output=True, text=True).stdout
    rows = [json.loads(line) for line in out.splitlines()]
    return [(r["line"] - 1, r["score"], DOCUMENTS[r["line"] - 1]) for r in rows]


def imitated():
    for path in "/v1/rerank", "/v2/rerank":
        body = {"model": MODEL, "query": QUERY, "documents": DOCUMENTS, "top_n": TOP, "return_documents": True}
        request = urllib.request.Request(URL + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as response:
            results = json.load(response)["results"]
        yield path, [(r["index"], r["relevance_score"], r["document"]["text"]) for r in results]


def cohere():
    import cohere as package
    old = package.Client(base_url=URL, api_key="none").rerank(model=MODEL, query=QUERY, documents=DOCUMENTS, top_n=TOP,
                                                            return_documents=True)
    yield "Client", [(r.index, r.relevance_score, r.document.text) for r in old.results]
    new = package.ClientV2(base_url=URL, api_key="none").rerank(model=MODEL, query=QUERY, documents=DOCUMENTS, top_n=TOP)
    yield "ClientV2", [(r.index, r.relevance_score, DOCUMENTS[r.index]) for r in new.results]


expected = printed()
assert len(expected) == TOP, expected
for what, got in {"imitated": imitated, "cohere": cohere}[KIND]():
    assert got == expected, (what, got, expected)
