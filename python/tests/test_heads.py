"""Attention heads that are switched off: the program's bytes, beside a model that stays as it was."""
import json
import threading
import unittest

import rapt
import support

TEXT = "where are you ?"
HEAD = "decoder.0.cross_attention.1"


class HeadsOff(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = rapt.Model.load(support.translator(), threads=2)

    def test_names(self):
        model = self.model
        self.assertIn(HEAD, model.heads)
        self.assertEqual(len(model.heads), len(set(model.heads)))
        less = model.without_heads(HEAD, "encoder.*.attention.0")
        self.assertEqual(less.heads, model.heads)
        self.assertEqual(less.heads_off, [name for name in model.heads
                                          if name == HEAD or (name.startswith("encoder.") and name.endswith(".0"))])
        self.assertEqual(less.without_heads("decoder.0.self_attention.0").heads_off[-2:], ["decoder.0.self_attention.0", HEAD])
        self.assertEqual(model.heads_off, [])
        self.assertIsInstance(less, rapt.Translator)

    def test_as_the_program(self):
        folder, less = self.model.folder, self.model.without_heads(HEAD)
        self.assertEqual(less.translate(TEXT).text + "\n",
                         support.run("translate", folder, "--text", TEXT, f"--without-head={HEAD}"))
        e = less.explain(TEXT)
        self.assertEqual(e.json(full=True) + "\n",
                         support.run("explain", folder, TEXT, "--json", "--full", f"--without-head={HEAD}"))
        self.assertEqual(json.loads(e.json())["heads_off"], [HEAD])
        self.assertNotIn("heads_off", json.loads(self.model.explain(TEXT).json()))

    def test_all_off_or_none(self):
        sources, targets = [TEXT, "i am home ."], ["où es-tu ?", "je suis chez moi ."]
        whole = self.model.score(sources, targets).loss
        self.assertEqual(self.model.without_heads().score(sources, targets).loss, whole)
        self.assertNotEqual(self.model.without_heads("*").score(sources, targets).loss, whole)
        self.assertEqual(self.model.score(sources, targets).loss, whole)

    def test_at_once(self):
        wanted, got = {}, {}
        models = {head: self.model.without_heads(head) for head in self.model.heads[:4]}
        for head, less in models.items():
            wanted[head] = less.score([TEXT], [TEXT]).loss
        threads = [threading.Thread(target=lambda h=head, m=less: got.update({h: m.score([TEXT], [TEXT]).loss}))
                   for head, less in models.items()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(got, wanted)

    def test_refused(self):
        less = self.model.without_heads(HEAD)
        with self.assertRaisesRegex(rapt.NotFoundError, "did you mean"):
            self.model.without_heads("decoder.0.cross_atention.1")
        with self.assertRaises(TypeError):
            self.model.without_heads(3)
        with self.assertRaisesRegex(rapt.InvalidValueError, "is not saved"):
            less.save(support.SCRATCH / "never")
        with self.assertRaisesRegex(rapt.InvalidValueError, "is not exported"):
            less.export(support.SCRATCH / "never", "hf")
        with self.assertRaisesRegex(rapt.InvalidValueError, "no gradients"):
            less.explain(TEXT, gradients=True)

    def test_lives_on_the_whole_model(self):
        model = rapt.Model.load(self.model.folder)
        less = model.without_heads(HEAD)
        with self.assertRaises(BufferError):
            model.close()
        text = less.translate(TEXT).text
        del model
        self.assertEqual(less.translate(TEXT).text, text)
        less.close()
        with self.assertRaises(ValueError):
            less.heads


if __name__ == "__main__":
    unittest.main()
