// wasm/steps.mjs: trains in node, as the program does, and prints what came of it: for tests and figures.
//   node --experimental-wasm-relaxed-simd wasm/steps.mjs FOLDER RECIPE PAIRS [STEPS [LEVEL]]
// FOLDER has rapt.js and rapt.wasm (tools/wasm.sh). The recipe's data is PAIRS, the rest as it says. LEVEL: the best level of a
// module without relaxed SIMD ("plain"), or "simd128" or "scalar". One JSON object: the level of
// the kernels, the losses, ms of CPU time a step (the median), the sha256 of model.safetensors, and a translation.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'

const [folder, recipe, pairs, steps = '50', level = ''] = process.argv.slice(2)
const require = createRequire(import.meta.url)
const { raptBytes } = require('./load.js')
const wasmBinary = raptBytes(readFileSync(resolve(folder, 'rapt.wasm')), level !== '')
const isa = level && level !== 'plain' ? { RAPT_ISA: level } : {}
const rapt = await require(resolve(folder, 'rapt.js'))({ wasmBinary, preRun: [module => Object.assign(module.ENV, isa)] })
const call = (name, result, ...values) =>
    rapt.ccall('rapt_wasm_' + name, result, values.map(v => (typeof v === 'string' ? 'string' : 'number')), values)
const must = code => {
    const failed = code === -1 || (code === '' && call('error', 'string')) // no text is one of 0 letters
    if (failed) throw new Error(call('error', 'string'))
    return code
}

rapt.FS.writeFile('/pairs.tsv', readFileSync(pairs))
const yaml = readFileSync(recipe, 'utf8').replace(/pairs: \S+/, 'pairs: /pairs.tsv').replace(/steps: \d+/, `steps: ${steps}`)
must(call('begin', 'number', yaml, '/model'))
const losses = [], times = []
for (let more = 1; more;) {
    const start = process.cpuUsage()
    more = must(call('step', 'number'))
    times.push(process.cpuUsage(start).user / 1000)
    losses.push(call('loss', 'number'))
}
must(call('finish', 'number'))
const model = rapt.FS.readFile('/model/model.safetensors')
console.log(JSON.stringify({
    level: must(call('level', 'string')),
    loss: losses.at(-1),
    ms: Number(times.sort((a, b) => a - b)[times.length >> 1].toFixed(1)),
    sha256: createHash('sha256').update(model).digest('hex'),
    translation: must(call('translate', 'string', 'Where are my keys?', 4)),
}))
