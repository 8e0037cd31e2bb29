#include "Halide.h"

int main() {
    Halide::Func blur_x, blur_y;
    Halide::Var x, y, xi, yi;
    blur_y.tile(x, y, xi, yi, 256, 32).vectorize(xi, 8).parallel(y);
    blur_x.compute_at(blur_y, x).vectorize(x, 8);
    return 0;
}
