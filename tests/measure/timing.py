"""Times that several measurements take in the same way."""

import time

import torch


def call_us(function, *arguments, calls=200):
    """Microseconds of one call, where calls follow each other."""
    for _ in range(30):
        function(*arguments)
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(calls):
        function(*arguments)
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / calls * 1e6
