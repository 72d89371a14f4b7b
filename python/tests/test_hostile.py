"""Arguments that lie, and callbacks that call what has called them: they raise. fuzz_calls.py calls with many more."""
import ctypes
import unittest

import rapt
from rapt import nn, optim
import support


class Anything:
    """Has every attribute, as a mock."""

    def __getattr__(self, name):
        return self


class Items:
    def __init__(self, *items):
        self._items = items

    def items(self):
        return self._items


class Arguments(unittest.TestCase):
    def test_an_operand_with_every_attribute(self):
        tensor = nn.tensor([1.0, 2.0])
        for call in (lambda: Anything() + tensor, lambda: Anything() @ tensor, lambda: tensor * Anything()):
            with self.assertRaises(TypeError):
                call()

    def test_arrays_of_ctypes(self):
        self.assertEqual(nn.tensor((ctypes.c_float * 3)(1, 2, 3)).tolist(), [1.0, 2.0, 3.0])
        self.assertEqual(nn.tensor((ctypes.c_int * 2 * 2)((1, 2), (3, 4))).tolist(), [[1.0, 2.0], [3.0, 4.0]])
        self.assertEqual(nn.tensor(ctypes.c_double(.5)).tolist(), .5)
        with self.assertRaises(TypeError):
            nn.tensor((ctypes.c_int.__ctype_be__ * 2)(1, 2))

    def test_versions_of_dlpack(self):
        array = nn.tensor([1.0]).argmax()
        self.assertIn("dltensor", repr(array.__dlpack__(max_version=(-1, 0))))
        with self.assertRaises(TypeError):
            array.__dlpack__(max_version=(1,))

    def test_a_single_step_of_any_size(self):
        array = nn.tensor([[1.0, 2.0], [3.0, 4.0]]).argmax(axis=0)[::1 << 62]
        self.assertEqual((array.shape, array.tolist()), ((1,), [1]))

    def test_items_that_are_no_pairs(self):
        with rapt.Model.load(support.language_model(), threads=1) as model:
            for items, error in ((Items(1, 2), TypeError), (Items((1,)), TypeError), (Items((1, 2, 3)), TypeError)):
                with self.assertRaises(error):
                    model.generate("To", logit_bias=items)

    def test_numbers_of_open_files_are_no_paths(self):
        with self.assertRaises(TypeError):
            rapt.Html("<p>").save(1)
        with rapt.Model.load(support.translator(), threads=1) as model, self.assertRaises(TypeError):
            model.translate_file(0, support.SCRATCH / "out.txt")

    def test_bytes_that_can_change(self):
        tokenizer = rapt.Tokenizer.train_characters("abc")
        for text in (bytearray(b"cab"), memoryview(bytearray(b"cab")), memoryview(b"cab")):
            self.assertEqual(tokenizer.encode(text), tokenizer.encode("cab"))


class Callbacks(unittest.TestCase):
    def test_should_stop_that_translates(self):
        with rapt.Model.load(support.translator(), threads=1) as model:
            def again():
                model.translate("The cat")

            with self.assertRaisesRegex(rapt.InvalidValueError, "callback"):
                for _ in range(1000): # a short call never asks
                    model.translate(["The cat wants to sing."] * 64, should_stop=again)
            self.assertTrue(model.translate("The cat").hypotheses)

    def test_an_observer_that_trains(self):
        parameter, calls = nn.Parameter([1.0, 2.0]), []
        trainer = optim.SGD([parameter], .1)

        def train(name, formula, values, is_gradient):
            calls.append(is_gradient)
            if is_gradient:
                trainer.step()

        with nn.observe(train), nn.grad():
            loss = (parameter * parameter).sum()
            with self.assertRaisesRegex(rapt.InvalidValueError, "callback"):
                loss.backward()
        self.assertEqual(calls.count(True), 1) # it is not called again with an exception set


class Cycles(unittest.TestCase):
    def test_modules_that_are_parts_of_each_other(self):
        one, two = nn.Sequential(nn.Linear(2, 2)), nn.Sequential(nn.Linear(2, 2))
        one.other, two.other, one.again = two, one, one
        self.assertEqual(len(list(one.parameters())), 4)
        self.assertEqual(one(nn.tensor([[1.0, 2.0]])).shape, (1, 2))


if __name__ == "__main__":
    unittest.main()
