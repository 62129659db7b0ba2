"""Profiles from jobs that run: a client of the profiler servers of TensorFlow and JAX.

messages    what is asked and answered, as bytes of protocol buffers
client      many servers asked at the same moment (needs grpcio, the extra "grpc")
recording   what they answered, as a folder that TensorBoard and stepscope read
"""
