package machine

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// BLASVariable is the environment's say: "reference" keeps the BLAS that came with
// MLX, a path preloads that library; unset, OpenBLAS is looked for.
const BLASVariable = "FULMEN_BLAS"

const library = "libopenblas.so.0"

// folders is where Linux systems keep this processor's libraries: Debian and
// its kin, then the others.
func folders() []string {
	triple := map[string]string{"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}[runtime.GOARCH]
	return []string{"/usr/lib/" + triple, "/usr/lib64", "/usr/lib", "/usr/local/lib"}
}

// PreferBLAS starts the running program once more, in its place, with OpenBLAS
// before MLX's own. It returns where that was done already, is not wanted, or
// cannot be: then MLX computes with the BLAS that it has.
//
// MLX's wheels for Linux carry the reference BLAS: measured on float32 matrix
// products of n = 1024 on two cores, 5 GFLOPS, where OpenBLAS gives 159 to
// 200. The loader binds a symbol to the first library that has it, so a
// preloaded OpenBLAS takes the calls. It is preloaded rather than linked, so
// that the worker starts where there is none.
func PreferBLAS() error {
	environment, changed := preload(os.Environ(), find)
	if !changed {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return syscall.Exec(self, os.Args, environment)
}

// find gives the path of the system's OpenBLAS, or "".
func find() string {
	for _, folder := range folders() {
		path := filepath.Join(folder, library)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}

// preload gives the environment in which the program is to run, and whether
// that differs from what it has.
func preload(environment []string, find func() string) ([]string, bool) {
	var want, already string
	rest := make([]string, 0, len(environment)+2)
	for _, entry := range environment {
		name, value, _ := strings.Cut(entry, "=")
		switch name {
		case BLASVariable:
			want = value
		case "LD_PRELOAD":
			already = value
		default:
			rest = append(rest, entry)
		}
	}
	// A BLAS that somebody preloads, and the mark of this function's own last
	// time, are both left alone.
	if want == "reference" || strings.Contains(already, "blas") || strings.Contains(already, "mkl") {
		return environment, false
	}
	path := want
	if path == "" {
		path = find()
	}
	if path == "" {
		return environment, false
	}
	if already != "" {
		path += ":" + already
	}
	// The mark keeps a library whose name says nothing from being preloaded
	// for ever.
	return append(rest, "LD_PRELOAD="+path, BLASVariable+"=reference"), true
}
