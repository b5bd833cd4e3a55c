// Command zigcc is the C and C++ compiler that the checks of the code for macOS
// name to the go command on Linux: zig, told of Apple's frameworks by this
// repository's own declarations and lists of names.
//
//	zigcc REPOSITORY cc|c++ ARGUMENT...
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

func main() {
	if len(os.Args) < 3 || (os.Args[2] != "cc" && os.Args[2] != "c++") {
		fmt.Fprintln(os.Stderr, "zigcc REPOSITORY cc|c++ ARGUMENT...")
		os.Exit(2)
	}
	root, err := filepath.Abs(os.Args[1])
	var asked []string
	if err == nil {
		asked, err = tree{root}.arguments(os.Args[2], os.Args[3:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "zigcc:", err)
		os.Exit(1)
	}
	zig := filepath.Join(root, "build/tools/zig/ziglang/zig")
	cache := filepath.Join(root, "build/cache/zig")
	environment := append(os.Environ(), "ZIG_GLOBAL_CACHE_DIR="+cache, "ZIG_LOCAL_CACHE_DIR="+cache)
	if err := syscall.Exec(zig, append([]string{zig}, asked...), environment); err != nil {
		fmt.Fprintf(os.Stderr, "zigcc: %s: %v; cmd/internal/deps/deps.sh darwin fetches it\n", zig, err)
		os.Exit(1)
	}
}
