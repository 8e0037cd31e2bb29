#include <cuda_fp16.h>

__device__ float maximum(float a, float b) {
    return isnan(a) || a > b ? a : b;
}

// fused_r<<<75, 256>>>(...)
extern "C" __global__ void __launch_bounds__(256) fused_r(
    const __half* __restrict__ x_data,
    const float* __restrict__ b_data,
    float* __restrict__ r_data) {
    const int element = blockIdx.x * 256 + threadIdx.x;
    const float x = __half2float(x_data[element]);
    const float b = b_data[element % 300];
    const float y = x + b;
    const float r = maximum(y, 0.0f);
    r_data[element] = r;
}

__device__ float maximum(float a, float b) {
    return isnan(a) || a > b ? a : b;
}

__device__ float sum_of_row(float value) {
    __shared__ float partial[256];
    partial[threadIdx.x] = value;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            partial[threadIdx.x] = partial[threadIdx.x] + partial[threadIdx.x + half];
        }
        __syncthreads();
    }
    const float result = partial[0];
    __syncthreads();
    return result;
}

__device__ float maximum_of_row(float value) {
    __shared__ float partial[256];
    partial[threadIdx.x] = value;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            partial[threadIdx.x] = maximum(partial[threadIdx.x], partial[threadIdx.x + half]);
        }
        __syncthreads();
    }
    const float result = partial[0];
    __syncthreads();
    return result;
}

// fused_p<<<64, 256>>>(...)
extern "C" __global__ void __launch_bounds__(256) fused_p(
    const float* __restrict__ r_data,
    float* __restrict__ p_data) {
    const int row = blockIdx.x;
    float kept_0[2] = {};
    float kept_1[2] = {};
    float own_largest = -INFINITY;
    for (int item = 0; item < 2; ++item) {
        const int column = item * 256 + threadIdx.x;
        if (column < 300) {
            const float r = r_data[row * 300 + column];
            kept_0[item] = r;
            own_largest = maximum(own_largest, r);
        }
    }
    const float largest = maximum_of_row(own_largest);
    float own_total = 0.0f;
    for (int item = 0; item < 2; ++item) {
        const int column = item * 256 + threadIdx.x;
        if (column < 300) {
            const float r = kept_0[item];
            const float value = expf(r - largest);
            kept_1[item] = value;
            own_total = own_total + value;
        }
    }
    const float total = sum_of_row(own_total);
    for (int item = 0; item < 2; ++item) {
        const int column = item * 256 + threadIdx.x;
        if (column < 300) {
            const float value = kept_1[item];
            const float p = value / total;
            p_data[row * 300 + column] = p;
        }
    }
}

#include <cuda_fp16.h>

// fused_g<<<2, 256>>>(...)
extern "C" __global__ void __launch_bounds__(256) fused_g(
    const float* __restrict__ p_data,
    const __half* __restrict__ w_data,
    __half* __restrict__ g_data) {
    __shared__ float left_tile[1024];
    __shared__ float right_tile[1024];
    const int batch = blockIdx.x / 2;
    const int first_row = blockIdx.x / 2 % 1 * 64;
    const int first_column = blockIdx.x % 2 * 64;
    float sums[16] = {};
    for (int first_k = 0; first_k < 300; first_k += 16) {
        for (int item = 0; item < 4; ++item) {
            const int place = item * 256 + threadIdx.x;
            const int row = first_row + place / 16;
            const int k3 = first_k + place % 16;
            float element = 0.0f;
            if (row < 64 && k3 < 300) {
                const float p = p_data[row * 300 + k3];
                element = p;
            }
            left_tile[place] = element;
        }
        for (int item = 0; item < 4; ++item) {
            const int place = item * 256 + threadIdx.x;
            const int column = first_column + place % 64;
            const int k3 = first_k + place / 64;
            float element = 0.0f;
            if (column < 128 && k3 < 300) {
                const float w = __half2float(w_data[k3 * 128 + column]);
                element = w;
            }
            right_tile[place] = element;
        }
        __syncthreads();
        for (int step = 0; step < 16; ++step) {
            for (int down = 0; down < 4; ++down) {
                const int tile_row = down * 16 + threadIdx.x / 16;
                for (int right = 0; right < 4; ++right) {
                    const int tile_column = right * 16 + threadIdx.x % 16;
                    sums[down * 4 + right] += left_tile[tile_row * 16 + step] * right_tile[step * 64 + tile_column];
                }
            }
        }
        __syncthreads();
    }
    for (int down = 0; down < 4; ++down) {
        const int tile_row = down * 16 + threadIdx.x / 16;
        for (int right = 0; right < 4; ++right) {
            const int tile_column = right * 16 + threadIdx.x % 16;
            const int row = first_row + tile_row;
            const int column = first_column + tile_column;
            if (row < 64 && column < 128) {
                const float z = sums[down * 4 + right];
                const float g = z * 0.5f * (tanhf((z + z * z * z * 0.044715f) * 0.7978846f) + 1.0f);
                g_data[row * 128 + column] = __float2half(g);
            }
        }
    }
}

