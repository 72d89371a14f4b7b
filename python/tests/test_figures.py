"""What a notebook shows: well-formed, small, without a network, in the colors of a light or a dark page."""
import unittest
import xml.etree.ElementTree as xml

import rapt
from rapt import nn
import support


def parsed(page):
    """The elements of a page that is XML but for &times;."""
    return list(xml.fromstring(f"<div>{page.replace('&times;', 'x')}</div>").iter())


class Figures(unittest.TestCase):
    def check_cell(self, page):
        self.assertLess(len(page), 100_000)
        elements = parsed(page)
        for element in elements:
            for name, value in element.attrib.items():
                if name.endswith(("href", "src")):
                    self.assertTrue(value.startswith(("data:", "#")), value[:60])
            self.assertNotIn("script", element.tag)
            if element.tag == "summary": # style sheets of the classic notebook make it a block, which has no triangle
                self.assertIn("display:list-item", element.get("style", ""))
        return elements

    def pictures(self, page):
        return sum(element.tag.endswith("svg") for element in self.check_cell(page))

    def test_arrays(self):
        shapes = {(): 0, (3,): 0, (2, 3): 1, (2, 2, 3): 2, (2, 3, 2, 3): 6, (3, 4, 5, 6): 8, (300, 400): 1}
        for shape, count in shapes.items():
            size = 1
            for n in shape:
                size *= n
            array = nn.tensor([float(i) for i in range(size)]).reshape(*shape) if shape else nn.tensor(2.0)
            self.assertEqual(self.pictures(array._repr_html_()), count, shape)

    def test_what_is_not_finite(self):
        page = nn.tensor([[float("nan"), 1.0], [float("inf"), 2.0]])._repr_html_()
        self.check_cell(page)
        self.assertIn("max 2, 2 not finite", page)
        self.check_cell(nn.tensor([[float("nan")]])._repr_html_())

    def test_names_are_texts(self):
        page = nn.tensor([[0.0, 1.0]]).heatmap(["<b>&"], ["\u6211", "\"'"])
        texts = [element.text for element in self.check_cell(page) if element.tag.endswith("text")]
        self.assertIn("<b>&", texts)
        self.assertIn("\u6211", texts)
        self.assertIn("currentColor", page)
        with self.assertRaises(ValueError):
            nn.tensor([[0.0, 1.0]]).heatmap(["a", "b"])
        with self.assertRaises(TypeError):
            nn.tensor([[0.0, 1.0]]).heatmap("a")
        with self.assertRaises(ValueError):
            nn.tensor([0.0, 1.0]).heatmap()
        with self.assertRaisesRegex(ValueError, "2 dimensions, not 3: index one matrix"):
            nn.tensor([[[0.0, 1.0]]]).heatmap()
        self.assertIn("<b>Tensor</b>", nn.tensor([[0.0, 1.0]])._repr_html_())
        self.assertIn("<b>Array</b>", nn.tensor([[0.0, 1.0]]).argmax()._repr_html_())

    def test_models(self):
        model = rapt.Model.load(support.translator())
        translation = model.translate("Where are my keys?", alignment=True, tokens=True)
        weight = model.parameters["encoder.embedding.weight"]
        for shown in (model, translation, model.translate("Go."), model.explain("Go."), weight):
            self.check_cell(shown._repr_html_())
        self.assertGreaterEqual(self.pictures(translation._repr_html_()), 1)


if __name__ == "__main__":
    unittest.main()
