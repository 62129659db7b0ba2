"""The roofline: the peaks of a device, and how far ops are from them."""
