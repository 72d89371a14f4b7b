#!/usr/bin/env python3
"""The other side of serve_translate.py: CTranslate2 behind FastAPI and uvicorn, with a queue that collects requests into batches.

    build/rapt convert MODEL --to ctranslate2 -o CT2
    python bench/serve_ct2.py CT2 --port 8090 [--batch 64] [--delay 0] [--workers 2] [--threads 1] [--type float32]

POST /translate {"q": TEXT or a list of them, "beam": 1} gives {"translatedText": ...}; GET /health. Needs ctranslate2,
tokenizers, fastapi and uvicorn (made with 4.8.5, 0.23.3, 0.165.0, 0.54.0); uses uvloop and httptools where they are installed.

A worker that is free takes all texts that wait with the same beam, at most --batch of them, the oldest first; so without --delay
batches form while others are computed, and a text that comes alone starts at once. With --delay a worker waits that many
milliseconds for more before it starts. --workers batches are computed at once, each with --threads threads (CTranslate2's
inter_threads and intra_threads), by threads of their own, outside Python's lock; they tokenize as well.
"""
import argparse
import asyncio
import collections
import concurrent.futures
import json

import ctranslate2
import fastapi
import tokenizers
import uvicorn

parser = argparse.ArgumentParser()
parser.add_argument("folder")
parser.add_argument("--port", type=int, default=8090)
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--delay", type=float, default=0, help="milliseconds")
parser.add_argument("--workers", type=int, default=2)
parser.add_argument("--threads", type=int, default=1, help="of each worker")
parser.add_argument("--type", default="float32")
options = parser.parse_args()

translator = ctranslate2.Translator(options.folder, device="cpu", compute_type=options.type, inter_threads=options.workers,
                                    intra_threads=options.threads)
source = tokenizers.Tokenizer.from_file(f"{options.folder}/tokenizer.json")
try:
    target = tokenizers.Tokenizer.from_file(f"{options.folder}/target/tokenizer.json")
except Exception: # tokenizers has no narrower one
    target = source
pool = concurrent.futures.ThreadPoolExecutor(options.workers)
app = fastapi.FastAPI()


def translate(texts, beam):
    lines = [source.encode(text, add_special_tokens=False).tokens for text in texts]
    results = translator.translate_batch(lines, beam_size=beam, max_batch_size=options.batch)
    return [target.decode([target.token_to_id(token) for token in result.hypotheses[0]]) for result in results]


class Queue:
    """Texts that wait, and workers that take them."""

    def __init__(self):
        self.waiting, self.some = collections.deque(), asyncio.Event()

    def put(self, text, beam):
        future = asyncio.get_running_loop().create_future()
        self.waiting.append((text, beam, future))
        self.some.set()
        return future

    def take(self):
        """The oldest text and those of its beam behind it, at most a batch."""
        beam, taken, left = self.waiting[0][1], [], []
        while self.waiting and len(taken) < options.batch:
            item = self.waiting.popleft()
            (taken if item[1] == beam else left).append(item)
        self.waiting.extendleft(reversed(left))
        return beam, taken

    async def work(self):
        loop = asyncio.get_running_loop()
        while True:
            while not self.waiting:
                self.some.clear()
                await self.some.wait()
            if options.delay > 0 and len(self.waiting) < options.batch:
                await asyncio.sleep(options.delay / 1e3)
                if not self.waiting: # another worker has taken them
                    continue
            beam, taken = self.take()
            try:
                done = await loop.run_in_executor(pool, translate, [text for text, _, _ in taken], beam)
            except Exception as error:
                for _, _, future in taken:
                    future.set_exception(error)
                continue
            for (_, _, future), text in zip(taken, done):
                if not future.done():
                    future.set_result(text)


queue = Queue()
tasks = []


@app.get("/health")
async def health():
    if not tasks: # here, where there is a loop
        tasks.extend(asyncio.create_task(queue.work()) for _ in range(options.workers))
    return {"status": "ok"}


@app.post("/translate")
async def answer(request: fastapi.Request):
    body = json.loads(await request.body())
    texts, beam = body["q"], body.get("beam", 1)
    if isinstance(texts, str):
        out = await queue.put(texts, beam)
    else:
        out = await asyncio.gather(*[queue.put(text, beam) for text in texts])
    return fastapi.Response(json.dumps({"translatedText": out}), media_type="application/json")


uvicorn.run(app, host="127.0.0.1", port=options.port, log_level="warning", access_log=False)
