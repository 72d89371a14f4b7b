// wasm/relaxed.mjs: what has to be done to a linked module for relaxed SIMD. For the build: node wasm/relaxed.mjs FILE.wasm
//   - Compilers before LLVM 15 write f32x4.relaxed_madd with the number that a draft of the standard had for it. It gets the
//     standard's number, which takes as many bytes.
//   - Engines without relaxed SIMD refuse a module that has one such instruction anywhere. A section of its own, "relaxed_madd",
//     lists where they are, so that load.js can take them out.
// WebAssembly core specification, 5.4 (instructions) and 5.5 (sections); relaxed SIMD is part of its version 3.
import { readFileSync, writeFileSync } from 'node:fs'

const file = process.argv[2]
const bytes = readFileSync(file)
const DRAFT = 0xaf, MADD = 0x105
let at = 8 // after the magic number and the version

const leb = () => {
    let value = 0, shift = 0, byte
    do {
        byte = bytes[at++]
        value += (byte & 127) * 2 ** shift
        shift += 7
    } while (byte & 128)
    return value
}
const lebs = count => { while (count--) leb() }

// The bytes that follow instructions of the first page; all others have none.
function skipImmediates(opcode) {
    if (opcode >= 0x28 && opcode <= 0x3e || opcode === 0x11) lebs(2) // loads and stores, call_indirect
    else if (opcode === 0x0e || opcode === 0x1c) lebs(leb() + (opcode === 0x0e)) // br_table, select with types
    else if (opcode === 0x43 || opcode === 0x44) at += opcode === 0x43 ? 4 : 8 // f32.const, f64.const
    else if (opcode >= 2 && opcode <= 4 || opcode === 0x0c || opcode === 0x0d || opcode === 0x10 ||
        opcode >= 0x20 && opcode <= 0x26 || opcode >= 0x3f && opcode <= 0x42 || opcode === 0xd0 || opcode === 0xd2) leb()
    else if (opcode === 0xfc) {
        const second = leb() // conversions; then of memory and tables
        lebs(second < 8 ? 0 : [8, 10, 12, 14].includes(second) ? 2 : 1)
    } else if (opcode > 0xd2) throw new Error(`${file}: unknown instruction ${opcode.toString(16)} at ${at - 1}`)
}

function skipVector(second) {
    if (second <= 11 || second >= 84 && second <= 93) lebs(2) // loads and stores
    if (second === 12 || second === 13) at += 16 // v128.const, i8x16.shuffle
    if (second >= 21 && second <= 34 || second >= 84 && second <= 91) at += 1 // a lane
}

const found = []
function readCode(end) {
    while (at < end) {
        const start = at, opcode = bytes[at++]
        if (opcode !== 0xfd) {
            skipImmediates(opcode)
            continue
        }
        const second = leb()
        if (second === DRAFT) bytes.set([0xfd, MADD & 127 | 128, MADD >> 7], start)
        if (second === DRAFT || second === MADD) found.push(start)
        else if (second === DRAFT + 1 || second > 0x113) throw new Error(`${file}: unknown vector instruction at ${start}`)
        skipVector(second)
    }
}

const CODE = 10
while (at < bytes.length) {
    const id = bytes[at++], size = leb(), end = at + size
    if (id === CODE)
        for (let functions = leb(); functions > 0; functions--) {
            const size = leb(), end = at + size
            for (let locals = leb(); locals > 0; locals--) lebs(2)
            readCode(end)
            if (at !== end) throw new Error(`${file}: a function does not end where it says`)
        }
    at = end
}

const number = value => value < 128 ? [value] : [value & 127 | 128, ...number(value >> 7)]
const name = [...Buffer.from('relaxed_madd')]
const places = found.flatMap((place, i) => number(place - (i ? found[i - 1] : 0)))
const section = [name.length, ...name, ...number(found.length), ...places]
writeFileSync(file, Buffer.concat([bytes, Buffer.from([0, ...number(section.length), ...section])]))
