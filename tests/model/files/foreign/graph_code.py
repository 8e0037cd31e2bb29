


def forward(self, x):
    linear_weight = self.linear.weight
    linear = torch.ops.aten.linear.default(x, linear_weight);  x = linear_weight = None
    relu = torch.ops.aten.relu.default(linear);  linear = None
    return relu
    
