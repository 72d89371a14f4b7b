#!/bin/bash
# tests/cli/check_tensorboard.sh: train.tensorboard: the file of events is read here by the definitions of TFRecord, CRC-32C and
# protocol buffers, and has the numbers of train.jsonl, after a stop, a kill or a change of the key, too; what is refused.
. "$(dirname "$0")/lib.sh"
make_inputs
events=events.out.tfevents.rapt
run() { train "$@" --set train.steps=30 --set train.report_every=5 --set train.checkpoint_every=10; }
board() { run "$@" --set train.tensorboard=true; }

cat >same.py <<'PYTHON'
import json, struct, sys
folder, count = sys.argv[1], int(sys.argv[2])
table = []
for byte in range(256):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    table.append(byte)
def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF
assert crc32c(b"123456789") == 0xE3069283 and crc32c(bytes(32)) == 0x8A9136AA  # the second: RFC 3720, B.4
def masked(data):
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)
def records(data):
    while data:
        size, = struct.unpack("<Q", data[:8])
        assert data[8:12] == masked(data[:8]) and data[12 + size:16 + size] == masked(data[12:12 + size])
        yield data[12:12 + size]
        data = data[16 + size:]
def varint(data, at):
    value = shift = 0
    while True:
        byte, at = data[at], at + 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at
def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            size, at = (8, at) if key & 7 == 1 else (4, at) if key & 7 == 5 else varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size
        yield key >> 3, value
first, *rest = records(open(folder + "/events.out.tfevents.rapt", "rb").read())
assert list(fields(first)) == [(1, bytes(8)), (3, b"brain.Event:2")], first
lines = [json.loads(line) for line in open(folder + "/train.jsonl")]
lines = [line for line in lines if "partial" not in line]
assert len(lines) == len(rest) == count, (len(lines), len(rest), count)
for line, event in zip(lines, rest):
    event = dict(fields(event))
    assert event[1] == struct.pack("<d", line["seconds"]) and event[2] == line["step"]
    values = [dict(fields(value)) for _, value in fields(event[5])]
    assert {v[1].decode(): v[2] for v in values} == \
        {k: struct.pack("<f", x) for k, x in line.items() if k not in ("step", "epoch", "changed_after")}
    assert {b"loss", b"val_loss", b"lr"} < {v[1] for v in values}
PYTHON
command -v python3 >/dev/null || { skip 'events (python3 is not installed)'; finish; exit; }
same() { python3 same.py "$@"; }

run plain
check 'without the key there is no file' test ! -e plain/$events
board whole
check 'an event a report' same whole 6
check 'the key changes no parameter' same_parameters plain/model.safetensors whole/model.safetensors
board parts --max-steps 12
check 'no event of a partial line' same parts 2
inode=$(stat -c %i parts/$events)
board parts --resume
check 'stopped and resumed' same parts 6
check 'in the file that TensorBoard has open' test "$inode" = "$(stat -c %i parts/$events)"
check 'with the model of one that was not' same_model whole parts
run later --max-steps 12
board later --resume
check 'with the key from the middle on: all reports' same later 6
cp -r parts killed && rm killed/checkpoints/step-00000030.safetensors && truncate -s -7 killed/$events
board killed --resume
check 'behind the checkpoint, cut by a kill: made anew' same killed 6

mkdir other && echo mine >other/$events
refused 1 "other holds $events and no checkpoint: choose another folder" 'a file of another is not written over' \
    "$RAPT" train tiny.yaml --quiet --out other --set train.tensorboard=true
check 'it is as it was' test "$(cat other/$events)" = mine
run piped --max-steps 12 && mkfifo piped/$events
refused 1 "piped/$events: not a regular file|$events.*not a regular file" 'a pipe in its place' \
    timeout 10 "$RAPT" train tiny.yaml --quiet --out piped --resume --set train.steps=30 --set train.report_every=5 \
    --set train.checkpoint_every=10 --set train.tensorboard=true
finish
