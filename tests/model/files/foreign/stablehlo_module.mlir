#loc1 = loc("x")
module @jit_f attributes {mhlo.num_partitions = 1 : i32} {
  "func.func"() ({
    %0 = stablehlo.add %arg0, %arg1 : tensor<128x256xf32>
  })
}
