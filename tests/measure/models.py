"""Seven models as exported programs, and what PyTorch itself says of each.

    python tests/measure/models.py FOLDER [NAME...]              FOLDER/NAME.pt2 and .json, for tests/model/exported.rs
    python tests/measure/models.py --kernels OUT.json [NAME...]  kernels launched by a GPU, eager and compiled

The models are built by their configurations with random weights; nothing is downloaded. For the files they stand on the
meta device. Needs transformers, torchvision and diffusers.
"""

from __future__ import annotations

import functools
import json
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.export import Dim
from torch.utils.flop_counter import FlopCounterMode

sys.path.append(str(Path(__file__).resolve().parents[2] / "public" / "python"))

import fuseline

BATCH = Dim("B", min=1, max=256)
TOKENS = Dim("T", min=2, max=1024)


@dataclass
class Model:
    build: Callable[[], nn.Module]
    inputs: Callable[[], tuple[torch.Tensor, ...]]
    dynamic: tuple[dict[int, Any], ...] | None
    dtype: torch.dtype = torch.float32
    kwargs: dict[str, Any] = field(default_factory=dict)

    def make(self, device: str) -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
        with torch.device(device):
            inputs = self.inputs()
            module = self.build().eval().to(self.dtype)
        return module, tuple(x.to(self.dtype) if x.is_floating_point() else x for x in inputs)


def tokens(batch: int, length: int) -> tuple[torch.Tensor, ...]:
    return (torch.zeros(batch, length, dtype=torch.int64),)


def images(batch: int) -> tuple[torch.Tensor, ...]:
    return (torch.zeros(batch, 3, 224, 224),)


def gpt2() -> nn.Module:
    from transformers import GPT2Config, GPT2LMHeadModel

    return GPT2LMHeadModel(GPT2Config(use_cache=False))


def bert() -> nn.Module:
    from transformers import BertConfig, BertModel

    return BertModel(BertConfig())


def llama() -> nn.Module:
    """The sizes of Llama 3.2 1B."""
    from transformers import LlamaConfig, LlamaForCausalLM

    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=128256,
            hidden_size=2048,
            intermediate_size=8192,
            num_hidden_layers=16,
            num_attention_heads=32,
            num_key_value_heads=8,
            tie_word_embeddings=True,
            use_cache=False,
        )
    )


def mixtral() -> nn.Module:
    """Mixtral's layers at a quarter of its width, eight of them."""
    from transformers import MixtralConfig, MixtralForCausalLM

    return MixtralForCausalLM(
        MixtralConfig(
            hidden_size=1024,
            intermediate_size=3584,
            num_hidden_layers=8,
            num_attention_heads=16,
            num_key_value_heads=4,
            use_cache=False,
        )
    )


def vit() -> nn.Module:
    import torchvision

    return torchvision.models.vit_b_16()


def resnet50() -> nn.Module:
    import torchvision

    return torchvision.models.resnet50()


def unet() -> nn.Module:
    """The blocks of Stable Diffusion's UNet, with two levels instead of four."""
    from diffusers import UNet2DConditionModel

    return UNet2DConditionModel(
        sample_size=64,
        block_out_channels=(320, 640),
        layers_per_block=2,
        cross_attention_dim=768,
        attention_head_dim=8,
        down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
        up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"),
    )


def latents() -> tuple[torch.Tensor, ...]:
    return torch.zeros(2, 4, 64, 64), torch.zeros(2, dtype=torch.int64), torch.zeros(2, 77, 768)


MODELS = {
    "gpt2": Model(gpt2, lambda: tokens(4, 512), ({0: BATCH, 1: TOKENS},)),
    "bert": Model(bert, lambda: tokens(8, 256), ({0: BATCH, 1: Dim("T", min=2, max=512)},)),
    "llama": Model(llama, lambda: tokens(2, 1024), ({0: BATCH, 1: Dim("T", min=2, max=8192)},), torch.bfloat16),
    "mixtral": Model(mixtral, lambda: tokens(2, 512), None, torch.bfloat16),
    "vit": Model(vit, lambda: images(16), ({0: BATCH},)),
    "resnet50": Model(resnet50, lambda: images(32), ({0: BATCH},)),
    "unet": Model(unet, latents, None, torch.float16, {"return_dict": False}),
}


def grouped_mm_flops(a: torch.Size, b: torch.Size, *_: Any, out_shape: torch.Size, **__: Any) -> int:
    """PyTorch's counter has no formula for it: each row meets the matrix of its group."""
    return 2 * a[0] * a[1] * b[2]


def truth_of(module: nn.Module, inputs: tuple[torch.Tensor, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """What PyTorch says of a module, without the exporter. It runs on fake tensors, for which models skip what
    depends on data."""
    # The fast path of nn.MultiheadAttention is one operator, for which the counter has no formula.
    torch.backends.mha.set_fastpath_enabled(False)
    counter = FlopCounterMode(display=False, custom_mapping={torch.ops.aten._grouped_mm: grouped_mm_flops})
    # The counter has no formula for attention as a CPU runs it.
    by_products = torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH)
    with torch.no_grad(), by_products, FakeTensorMode(allow_non_fake_inputs=True):
        state = {**dict(module.named_parameters()), **dict(module.named_buffers())}
        state = {name: torch.empty_like(tensor, device="cpu") for name, tensor in state.items()}
        inputs = tuple(torch.empty_like(tensor, device="cpu") for tensor in inputs)
        with counter:
            torch.func.functional_call(module, state, inputs, kwargs)
    torch.backends.mha.set_fastpath_enabled(True)
    size = lambda tensors: sum(tensor.numel() * tensor.element_size() for tensor in tensors)  # noqa: E731
    return {
        "parameter_bytes": size(module.parameters()),
        "buffer_bytes": size(module.buffers()),
        "flops": counter.get_total_flops(),
    }


def write(folder: Path, name: str) -> None:
    model = MODELS[name]
    module, inputs = model.make("meta")
    truth = truth_of(module, inputs, model.kwargs)
    path = fuseline.export(
        module, *inputs, dynamic_shapes=model.dynamic, path=folder / f"{name}.pt2", **model.kwargs
    )
    row = {"torch": torch.__version__, **truth}
    (folder / f"{name}.json").write_text(json.dumps(row, indent=1) + "\n", encoding="utf-8")
    print(f"{name}: {path.stat().st_size} bytes, {row}", flush=True)


def launches(model: Model) -> dict[str, Any]:
    """The kernels of a call, eager and compiled."""
    from gpu import kernels_of

    module, inputs = model.make("cuda")
    rows = {}
    for variant, called in (("eager", module), ("inductor", torch.compile(module, dynamic=False))):
        call = functools.partial(called, *inputs, **model.kwargs)
        with torch.no_grad():
            for _ in range(2):
                call()
            torch.cuda.synchronize()
            names = kernels_of(call)
        rows[variant] = {"launches": len(names), "kernels": dict(Counter(name[:60] for name in names).most_common())}
    return rows


def kernels(out: Path, names: list[str]) -> None:
    """Launches of each model on the GPU. One that fails does not cost the others."""
    rows: dict[str, Any] = {}
    result = {"device": torch.cuda.get_device_name(), "torch": torch.__version__, "models": rows}
    for name in names:
        torch._dynamo.reset()
        torch.cuda.empty_cache()
        try:
            rows[name] = launches(MODELS[name])
            print(name, {variant: row["launches"] for variant, row in rows[name].items()}, flush=True)
        except Exception as problem:  # noqa: BLE001
            rows[name] = {"problem": f"{type(problem).__name__}: {problem}"[:400]}
            print(name, rows[name], flush=True)
        out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def main(first: str, *rest: str) -> None:
    if first == "--kernels":
        kernels(Path(rest[0]), list(rest[1:] or MODELS))
        return
    folder = Path(first)
    folder.mkdir(parents=True, exist_ok=True)
    for name in rest or MODELS:
        write(folder, name)


if __name__ == "__main__":
    main(*sys.argv[1:])
