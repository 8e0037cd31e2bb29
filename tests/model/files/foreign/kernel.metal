#include <metal_stdlib>
using namespace metal;

kernel void add(device const float* a [[buffer(0)]], device float* out [[buffer(1)]],
                uint i [[thread_position_in_grid]]) {
    out[i] = a[i] + 1.0f;
}
