#include <torch/torch.h>

struct Net : torch::nn::Module {
    torch::nn::Linear up{nullptr};
    torch::Tensor forward(torch::Tensor x) { return torch::relu(up->forward(x)); }
};
