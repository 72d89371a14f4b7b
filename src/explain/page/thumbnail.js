/* thumbnail.js: the attention weights of a head as a small picture. For the pages that show many heads side by side. */
const THUMBNAIL = 96; /* cells across a small picture, at most */

/* `heads`: { rows, columns, of(head) }, `choice` one of SCALES. A dot a weight; of long rows, for each dot the weight that stands
 * out. */
function thumbnail(canvas, heads, head, choice) {
    const values = heads.of(head), scale = scaleOfWeights(values, heads.columns, choice);
    const table = tableFor(scale.kind).pixels;
    canvas.width = Math.min(heads.columns, THUMBNAIL);
    canvas.height = Math.min(heads.rows, THUMBNAIL);
    const c = canvas.getContext("2d"), image = c.createImageData(canvas.width, canvas.height);
    const pixels = new Uint32Array(image.data.buffer), matrix = { offset: 0, columns: heads.columns };
    for (let y = 0; y < canvas.height; y++) {
        const [top, bottom] = [y, y + 1].map(i => Math.floor(i * heads.rows / canvas.height));
        const rowOfMost = largestRow(scale, top, bottom);
        for (let x = 0; x < canvas.width; x++) {
            const [left, right] = [x, x + 1].map(i => Math.floor(i * heads.columns / canvas.width));
            const most = standsOut(matrix, values, top, bottom, left, right);
            pixels[y * canvas.width + x] = table[colorIndex(scale, most, rowOfMost)];
        }
    }
    c.putImageData(image, 0, 0);
}
