"""The models behind one small interface: `onnx` (CPU), `torch` (GPU), `tone` (for tests)."""
