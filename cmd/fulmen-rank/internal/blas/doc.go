// Package blas sees to it that MLX on a Linux CPU calls a fast BLAS.
//
// MLX's wheels for Linux carry the reference BLAS: measured on float32 matrix
// products of n = 1024 on two cores, 5 GFLOPS, where OpenBLAS gives 159 to
// 200. The loader binds a symbol to the first library that has it, so a
// preloaded OpenBLAS takes the calls. It is preloaded rather than linked, so
// that the worker starts where there is none.
package blas
