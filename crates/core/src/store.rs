//! Takes what decoders give, nests the slices, and keeps or hands out the tables.
