/* sha256.js: SHA-256 (FIPS 180-4) as hexadecimal digits. The browser's own exists only in secure contexts, and a page from
 * a server without TLS is none. For worker.js. */
const PRIMES = [];
for (let n = 2; PRIMES.length < 64; n++) {
    if (PRIMES.every(p => n % p))
        PRIMES.push(n);
}
const fraction = x => Math.floor((x - Math.floor(x)) * 2 ** 32) | 0;
const ROOTS = Int32Array.from(PRIMES, p => fraction(Math.cbrt(p)));
const turnRight = (x, n) => x >>> n | x << 32 - n;

function padded(bytes) {
    const size = bytes.length, whole = new Uint8Array(Math.ceil((size + 9) / 64) * 64), view = new DataView(whole.buffer);
    whole.set(bytes);
    whole[size] = 0x80;
    view.setUint32(whole.length - 8, Math.floor(size / 2 ** 29));
    view.setUint32(whole.length - 4, size << 3);
    return view;
}

function sha256(bytes) {
    const view = padded(bytes), h = Int32Array.from(PRIMES.slice(0, 8), p => fraction(Math.sqrt(p))), w = new Int32Array(64);
    for (let at = 0; at < view.byteLength; at += 64) {
        for (let i = 0; i < 16; i++)
            w[i] = view.getInt32(at + 4 * i);
        for (let i = 16; i < 64; i++) {
            const a = w[i - 15], b = w[i - 2];
            w[i] = w[i - 16] + w[i - 7] + (turnRight(a, 7) ^ turnRight(a, 18) ^ a >>> 3) +
                (turnRight(b, 17) ^ turnRight(b, 19) ^ b >>> 10);
        }
        let [a, b, c, d, e, f, g, last] = h;
        for (let i = 0; i < 64; i++) {
            const one = last + (turnRight(e, 6) ^ turnRight(e, 11) ^ turnRight(e, 25)) + (e & f ^ ~e & g) + ROOTS[i] + w[i];
            const two = (turnRight(a, 2) ^ turnRight(a, 13) ^ turnRight(a, 22)) + (a & b ^ a & c ^ b & c);
            [a, b, c, d, e, f, g, last] = [one + two | 0, a, b, c, d + one | 0, e, f, g];
        }
        [a, b, c, d, e, f, g, last].forEach((x, i) => { h[i] += x; });
    }
    return [...h].map(x => (x >>> 0).toString(16).padStart(8, "0")).join("");
}
