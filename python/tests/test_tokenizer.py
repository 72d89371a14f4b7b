"""Tokenizers against the program, tiktoken and tokenizers where they are installed, and definitions."""
import array
import gc
import json
import os
import pathlib
import pickle
import threading
import unittest

import rapt
import support

TEXT = "the cat sat on the mat, the cat ran\n" * 40
SPECIAL = "<|endoftext|>"


def bpe(**options):
    return rapt.Tokenizer.train_bpe(TEXT, 280, specials=[SPECIAL], **options)


class Made(unittest.TestCase):
    def test_bpe_is_the_programs(self):
        text, out = support.SCRATCH / "bpe.txt", support.SCRATCH / "bpe.json"
        text.write_text(TEXT, encoding="utf-8")
        support.run("tokenizer", "train", text, "-o", out, "--vocab-size=280", f"--special={SPECIAL}")
        ours = bpe(threads=2)
        self.assertEqual(ours, rapt.Tokenizer.load(out))
        self.assertEqual(ours.to_bytes(), out.read_bytes())
        self.assertEqual(rapt.Tokenizer.train_bpe(TEXT.splitlines(), 280, specials=[SPECIAL]), ours)
        self.assertEqual(rapt.Tokenizer.train_bpe(TEXT.encode(), 280, specials=[SPECIAL]), ours)

    def test_words(self):
        words = rapt.Tokenizer.train_words(["b a", "b A c"], lowercase=True, max_size=6)
        self.assertEqual([words.token(i) for i in range(len(words) + 1)],
                         [b"<unk>", b"<pad>", b"<bos>", b"<eos>", b"b", b"a", None])
        self.assertEqual(words.encode("A b c"), [5, 4, 0])
        self.assertEqual(words.kind, "words")

    def test_characters(self):
        characters = rapt.Tokenizer.train_characters("añb")
        self.assertEqual([characters.decode([i]) for i in range(3)], ["a", "b", "ñ"])
        self.assertEqual(characters.kind, "characters")
        with self.assertRaisesRegex(rapt.InvalidValueError, "U\\+007A is not in the vocabulary"):
            characters.encode("z")
        self.assertEqual(rapt.Tokenizer.train_characters("ab", specials_first=True).encode("az"), [4, 0])

    def test_files_and_pickles(self):
        ours, path = bpe(), support.SCRATCH / "saved.json"
        ours.save(path)
        for again in (rapt.Tokenizer.load(path), rapt.Tokenizer.load(str(path)), rapt.Tokenizer.from_bytes(ours.to_bytes()),
                      pickle.loads(pickle.dumps(ours))):
            self.assertEqual(again, ours)
            self.assertEqual(hash(again), hash(ours))
            self.assertEqual(again.encode(TEXT), ours.encode(TEXT))
        self.assertNotEqual(ours, rapt.Tokenizer.train_characters("ab"))
        self.assertNotEqual(ours, "ours")

    def test_vocabulary(self):
        ours = bpe()
        self.assertEqual(ours.kind, "byte_bpe")
        self.assertEqual(ours.special(SPECIAL), len(ours) - 1)
        self.assertIsNone(ours.special("<|nothing|>"))
        self.assertEqual(ours.token(97), b"a")
        self.assertIsNone(ours.token(len(ours)))
        self.assertIsNone(ours.token(-1))


class Used(unittest.TestCase):
    def test_encode_is_the_programs(self):
        ours, path = bpe(), support.SCRATCH / "encode.json"
        ours.save(path)
        lines = ["the cat", "", "a mat, naïve 日本\t."]
        said = support.run("tokenizer", "encode", path, "--lines", text="\n".join(lines) + "\n").splitlines()
        ids = [[int(i) for i in line.split()] for line in said]
        self.assertEqual([ours.encode(line) for line in lines], ids)
        for threads in (0, 1, 2):
            self.assertEqual(ours.encode_batch(lines, threads=threads), ids)
        self.assertEqual([ours.decode(i) for i in ids], lines)

    def test_round_trip_of_bytes(self):
        data = bytes(range(256))
        self.assertEqual(bpe().decode_bytes(bpe().encode(data)), data)
        self.assertEqual(bpe().decode(bpe().encode("a\0b")), "a\0b")
        self.assertEqual(bpe().decode([255]), "\ufffd")

    def test_specials(self):
        ours = bpe()
        self.assertEqual(ours.encode(SPECIAL, specials=True), [ours.special(SPECIAL)])
        self.assertGreater(len(ours.encode(SPECIAL)), 1)
        self.assertEqual(ours.encode_batch([SPECIAL], specials=True), [[ours.special(SPECIAL)]])

    def test_ids_of_any_kind(self):
        ours = bpe()
        ids = ours.encode("the cat")
        for other in (tuple(ids), iter(ids), array.array("q", ids), array.array("H", ids), ours.encoding("the cat").ids):
            self.assertEqual(ours.decode(other), "the cat")
        try:
            import numpy
        except ImportError:
            return
        for dtype in ("int64", "int32", "uint16"):
            self.assertEqual(ours.decode(numpy.array(ids, dtype)), "the cat")
        self.assertEqual(ours.decode(list(numpy.array(ids))), "the cat")

    def test_offsets_count_characters(self):
        text = "the cät 日本 the 𝄞a"
        e = bpe().encoding(text)
        self.assertEqual(e.ids.tolist(), bpe().encode(text))
        self.assertEqual(len(e), len(e.tokens))
        for token, (begin, end) in zip(e.tokens, e.offsets, strict=True):
            if "\ufffd" in token: # a part of one character's bytes has the character
                self.assertEqual(end - begin, 1)
            else:
                self.assertEqual(text[begin:end], token)
        self.assertEqual(e.offsets[-1], (len(text) - 1, len(text)))

    def test_offsets_are_those_of_tokenizers(self):
        try:
            import tokenizers
        except ImportError:
            self.skipTest("tokenizers is not installed")
        ours, path = bpe(), support.SCRATCH / "offsets.json"
        ours.save(path)
        theirs = tokenizers.Tokenizer.from_file(str(path))
        for text in ("the cat", "  the\tcät 日本 🙂‍x", "", "a\n\nthe mat ", "é"):
            one, other = ours.encoding(text), theirs.encode(text)
            self.assertEqual((one.ids.tolist(), one.offsets), (other.ids, other.offsets))

    def test_threads_share_one(self):
        ours, results = bpe(), []
        threads = [threading.Thread(target=lambda: results.append(ours.encode_batch([TEXT] * 20))) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertTrue(all(r == [ours.encode(TEXT)] * 20 for r in results) and len(results) == 4)

    def test_ids_outlive_the_tokenizer(self):
        ours = rapt.Tokenizer.train_bpe(TEXT, 300)
        lists = ours.encode_batch([TEXT, TEXT[::-1]] * 50) + [ours.encode(TEXT)]
        self.assertTrue(max(map(max, lists)) > 256) # ints that Python does not keep itself
        for ids in lists:
            self.assertTrue(all(type(number) is int and 0 <= number < len(ours) for number in ids))
        copies = [[int(str(number)) for number in ids] for ids in lists]
        lists[0].clear()
        lists[1][0] = None
        self.assertEqual(ours.encode(TEXT), copies[-1])
        del ours
        gc.collect()
        self.assertEqual(lists[2:], copies[2:])

    def test_models_lend_theirs(self):
        with rapt.Model.load(support.translator()) as model:
            source, target = model.source_tokenizer, model.target_tokenizer
            self.assertEqual(source.kind, "words")
            self.assertNotEqual(source, target)
            with self.assertRaises(BufferError):
                model.close()
            del source, target
        model = rapt.Model.load(support.language_model())
        tokenizer = model.tokenizer
        del model
        self.assertEqual(tokenizer, rapt.Tokenizer.load(support.language_model()))
        self.assertEqual(tokenizer.decode(tokenizer.encode("to be")), "to be")


class Refused(unittest.TestCase):
    def test_types(self):
        ours = bpe()
        for call in (lambda: ours.encode(3), lambda: ours.encode_batch("abc"), lambda: ours.encode_batch([b"a"]),
                     lambda: ours.encoding(b"a"), lambda: ours.decode("abc"), lambda: ours.decode(b"abc"),
                     lambda: ours.decode([1.5]), lambda: ours.decode([True]), lambda: ours.decode({1: 2}),
                     lambda: ours.decode(3), lambda: ours.token("a"),
                     lambda: ours.special(3), lambda: rapt.Tokenizer(), lambda: rapt.Tokenizer.train_words("abc"),
                     lambda: rapt.Tokenizer.train_words([1]), lambda: rapt.Tokenizer.train_bpe([1], 300),
                     lambda: rapt.Tokenizer.train_bpe(TEXT, 300.0), lambda: rapt.Tokenizer.from_bytes("abc"),
                     lambda: rapt.Tokenizer.load(3)):
            with self.assertRaises(TypeError):
                call()

    def test_values(self):
        ours = bpe()
        for call in (lambda: ours.encode("\ud800"), lambda: ours.decode([2**40]), lambda: ours.token(2**70),
                     lambda: ours.special("a\0"), lambda: ours.encode_batch(["a"], threads=1000),
                     lambda: rapt.Tokenizer.train_bpe("", 300), lambda: rapt.Tokenizer.train_bpe(TEXT, -1),
                     lambda: rapt.Tokenizer.train_bpe(TEXT, 300, pattern="("),
                     lambda: rapt.Tokenizer.train_bpe(TEXT, 300, normalization="x"),
                     lambda: rapt.Tokenizer.from_bytes(b"nothing"), lambda: rapt.Tokenizer.load("a\0b")):
            with self.assertRaises(ValueError):
                call()
        with self.assertRaises(FileNotFoundError):
            rapt.Tokenizer.load("/nowhere")


@unittest.skipUnless(support.SHARED and os.path.exists(f"{support.SHARED}/data/tokenizers"), "published files are not here")
class Published(unittest.TestCase):
    def test_rank_files_give_the_golden_ids(self):
        folder = pathlib.Path(support.SHARED)
        for name in ("r50k", "cl100k", "o200k"):
            tokenizer = rapt.Tokenizer.load(folder / "data" / "tokenizers" / f"{name}_base.tiktoken")
            with open(folder / "golden" / "tokenizer" / f"golden_{name}_public.jsonl", encoding="utf-8") as file:
                rows = [json.loads(line) for line in file][:200]
            texts, ids = [row["text"] for row in rows], [row["ids"] for row in rows]
            self.assertEqual(tokenizer.encode_batch(texts), ids)
            self.assertEqual([tokenizer.decode(i) for i in ids], texts)


if __name__ == "__main__":
    unittest.main()
