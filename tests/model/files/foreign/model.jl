using Flux, CUDA
model = Chain(Dense(784 => 128, relu), Dense(128 => 10), softmax)
y = model(x)
