"""Memory: who holds it, when it peaks, how long tensors live, and what would lower the peak."""
