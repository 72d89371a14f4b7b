// tests/wasm/failing_calls.mjs FOLDER PAIRS: calls of the module that fail say why, each for itself, and the next good one works.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'

const [folder, pairs] = process.argv.slice(2)
const require = createRequire(import.meta.url)
const { raptBytes } = require('../../wasm/load.js')
const wasmBinary = raptBytes(readFileSync(resolve(folder, 'rapt.wasm')))
const rapt = await require(resolve(folder, 'rapt.js'))({ wasmBinary })
const call = (name, result, ...values) =>
    rapt.ccall('rapt_wasm_' + name, result, values.map(v => (typeof v === 'string' ? 'string' : 'number')), values)

function must(holds, what) {
    if (holds) return
    console.log(`${what}: ${call('error', 'string') || 'no reason'}`)
    process.exit(1)
}

// A number or a text that tells of a failure, with this reason.
const fails = (why, code, what) => must((code === -1 || code === '') && call('error', 'string').includes(why), `${what}, ${code}`)

const RECIPE = `task: translation
data:
  pairs: /pairs.tsv
  limit: 100
  max_len: 24
model:
  layers: 1
  d_model: 16
  heads: 2
  ffn: 32
train:
  steps: 3
  batch: 8
`
rapt.FS.writeFile('/pairs.tsv', readFileSync(pairs))
fails('no training run', call('step', 'number'), 'a step')
fails('model.laiers', call('begin', 'number', 'task: translation\nmodel:\n  laiers: 2\n', '/none'), 'a misspelled key')
fails('no training run', call('save', 'number'), 'saving')
fails('no training run', call('translate', 'string', 'Hello.', 1), 'a translation')
must(call('begin', 'number', RECIPE, '/model') === 0, 'a run after failures')
must(call('error', 'string') === '', 'a call that works leaves no reason')
must(call('step', 'number') === 1 && call('steps_done', 'number') === 1, 'a step')
fails('beam', call('translate', 'string', 'Where are my keys?', -1), 'a beam of -1')
must(call('translate', 'string', 'Where are my keys?', 1) !== '' || call('error', 'string') === '', 'a translation')
// Lines are translated, long ones cut, whatever the stack holds behind the options.
for (let words = 1; words <= 70; words++) {
    call('translate', 'string', 'a '.repeat(words), 1 + words % 4)
    must(call('error', 'string') === '', `a translation of ${words} words`)
}
fails('more than 32 patterns', call('explain', 'string', 'Hello.', '', 'tokens '.repeat(33), 0), '33 patterns')
fails('no.such.name', call('explain', 'string', 'Hello.', '', 'no.such.name', 0), 'a pattern that names nothing')
const long = 'encoder.0.attention.weights '.repeat(31) + 'decoder.0.ffn' + '*'.repeat(400) // its last one is beyond 1,024 bytes
must(call('explain', 'string', 'Hello.', 'bonjour .', long, 0).includes('"decoder.0.ffn'), 'the last of long patterns')
must(call('finish', 'number') === 0, 'the end')
