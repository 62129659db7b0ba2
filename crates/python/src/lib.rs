//! stepscope._core
