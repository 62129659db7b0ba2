"""The roofline: what a device could do at most, and how far from that ops are."""
