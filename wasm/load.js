// wasm/load.js: the bytes of rapt.wasm as this engine takes them. For pages, workers and node; a classic script.
// An engine without relaxed SIMD refuses a module that has one such instruction. The module lists where it has them
// (relaxed.mjs); there, bitselect takes their place, which has as many operands and results, with a number that is padded to as many bytes. The
// library's probe finds that it is no multiply-add, and the kernels that have it are not used.
'use strict'

// raptBytes(Uint8Array, plain): the same bytes, or a copy without relaxed SIMD, always where `plain` is true.
function raptBytes(bytes, plain) {
    if (!plain && WebAssembly.validate(bytes)) return bytes
    const name = 'relaxed_madd'
    let at = 8
    const leb = () => {
        let value = 0, shift = 0, byte
        do {
            byte = bytes[at++]
            value += (byte & 127) * 2 ** shift
            shift += 7
        } while (byte & 128)
        return value
    }
    while (at < bytes.length) {
        const id = bytes[at++], size = leb(), end = at + size
        if (id === 0 && new TextDecoder().decode(bytes.subarray(at + 1, at + 1 + name.length)) === name) {
            const out = bytes.slice()
            at += 1 + name.length
            for (let count = leb(), place = 0; count > 0; count--) {
                place += leb()
                out.set([0xfd, 0xd2, 0], place)
            }
            return out
        }
        at = end
    }
    return bytes
}

if (typeof module === 'object') module.exports = { raptBytes }
