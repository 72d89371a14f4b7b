/* numbers.js: the numbers of a step, as page_steps.h of rapt packed them: exactly, in 16 or in 8 bits, without what a mask
 * hides, or told by another step. They stay letters until they are looked at. Not what is shown of them, but for how many
 * digits of one are true. */
function bytesOf(letters) {
    const text = atob(letters), bytes = new Uint8Array(text.length);
    for (let i = 0; i < bytes.length; i++)
        bytes[i] = text.charCodeAt(i);
    return bytes;
}

function exactNumbers(bytes) {
    const view = new DataView(bytes.buffer), numbers = new Float32Array(bytes.length / 4);
    for (let i = 0; i < numbers.length; i++)
        numbers[i] = view.getFloat32(4 * i, true);
    return numbers;
}

function halfNumber(bits) {
    const sign = bits >> 15 ? -1 : 1, exponent = bits >> 10 & 31, fraction = bits & 1023;
    if (exponent === 31)
        return fraction ? NaN : sign * Infinity;
    return sign * (exponent ? (1 + fraction / 1024) * 2 ** (exponent - 15) : fraction / 1024 * 2 ** -14);
}

const halfNumbers = (bytes, exponent) =>
    Float32Array.from({ length: bytes.length / 2 }, (_, i) => halfNumber(bytes[2 * i] | bytes[2 * i + 1] << 8) * 2 ** exponent);

/* The largest of each row, and from it the others. */
function byteNumbers(bytes, step, lengthOf) {
    const most = exactNumbers(bytesOf(step.most)), numbers = new Float32Array(bytes.length), n = step.signed ? 127 : 255;
    for (let row = 0, i = 0; row < most.length; row++) {
        for (const end = i + lengthOf(row); i < end; i++) {
            const q = step.signed ? bytes[i] << 24 >> 24 : bytes[i];
            numbers[i] = q === -128 ? -Infinity : Math.sign(q) * most[row] * (q / n) ** 2;
        }
    }
    step.rowMost = most;
    return numbers;
}

/* Above the diagonal, where a mask hides, stands minus infinity, whatever the step has there (step.above). */
function filled(kept, rows) {
    const groups = kept.length / (rows * (rows + 1) / 2), numbers = new Float32Array(groups * rows * rows).fill(-Infinity);
    for (let row = 0, from = 0; row < groups * rows; row++) {
        const length = row % rows + 1;
        numbers.set(kept.subarray(from, from + length), row * rows);
        from += length;
    }
    return numbers;
}

function unpack(step) {
    const [rows, columns] = [1, 1, ...step.shape].slice(-2), width = step.kept ? step.kept.length : columns;
    const bytes = bytesOf(step.values), isLower = step.above !== undefined;
    const numbers = step.format === "exact" ? exactNumbers(bytes) : step.format === "half" ? halfNumbers(bytes, step.exponent) :
        byteNumbers(bytes, step, row => isLower ? row % rows + 1 : width);
    return isLower ? filled(numbers, rows) : numbers;
}

/* From [first, second, width] to [second, first, width]: columns into heads, or heads side by side. */
function turned(values, first, second) {
    const width = values.length / first / second, numbers = new Float32Array(values.length);
    for (let i = 0; i < first; i++) {
        for (let j = 0; j < second; j++) {
            const from = (i * second + j) * width;
            numbers.set(values.subarray(from, from + width), (j * first + i) * width);
        }
    }
    return numbers;
}

/* The step whose letters stand for this one's numbers. */
const sourceOf = step => step.same ? (step.among ?? named).get(step.same) : step;
const hasNumbers = step => sourceOf(step).values !== undefined;

/* The numbers of a step, or null where the page has been made without them. */
function valuesOf(step) {
    if (!hasNumbers(step))
        return null;
    if (step.numbers)
        return step.numbers;
    if (!step.same)
        return step.numbers = unpack(step);
    const source = sourceOf(step), values = valuesOf(source), heads = step.shape.length > source.shape.length ? step : source;
    const [, count, rows] = heads.shape;
    step.numbers = !step.split ? values : heads === step ? turned(values, rows, count) : turned(values, count, rows);
    return step.numbers;
}

/* The largest number of a row where the step was kept in 8 bits; of the rows that it was made of, where heads are. */
function mostOf(step, source, row) {
    const rows = source.shape[source.shape.length - 2];
    return step.split ? source.rowMost.reduce((most, x, i) => i % rows === row % rows ? Math.max(most, x) : most, 0) :
        source.rowMost[row];
}

/* How far a number may be from the true one. `rows` count through all matrices of the step: of a mean of heads, its row of
 * each of them; the bound is concave, so that of the means holds, and the larger one of the largest row. */
function errorOf(step, x, rows) {
    const source = sourceOf(step);
    if (!Number.isFinite(x))
        return 0;
    if (source.format === "half")
        return Math.max(Math.abs(x) * 2 ** -11, 2 ** (source.exponent - 25));
    if (source.format !== "byte")
        return 0;
    const most = Math.max(...rows.map(row => mostOf(step, source, row))), n = source.signed ? 127 : 255;
    return most > 0 ? most * (n * Math.sqrt(Math.abs(x) / most) + 0.25) / n ** 2 : 0;
}

/* A number with the digits that are true: six of an exact one, fewer and "≈" where it was rounded for the page. */
function told(step, x, ...rows) {
    if (x === -Infinity && step.above === 0)
        return "0";
    const error = errorOf(step, x, rows);
    return error === 0 ? show(x, 6) : toldRounded(x, error);
}

/* One that may be off by `error`. */
const toldRounded = (x, error) => "≈" + show(x, Math.max(1, Math.min(4, Math.floor(Math.log10(Math.abs(x) / error)))));

/* What a card says of its format. */
const precisionOf = step => ["byte", "half"].includes(sourceOf(step).format) && t(`steps.${sourceOf(step).format}`);
