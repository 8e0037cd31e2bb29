import jax
import jax.numpy as jnp

def mlp(x, w):
    return jax.nn.relu(jnp.dot(x, w))
