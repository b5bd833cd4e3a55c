// Package shim compiles the C++ between Go and MLX. It owns the C interface in
// fulmen_mlx.h and the flags that find MLX under build/mlx/current; it has no Go
// interface. Package mlxbridge is the one to use.
//
// The run path is written twice: as the build tree's own place, for tests, and
// relative to the binary, for build/bin. On macOS a path that begins with an @
// sign is refused by the go command here, so the Makefile passes
// -Wl,-rpath,@executable_path/../Resources/mlx for the application's bundle.
package shim

/*
#cgo CXXFLAGS: -std=c++20 -O2 -Wall -Wextra -Wno-unused-parameter
#cgo CXXFLAGS: -isystem ${SRCDIR}/../../build/mlx/current/mlx/include
#cgo LDFLAGS: -L${SRCDIR}/../../build/mlx/current/mlx/lib -lmlx
#cgo LDFLAGS: -Wl,-rpath,${SRCDIR}/../../build/mlx/current/mlx/lib
#cgo linux LDFLAGS: -Wl,-rpath,$ORIGIN/../mlx/current/mlx/lib -ldl
*/
import "C"
