use candle_core::{Result, Tensor};

fn forward(x: &Tensor, w: &Tensor) -> Result<Tensor> {
    let y = x.matmul(w)?;
    y.relu()
}
