"""Arrays as numbers, texts, buffers and pickles."""
import array
import copy
import pickle
import unittest

import rapt
from rapt import nn


class Arrays(unittest.TestCase):
    def test_one_element_is_a_number(self):
        x = nn.tensor([2.5])
        self.assertEqual((float(x), int(x), bool(x), f"{x:.2f}"), (2.5, 2, True, "2.50"))
        self.assertFalse(nn.tensor([0.0]))
        self.assertEqual(int(nn.tensor([1.0, 5.0, 2.0]).argmax()), 1)
        for call in (float, int, bool, lambda a: f"{a:.2f}"):
            with self.assertRaises(TypeError):
                call(nn.tensor([1.0, 2.0]))

    def test_inputs(self):
        self.assertEqual(nn.tensor(memoryview(array.array("Q", [2**64 - 1]))).tolist(), [float(2**64)])

        class Lies(list):
            def __len__(self):
                return 5

        self.assertEqual(nn.tensor(Lies([1.0])).tolist(), [1.0])
        with self.assertRaises(ValueError):
            nn.tensor(Lies()) # nothing, whatever its class says

    def test_slices_have_gaps(self):
        weight = nn.Linear(2, 2).state_dict()["weight"]
        column = weight[:, 0]
        self.assertEqual(memoryview(column).tolist(), [row[0] for row in weight.tolist()])
        self.assertFalse(memoryview(column).c_contiguous)
        self.assertEqual(memoryview(column).tobytes(), array.array("f", column.tolist()).tobytes())

    def test_pickles(self):
        layer = nn.Linear(3, 2)
        state = pickle.loads(pickle.dumps(layer.state_dict()))
        self.assertEqual({name: a.tolist() for name, a in state.items()},
                         {name: a.tolist() for name, a in layer.state_dict().items()})
        other = nn.Linear(3, 2)
        other.load_state_dict(state)
        self.assertEqual(other.weight.tolist(), layer.weight.tolist())
        self.assertEqual(copy.deepcopy(state["weight"]).tolist(), layer.weight.tolist())
        self.assertIs(type(state["weight"]), rapt.Array)
        with self.assertRaisesRegex(TypeError, "state_dict"):
            pickle.dumps(nn.tensor([1.0]))


if __name__ == "__main__":
    unittest.main()
