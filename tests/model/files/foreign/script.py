import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("model")
x = torch.randint(0, 1000, (1, 128))
y = model(x)
