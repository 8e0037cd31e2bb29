"""What public/python/fuseline.py saves of small models, as the command line of this project reads it. Needs torch alone:

    python -m unittest discover tests/python

The command line is target/debug/fuseline, or the program that FUSELINE names.
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn
from torch.export import Dim

ROOT = Path(__file__).resolve().parents[2]
COMMAND_LINE = os.environ.get("FUSELINE") or str(ROOT / "target" / "debug" / "fuseline")
sys.path.append(str(ROOT / "public" / "python"))

import fuseline


def statements(text: str) -> list[str]:
    """The lines of a text without comments and indentation."""
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return [re.sub(r"\s+", " ", line) for line in lines if line]


def read(command: str, path: Path) -> str:
    """What the command line says of a file that is fine."""
    done = subprocess.run([COMMAND_LINE, command, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


class ExportTest(unittest.TestCase):
    def export(self, model, *inputs, opaque=(), **kwargs) -> str:
        """The program of a model, in which these operators alone are unknown."""
        with tempfile.TemporaryDirectory() as folder:
            path = fuseline.export(model, *inputs, path=Path(folder, "model.pt2"), **kwargs)
            self.size = path.stat().st_size
            text = read("notation", path)
            read("analyze", path)
        self.assertEqual(set(re.findall(r"opaque\(.*?name=([^,)]*)", text)), set(opaque), text)
        return text

    def assertWritten(self, text: str, *expected: str) -> None:
        """Each expected statement is one of the text, in this order."""
        found = iter(statements(text))
        for line in expected:
            self.assertIn(line, found, f"in this order in\n{text}")

    def test_a_function(self):
        def scale_and_add(x, y, factor=2.0):
            product = x * factor
            return product + y

        text = self.export(scale_and_add, torch.zeros(4, 8), torch.zeros(8), factor=0.5)
        self.assertEqual(
            statements(text),
            [
                "input x : f32[4, 8]",
                "input y : f32[8]",
                "product = mul(x, 0.5) : f32[4, 8]",
                "add = add(product, y) : f32[4, 8]",
            ],
        )
        self.assertIn("# test_fuseline.py:", text)
        self.assertIn(": product = x * factor\n", text)

    def test_a_file_is_small_and_has_no_weight(self):
        self.export(nn.Linear(1000, 1000), torch.zeros(2, 1000))
        self.assertLess(self.size, 2000)

    def test_dynamic_shapes_are_params_with_ranges(self):
        model = nn.Linear(16, 32)
        batch = Dim("batch", min=2, max=64)
        text = self.export(model, torch.zeros(8, 3, 16), dynamic_shapes=({0: batch, 1: Dim.DYNAMIC},))
        self.assertWritten(
            text,
            "param batch = 8 in 2..64",
            "param input_size1 = 3 in 2..48",
            "input input : f32[batch, input_size1, 16]",
            "linear = linear(input, weight, bias) : f32[batch, input_size1, 32]",
        )

    def test_sizes_are_expressions_over_params(self):
        def double(x):
            return torch.cat([x, x], dim=0).reshape(-1)

        text = self.export(double, torch.zeros(6, 5), dynamic_shapes=({0: Dim("n", min=2, max=100)},))
        self.assertWritten(
            text,
            "cat = concat(x, x, axis=0) : f32[2*n, 5]",
            "reshape = reshape(cat) : f32[10*n]",
        )

    def test_half_of_a_dynamic_size(self):
        def halves(x):
            first, second = x.chunk(2)
            return first + second

        half = Dim("half", min=2, max=50)
        text = self.export(halves, torch.zeros(12, 5), dynamic_shapes=({0: 2 * half},))
        self.assertWritten(text, "param half = 6 in 2..50", "input x : f32[2*half, 5]")
        self.assertIn("add = add(first, second) : f32[half, 5]", statements(text))

    def test_tied_weights_are_one(self):
        class Tied(nn.Module):
            def __init__(self):
                super().__init__()
                self.embed = nn.Embedding(100, 16)
                self.head = nn.Linear(16, 100, bias=False)
                self.head.weight = self.embed.weight

            def forward(self, index):
                return self.head(self.embed(index))

        text = self.export(Tied(), torch.zeros(4, dtype=torch.int64))
        self.assertEqual(sum(line.startswith("weight") for line in statements(text)), 1)
        self.assertWritten(
            text,
            "weight head.weight : f32[100, 16]",
            "embed = embedding(index, head.weight) : f32[4, 16]",
            "head = linear(embed, head.weight) : f32[4, 100]",
        )

    def test_views_move_nothing_and_copies_are_copies(self):
        def heads(x):
            split = x.view(4, 2, 8).transpose(0, 1)
            return split.contiguous().view(2, 32)[:, ::2][0]

        self.assertWritten(
            self.export(heads, torch.zeros(4, 16)),
            "reshape = reshape(x) : f32[4, 2, 8]",
            "split = transpose(reshape, perm=[1, 0, 2]) : f32[2, 4, 8]",
            "contiguous = contiguous(split) : f32[2, 4, 8]",
            "reshape_2 = reshape(contiguous) : f32[2, 32]",
            "slice = slice(reshape_2, start=0, end=32, step=2, axis=1) : f32[2, 16]",
        )

    def test_ops_in_place_are_ops(self):
        def forward(x):
            y = x + 1
            y.mul_(3)
            y[0] = 0
            return y

        text = self.export(forward, torch.zeros(4, 4))
        self.assertWritten(text, "y = add(x, 1) : f32[4, 4]", "mul = mul(y, 3) : f32[4, 4]")
        self.assertTrue(any("concat(" in line for line in statements(text)), text)

    def test_a_cache_that_is_no_buffer_is_written_in_place(self):
        class Step(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer, self.caches = nn.Linear(4, 4), [torch.zeros(8, 4)]
                self.register_buffer("same", self.caches[0], persistent=False)

            def forward(self, x, at):
                self.caches[0].index_copy_(0, at, self.layer(x))
                return self.caches[0].sum()

        text = self.export(Step(), torch.randn(1, 4), torch.arange(1))
        self.assertEqual(text.count("= index_copy_("), 1, text)

    def test_constants_are_inputs_that_say_so(self):
        table = torch.tensor([1.0, 2.0, 3.0, 4.0])

        def forward(x):
            return x * table + torch.tensor([2.0])

        text = self.export(forward, torch.zeros(4))
        self.assertEqual(sum(line.startswith("input constant") for line in statements(text)), 2, text)
        self.assertEqual(sum(line.startswith("input") for line in statements(text)), 3, text)

    def test_an_unknown_operator_is_opaque(self):
        def forward(x):
            spectrum = torch.fft.rfft(x)
            return spectrum.abs() + 1

        # Complex numbers are two in a last dimension.
        self.assertWritten(
            self.export(forward, torch.zeros(4, 8), opaque=["aten._fft_r2c"]),
            "spectrum = opaque(x, name=aten._fft_r2c) : f32[4, 5, 2]",
            "square = square(spectrum)",
            "add = add(sqrt, 1) : f32[4, 5]",
        )

    def test_a_transposed_convolution_is_a_product_of_its_length(self):
        model = nn.ConvTranspose2d(8, 4, 2, stride=2, bias=False)
        self.assertIn("matmul(input, weight, k=8) : f32[1, 4, 20, 20]", self.export(model, torch.zeros(1, 8, 10, 10)))

    def test_a_size_that_only_data_tell_is_a_param(self):
        def chosen(x):
            return x[x[:, 0] > 0].exp()

        self.assertWritten(
            self.export(chosen, torch.randn(50, 16), opaque=["aten.nonzero"]),
            "param size_u0 = 50 in 1..50",
            "index = index(x, nonzero) : f32[size_u0, 16]",
            "exp = exp(index) : f32[size_u0, 16]",
        )

    def test_several_results_of_an_unknown_operator_are_one_op(self):
        def decompose(x):
            q, r = torch.linalg.qr(x)
            return q.exp(), r.exp()

        text = self.export(decompose, torch.randn(8, 4), opaque=["aten.linalg_qr"])
        self.assertWritten(text, "linalg_qr = opaque(x, name=aten.linalg_qr) : f32[48]")
        self.assertEqual(text.count("opaque("), 1, text)

    def test_bags_of_rows_read_rows(self):
        bags = nn.EmbeddingBag(1000, 64, mode="sum")
        self.assertWritten(
            self.export(bags, torch.randint(0, 1000, (96,)), torch.arange(0, 96, 3)),
            "embedding = embedding(input, weight)",
            "reduction = reduction(embedding, offsets) : f32[32, 64]",
        )

    def test_products_of_small_integers_are_products(self):
        a, b = (torch.ones(32, 64, dtype=torch.int8) for _ in range(2))
        text = self.export(lambda a, b: torch._int_mm(a, b.t()), a, b)
        self.assertIn("matmul(a, transpose) : i32[32, 32]", text)

    def test_keyword_arguments_and_numbers(self):
        class Masked(nn.Module):
            def forward(self, x, *, mask, count=3):
                return x.masked_fill(mask, float("-inf")) * count

        text = self.export(Masked(), torch.zeros(4, 4), mask=torch.zeros(4, 4, dtype=torch.bool))
        self.assertWritten(text, "input x : f32[4, 4]", "input mask : bool[4, 4]")
        self.assertIn("-inf", text)

    def test_tuples_and_dictionaries_of_results(self):
        def forward(pair):
            a, b = pair
            total = a + b
            return {"total": total, "rest": (total.relu(), a)}

        text = self.export(forward, (torch.zeros(4), torch.zeros(4)))
        # A result that ops read, too, is said to be one; an input that is returned is none.
        self.assertWritten(text, "total = add(pair_0, pair_1) : f32[4]", "output total")
        self.assertEqual(text.count("output "), 1)

    def test_integer_inputs(self):
        def forward(index, x):
            return x[index] + torch.arange(3)

        text = self.export(forward, torch.zeros(3, dtype=torch.int64), torch.zeros(10))
        self.assertWritten(text, "input index : i64[3]", "input x : f32[10]")
        self.assertTrue(any("index(x, index)" in line for line in statements(text)), text)
        self.assertTrue(any("cast(" in line and "dtype=f32" in line for line in statements(text)), text)

    def test_split_and_chunk(self):
        def forward(x):
            q, k, v = x.chunk(3, dim=-1)
            small, large = v.split([1, 3], dim=-1)
            return q + k, small, large

        self.assertWritten(
            self.export(forward, torch.zeros(2, 12)),
            "q = split(x, parts=3, index=0, axis=1) : f32[2, 4]",
            "k = split(x, parts=3, index=1, axis=1) : f32[2, 4]",
            "v = split(x, parts=3, index=2, axis=1) : f32[2, 4]",
            "small = slice(v, start=0, end=1, axis=1) : f32[2, 1]",
            "large = slice(v, start=1, end=4, axis=1) : f32[2, 3]",
        )

    def test_names_that_collide(self):
        class Shadow(nn.Module):
            def __init__(self):
                super().__init__()
                self.x = nn.Linear(4, 4, bias=False)
                self.layers = nn.ModuleDict({"my-layer": nn.ReLU()})

            def forward(self, x):
                return self.layers["my-layer"](self.x(x))

        self.assertWritten(
            self.export(Shadow(), torch.zeros(2, 4)),
            "input x : f32[2, 4]",
            "weight x.weight : f32[4, 4]",
            "x_2 = linear(x, x.weight) : f32[2, 4]",
            "layers.my.layer = relu(x_2) : f32[2, 4]",
        )

    def test_a_stack_of_layers_is_one_block(self):
        class Layer(nn.Module):
            def __init__(self):
                super().__init__()
                self.norm = nn.LayerNorm(8)
                self.fc = nn.Linear(8, 8)

            def forward(self, x):
                return x + self.fc(self.norm(x))

        model = nn.Sequential(nn.Linear(4, 8), nn.ModuleDict({"layers": nn.Sequential(*(Layer() for _ in range(5)))}))
        model.forward = lambda x: model[1]["layers"](model[0](x)).relu()
        text = self.export(model, torch.zeros(2, 4))
        self.assertWritten(
            text,
            "v0 = linear(x, v0.weight, v0.bias) : f32[2, 8]",
            "repeat 5 with v0 = layers {",
            "weight norm.weight : f32[8]",
            "weight fc.bias : f32[8]",
            "norm = layer_norm(v0, norm.weight, norm.bias, eps=1e-5) : f32[2, 8]",
            "fc = linear(norm, fc.weight, fc.bias) : f32[2, 8]",
            "layers = add(v0, fc) : f32[2, 8]",
            "}",
            "relu = relu(layers) : f32[2, 8]",
        )
        self.assertEqual(text.count("layer_norm("), 1)

    def test_layers_whose_results_are_read_later_are_no_block(self):
        layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))

        class Skips(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = layers

            def forward(self, x):
                first = self.layers[0](x)
                return self.layers[2](self.layers[1](first)) + first

        text = self.export(Skips(), torch.zeros(2, 8))
        self.assertWritten(
            text,
            "layers.0 = linear(x, layers.0.weight, layers.0.bias) : f32[2, 8]",
            "repeat 2 with layers.0 = layers {",
        )
        self.assertTrue(any("layers, layers.0)" in line for line in statements(text)), text)

    def test_the_results_of_every_layer(self):
        class Kept(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))

            def forward(self, x):
                kept = []
                for layer in self.layers:
                    x = layer(x)
                    kept.append(x)
                return tuple(kept)

        self.assertWritten(self.export(Kept(), torch.zeros(2, 8)), "repeat 3 with x = layers {", "output layers", "}")

    def test_a_module_that_is_used_twice(self):
        class Twice(nn.Module):
            def __init__(self):
                super().__init__()
                self.block = nn.Linear(8, 8)

            def forward(self, x):
                return self.block(self.block(x))

        text = self.export(Twice(), torch.zeros(2, 8))
        self.assertWritten(
            text,
            "weight block.weight : f32[8, 8]",
            "repeat 2 with x = block {",
            "block = linear(x, block.weight, block.bias) : f32[2, 8]",
        )

    def test_dropout_in_training_and_not(self):
        model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.25))
        training = self.export(model.train(), torch.zeros(2, 4))
        self.assertTrue(any("dropout(" in line and "p=0.25" in line for line in statements(training)), training)
        self.assertFalse(any("dropout(" in line for line in statements(self.export(model.eval(), torch.zeros(2, 4)))))

    def test_batch_norm_in_training_and_not(self):
        model = nn.BatchNorm2d(3)
        training = self.export(model.train(), torch.zeros(2, 3, 4, 4))
        self.assertTrue(any("training=true" in line for line in statements(training)), training)
        text = self.export(model.eval(), torch.zeros(2, 3, 4, 4))
        self.assertTrue(
            any("batch_norm(input, running_mean, running_var, weight, bias" in line for line in statements(text)), text
        )
        self.assertNotIn("num_batches_tracked", text)

    def test_attention_by_hand_has_its_authors_names(self):
        def attention(q, k, v):
            attn_scores = torch.matmul(q, k.transpose(-2, -1))
            attn_probs = F.softmax(attn_scores / 8, dim=-1)
            return attn_probs @ v

        heads = torch.zeros(2, 4, 16, 64)
        text = self.export(attention, heads, heads.clone(), heads.clone())
        self.assertWritten(
            text,
            "transpose = transpose(k, perm=[0, 1, 3, 2]) : f32[2, 4, 64, 16]",
            "attn_scores = matmul(q, transpose) : f32[2, 4, 16, 16]",
            "div = div(attn_scores, 8) : f32[2, 4, 16, 16]",
            "attn_probs = softmax(div, axis=-1) : f32[2, 4, 16, 16]",
            "matmul = matmul(attn_probs, v) : f32[2, 4, 16, 64]",
        )

    def test_attention_stays_one_op(self):
        def attention(q, k, v):
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)

        heads = torch.zeros(2, 4, 16, 64)
        text = self.export(attention, heads, heads.clone(), heads.clone())
        self.assertIn("attention = sdpa(q, k, v, causal=true) : f32[2, 4, 16, 64]", statements(text))

    def test_a_convolution_of_one_dimension(self):
        text = self.export(nn.Conv1d(4, 8, 3, stride=2, padding=1), torch.zeros(2, 4, 20))
        self.assertWritten(text, "conv1d = conv1d(input, weight, bias, stride=2, padding=1) : f32[2, 8, 10]")

    def test_variances_over_all_elements(self):
        def forward(x):
            return x.var(-1, unbiased=False)

        written = statements(self.export(forward, torch.zeros(4, 8)))
        self.assertEqual(written[1:], ["var = var(x, axis=1, keepdim=false)", "mul = mul(var, 0.875) : f32[4]"])

    def test_padding_by_name(self):
        def forward(x, w):
            return F.conv2d(x, w, padding="same")

        text = self.export(forward, torch.zeros(1, 2, 8, 8), torch.zeros(4, 2, 3, 3))
        self.assertWritten(text, "conv2d = conv2d(x, w, padding=1) : f32[1, 4, 8, 8]")

    def test_keys_that_are_broadcast_are_expanded(self):
        text = self.export(
            F.scaled_dot_product_attention, torch.zeros(2, 4, 8, 16), torch.zeros(1, 4, 8, 16), torch.zeros(1, 4, 8, 16)
        )
        self.assertEqual(sum("expand" in line.split(" = ")[0] for line in statements(text)), 2)

    def test_an_extreme_of_all_keeps_dimensions_by_a_reshape(self):
        def forward(x):
            return x.argmax(keepdim=True)

        self.assertWritten(
            self.export(forward, torch.zeros(3, 8)),
            "argmax = argmax(reshape, axis=0, keepdim=false)",
            "reshape_2 = reshape(argmax) : i64[1, 1]",
        )

    def test_a_step_of_training_is_traced_by_its_ops(self):
        def step(weight, x, y):
            gradient = torch.func.grad(lambda w: F.mse_loss(x @ w, y))(weight)
            return weight - 0.1 * gradient

        text = self.export(step, torch.randn(4, 2), torch.randn(8, 4), torch.randn(8, 2))
        self.assertEqual(text.count("= matmul("), 2, text)

    def test_what_cannot_be_traced_says_what_to_change(self):
        def forward(x):
            return x + 1 if x.sum() > 0 else x - 1

        with self.assertRaisesRegex(fuseline.ExportError, "torch.where or torch.cond"):
            fuseline.export(forward, torch.randn(4))

    def test_flex_attention_is_attention(self):
        from torch.nn.attention.flex_attention import flex_attention

        def forward(q, k, v):
            return flex_attention(q, k, v, score_mod=lambda score, b, h, i, j: score + (i - j) * 0.1)

        self.assertIn("= sdpa(q, k, v, ", self.export(forward, *torch.randn(3, 1, 2, 128, 16)))

    def test_what_the_notation_means_otherwise_has_the_cost_of_its_kind(self):
        x, bias = torch.zeros(2, 4, 8, 8), torch.zeros(4)
        cases = {
            "reduction(": lambda x, b: F.avg_pool2d(x, 3, 1, 1, count_include_pad=False) + b[0],
            "reduction(x": lambda x, b: F.max_pool2d(x, 3, 2, ceil_mode=True),
            "elementwise(": lambda x, b: torch.atan2(x, b[0]),
        }
        for written, forward in cases.items():
            with self.subTest(written):
                self.assertIn(written, self.export(forward, x, bias))

    def test_types_are_promoted_by_casts(self):
        def forward(x, y):
            return x + y

        text = self.export(forward, torch.zeros(4, dtype=torch.float16), torch.zeros(4))
        self.assertWritten(text, "cast = cast(x, dtype=f32)", "add = add(cast, y) : f32[4]")

    def test_what_is_not_read_is_not_written(self):
        def forward(x):
            torch.exp(x)
            return x.relu() / 1

        self.assertEqual(
            statements(self.export(forward, torch.zeros(4))), ["input x : f32[4]", "relu = relu(x) : f32[4]"]
        )

    def test_an_exported_program(self):
        exported = torch.export.export(nn.Linear(4, 4).eval(), (torch.zeros(2, 4),), strict=False)
        self.assertWritten(self.export(exported), "linear = linear(input, weight, bias) : f32[2, 4]")

    def test_the_meta_device(self):
        with torch.device("meta"):
            model, x = nn.Linear(2**20, 2**20), torch.zeros(1, 2**20)
        self.assertWritten(self.export(model, x), "weight weight : f32[1048576, 1048576]")


if __name__ == "__main__":
    unittest.main()
