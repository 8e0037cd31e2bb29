from gpu import thread_idx, block_idx

fn add(x: UnsafePointer[Float32], out: UnsafePointer[Float32], size: Int):
    var i = block_idx.x * 256 + thread_idx.x
    if i < size:
        out[i] = x[i] + 1
