"""What wasm/steps.mjs does, in Chromium: browser_steps.py FOLDER RECIPE PAIRS STEPS prints its JSON object, with wall-clock ms a
step. All that the page needs is within it; the module runs in a worker."""
import base64
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

WORKER = r"""
onmessage = async ({ data: { wasm, recipe, pairs } }) => {
    try {
        const rapt = await createRapt({ wasmBinary: raptBytes(wasm) })
        const call = (name, result, ...values) =>
            rapt.ccall('rapt_wasm_' + name, result, values.map(v => (typeof v === 'string' ? 'string' : 'number')), values)
        rapt.FS.writeFile('/pairs.tsv', pairs)
        if (call('begin', 'number', recipe, '/model')) throw new Error(call('error', 'string'))
        const times = []
        for (let more = 1; more === 1;) {
            const start = performance.now()
            more = call('step', 'number')
            times.push(performance.now() - start)
        }
        if (call('finish', 'number')) throw new Error(call('error', 'string'))
        const digest = await hash(rapt.FS.readFile('/model/model.safetensors'))
        postMessage(JSON.stringify({ level: call('level', 'string'), loss: call('loss', 'number'),
            ms: Number(times.sort((a, b) => a - b)[times.length >> 1].toFixed(1)), sha256: digest,
            translation: call('translate', 'string', 'Where are my keys?', 4) }))
    } catch (error) {
        postMessage(JSON.stringify({ error: String(error) }))
    }
}
const hash = async bytes => Array.from(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)),
    byte => byte.toString(16).padStart(2, '0')).join('')
"""

PAGE = """<!doctype html><title>steps</title><script>
const bytes = text => Uint8Array.from(atob(text), c => c.charCodeAt(0))
const worker = new Worker(URL.createObjectURL(new Blob([new TextDecoder().decode(bytes('%s'))])))
worker.onmessage = ({ data }) => { document.title = data }
worker.postMessage({ wasm: bytes('%s'), recipe: new TextDecoder().decode(bytes('%s')), pairs: bytes('%s') })
</script>"""


def main():
    folder, recipe, pairs, steps = sys.argv[1:5]
    folder, here = pathlib.Path(folder), pathlib.Path(__file__).resolve().parents[2]
    text = pathlib.Path(recipe).read_text(encoding="utf-8")
    text = re.sub(r"steps: \d+", f"steps: {steps}", re.sub(r"pairs: \S+", "pairs: /pairs.tsv", text), count=1)
    script = (folder / "rapt.js").read_text(encoding="utf-8") + (here / "wasm/load.js").read_text(encoding="utf-8") + WORKER
    parts = [script.encode(), (folder / "rapt.wasm").read_bytes(), text.encode(), pathlib.Path(pairs).read_bytes()]
    with tempfile.TemporaryDirectory() as scratch:
        page = pathlib.Path(scratch, "page.html")
        page.write_text(PAGE % tuple(base64.b64encode(part).decode() for part in parts), encoding="utf-8")
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={scratch}/profile"):
            options.add_argument(argument)
        driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
        try:
            driver.get(page.as_uri())
            driver.command_executor.set_timeout(600)
            for _ in range(int(os.environ.get("BROWSER_SECONDS", "600"))):
                if driver.title.startswith("{"):
                    break
                driver.execute_async_script("setTimeout(arguments[0], 1000)")
            print(json.dumps(json.loads(driver.title), separators=(",", ":"), ensure_ascii=False))
        finally:
            driver.quit()


main()
