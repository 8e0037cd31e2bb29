import tensorflow as tf

def build():
    return tf.keras.Sequential([tf.keras.layers.Dense(2048, activation="gelu")])
