package mlxbridge

/*
#include <fulmen_mlx.h>
*/
import "C"

import "runtime"

// Version is MLX's version: "0.32.4".
func Version() string { return C.GoString(C.fmlx_version()) }

// BuildInfo says what this process computes with.
type BuildInfo struct {
	// Version is MLX's version.
	Version string
	// Backends are those that can compute here: cpu, metal, cuda.
	Backends []string
	// Distributed are the communication backends that can be used here: ring,
	// jaccl, nccl, mpi.
	Distributed []string
	// Compiler is the C++ compiler that built the binding, with its version.
	Compiler string
	BLAS     BLAS
}

// BLAS is the library that MLX's matrix products on the CPU go to. What is not
// known is empty, or nil.
type BLAS struct {
	// Library is the path of the shared object that is bound; on macOS the
	// Accelerate framework's.
	Library string
	// Config is OpenBLAS's own description, if that is what is bound.
	Config string
	// Threads is how many threads OpenBLAS uses.
	Threads *int
}

// Build describes the MLX that this process is bound to.
func Build() (BuildInfo, error) {
	info := BuildInfo{
		Version:  Version(),
		Backends: []string{"cpu"},
		Compiler: C.GoString(C.fmlx_compiler()),
	}
	if C.fmlx_has_metal() {
		info.Backends = append(info.Backends, "metal")
	}
	if C.fmlx_has_cuda() {
		info.Backends = append(info.Backends, "cuda")
	}
	for _, backend := range []string{"ring", "jaccl", "nccl", "mpi"} {
		if Available(backend) {
			info.Distributed = append(info.Distributed, backend)
		}
	}
	var blas C.fmlx_blas
	var text *C.char
	if rc := C.fmlx_blas_bound(&blas, &text); rc != C.FMLX_OK {
		return BuildInfo{}, failure("blas", rc, text)
	}
	info.BLAS = BLAS{
		Library: C.GoString(&blas.library[0]),
		Config:  C.GoString(&blas.config[0]),
	}
	if runtime.GOOS == "darwin" && info.BLAS.Library == "" {
		info.BLAS.Library = "Accelerate"
	}
	if blas.threads > 0 {
		n := int(blas.threads)
		info.BLAS.Threads = &n
	}
	return info, nil
}
