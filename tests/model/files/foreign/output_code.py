# AOT ID: ['0_inference']
import torch
from torch._inductor.async_compile import AsyncCompile
aten = torch.ops.aten
async_compile = AsyncCompile()

triton_poi_fused_relu_0 = async_compile.triton('triton_poi_fused_relu_0', '''
import triton
import triton.language as tl

@triton.jit
def triton_poi_fused_relu_0(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xoffset = tl.program_id(0) * XBLOCK
''', device_str='cuda')

async_compile.wait(globals())
del async_compile

def call(args):
    arg0_1, = args
    args.clear()
    buf0 = empty_strided_cuda((8, 512), (512, 1), torch.float32)
    return (buf0, )
