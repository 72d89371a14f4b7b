/* lzma.js: unpacks LZMA (Pavlov, LZMA specification, 2015; the format of `xz --format=lzma`). Browsers have gzip, with which the
 * page would be larger by a third. For engine.js, which trusts its input: the page itself. */
const LZMA_NEW = 1 << 10, LZMA_STATES = 12; /* a probability of a half; states of what came last */

const probabilities = count => new Uint16Array(count).fill(LZMA_NEW);

/* The arithmetic decoder: bits, each by a probability that learns. */
class RangeDecoder {
    constructor(bytes, at) {
        Object.assign(this, { bytes, at, range: 0xffffffff, code: 0 });
        for (let i = 0; i < 5; i++)
            this.code = (this.code << 8 | bytes[this.at++]) >>> 0;
    }

    normalize() {
        if (this.range < 0x1000000) {
            this.range = this.range << 8 >>> 0;
            this.code = (this.code << 8 | this.bytes[this.at++]) >>> 0;
        }
    }

    bit(p, i) {
        const bound = (this.range >>> 11) * p[i];
        if (this.code < bound) {
            this.range = bound;
            p[i] += 2048 - p[i] >> 5;
            this.normalize();
            return 0;
        }
        this.range -= bound;
        this.code -= bound;
        p[i] -= p[i] >> 5;
        this.normalize();
        return 1;
    }

    /* A number of `count` bits without probabilities, the highest first. */
    direct(count) {
        let value = 0;
        while (count--) {
            this.range >>>= 1;
            const one = this.code >= this.range;
            if (one)
                this.code -= this.range;
            this.normalize();
            value = value << 1 | one;
        }
        return value;
    }

    /* A number of `count` bits, the highest first; `reversed`: the lowest. Probabilities begin at p[from]. */
    tree(p, count, from = 0) {
        let node = 1;
        for (let i = 0; i < count; i++)
            node = node << 1 | this.bit(p, from + node);
        return node - (1 << count);
    }

    reversed(p, count, from = 0) {
        let node = 1, value = 0;
        for (let i = 0; i < count; i++) {
            const bit = this.bit(p, from + node);
            node = node << 1 | bit;
            value |= bit << i;
        }
        return value;
    }
}

class LengthDecoder {
    constructor() {
        Object.assign(this, { choice: probabilities(2), low: probabilities(16 << 3), middle: probabilities(16 << 3),
            high: probabilities(256) });
    }

    decode(range, place) {
        if (range.bit(this.choice, 0) === 0)
            return 2 + range.tree(this.low, 3, place << 3);
        if (range.bit(this.choice, 1) === 0)
            return 10 + range.tree(this.middle, 3, place << 3);
        return 18 + range.tree(this.high, 8);
    }
}

function lzmaDistance(range, p, length) {
    const slot = range.tree(p.slots, 6, Math.min(length - 2, 3) << 6);
    if (slot < 4)
        return slot;
    const bits = (slot >> 1) - 1, start = (2 | slot & 1) << bits;
    if (slot < 14)
        return start + range.reversed(p.distances, bits, start - slot);
    return start + range.direct(bits - 4) * 16 + range.reversed(p.align, 4);
}

/* A byte; after a copy it is not the one at the last distance, which says something of its bits. */
function lzmaByte(range, p, from, after) {
    let node = 1;
    for (let mismatch = after === null; node < 0x100;) {
        if (mismatch) {
            node = node << 1 | range.bit(p, from + node);
            continue;
        }
        const expected = after >> 7 & 1, bit = range.bit(p, from + ((1 + expected) << 8) + node);
        after <<= 1;
        node = node << 1 | bit;
        mismatch = bit !== expected;
    }
    return node & 0xff;
}

/* Brings the list of the last four distances up to date by how far back the next copy reaches. True: a copy of one byte. */
function lzmaRepeat(range, p, state, place, last) {
    if (range.bit(p.first, state) === 0)
        return range.bit(p.long, (state << 4) + place) === 0;
    const which = range.bit(p.second, state) === 0 ? 1 : range.bit(p.third, state) === 0 ? 2 : 3;
    last.unshift(...last.splice(which, 1));
    return false;
}

function unpackLzma(bytes) {
    const lc = bytes[0] % 9, lp = Math.floor(bytes[0] / 9) % 5, pb = Math.floor(bytes[0] / 45);
    const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(5, true), out = new Uint8Array(size);
    const range = new RangeDecoder(bytes, 13), lengths = new LengthDecoder(), repeats = new LengthDecoder(), last = [0, 0, 0, 0];
    const p = { match: probabilities(LZMA_STATES << 4), repeat: probabilities(LZMA_STATES), first: probabilities(LZMA_STATES),
        long: probabilities(LZMA_STATES << 4), second: probabilities(LZMA_STATES), third: probabilities(LZMA_STATES),
        slots: probabilities(4 << 6), distances: probabilities(128), align: probabilities(16),
        bytes: probabilities(0x300 << lc + lp) };
    let at = 0, state = 0;
    while (at < size) {
        const place = at & (1 << pb) - 1;
        if (range.bit(p.match, (state << 4) + place) === 0) {
            const before = at > 0 ? out[at - 1] : 0, context = ((at & (1 << lp) - 1) << lc) + (before >> 8 - lc);
            out[at] = lzmaByte(range, p.bytes, 0x300 * context, state < 7 ? null : out[at - last[0] - 1]);
            at++;
            state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
            continue;
        }
        let length, single = false;
        if (range.bit(p.repeat, state) === 0) {
            last.unshift(0);
            last.pop();
            length = lengths.decode(range, place);
            last[0] = lzmaDistance(range, p, length);
            state = state < 7 ? 7 : 10;
        } else {
            single = lzmaRepeat(range, p, state, place, last);
            length = single ? 1 : repeats.decode(range, place);
            state = single ? (state < 7 ? 9 : 11) : state < 7 ? 8 : 11;
        }
        for (const end = Math.min(size, at + length), from = last[0] + 1; at < end; at++)
            out[at] = out[at - from];
    }
    return out;
}
