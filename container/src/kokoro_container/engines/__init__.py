"""The models behind one small interface: `onnx` (CPU), `tone` (a fast stand-in for tests)."""
