package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

func main() {
	if len(os.Args) < 3 || (os.Args[2] != "cc" && os.Args[2] != "c++") {
		fmt.Fprintln(os.Stderr, "darwincheck REPOSITORY cc|c++ ARGUMENT...")
		os.Exit(2)
	}
	root, err := filepath.Abs(os.Args[1])
	var asked []string
	if err == nil {
		asked, err = tree{root}.arguments(os.Args[2], os.Args[3:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "darwincheck:", err)
		os.Exit(1)
	}
	zig := filepath.Join(root, "build/tools/zig/ziglang/zig")
	cache := filepath.Join(root, "build/cache/zig")
	environment := append(os.Environ(), "ZIG_GLOBAL_CACHE_DIR="+cache, "ZIG_LOCAL_CACHE_DIR="+cache)
	if err := syscall.Exec(zig, append([]string{zig}, asked...), environment); err != nil {
		fmt.Fprintf(os.Stderr, "darwincheck: %s: %v; cmd/internal/deps/deps.sh darwin fetches it\n", zig, err)
		os.Exit(1)
	}
}

// target is the oldest system that Fulmen runs on, in zig's words.
const target = "aarch64-macos.26.0"

// tree is the repository, by its path.
type tree struct{ root string }

// arguments gives what zig is called with for what the go command asks of a
// compiler: the language (cc or c++) and its arguments. A run path that is asked
// for twice is an error: zig's linker would quietly write it once, and what
// another linker writes depends on its version.
func (t tree) arguments(language string, asked []string) ([]string, error) {
	for i, argument := range asked {
		if strings.HasPrefix(argument, "-Wl,-rpath,") && slices.Contains(asked[:i], argument) {
			return nil, fmt.Errorf("%s stands there twice", argument)
		}
	}
	links := !slices.ContainsFunc(asked, staysApart)
	out := []string{language, "-target", target}
	if links {
		// By itself zig links its own libc++ into the program, whose exceptions
		// are not the types that MLX throws, and builds it first, for minutes.
		// Without standard libraries it links what is named here and no more.
		out[0] = "cc"
	}
	out = append(out, t.compiling(asked, links)...)
	if links {
		sdk := filepath.Join(t.root, "build/darwin/sdk")
		out = append(out, "-nostdlib", "-lSystem", "-L"+filepath.Join(sdk, "lib"), "-F"+filepath.Join(sdk, "Frameworks"))
		if language == "c++" {
			out = append(out, filepath.Join(sdk, "lib/libc++.tbd")) // by its path: zig takes -lc++ for its own
		}
	}
	return out, nil
}

// staysApart reports whether an argument says that nothing is linked.
func staysApart(argument string) bool {
	return argument == "-c" || argument == "-E" || argument == "-S" || argument == "-fsyntax-only" || argument == "-###" || argument == "--version"
}

// compiling gives the arguments that were asked for, with MLX as it is on a Mac
// in the place of this machine's, and each library once: Apple's linker loads a
// library once however often it is named, zig's does not, and macOS 26 refuses
// to start a program that loads one twice.
func (t tree) compiling(asked []string, links bool) []string {
	var out []string
	seen := map[string]bool{}
	for i := 0; i < len(asked); i++ {
		argument := asked[i]
		switch {
		case argument == "-arch":
			i++ // the target says it
			continue
		case argument == "-framework" && i+1 < len(asked):
			i++
			if !seen[asked[i]] {
				out = append(out, argument, asked[i])
			}
			seen[asked[i]] = true
			continue
		case strings.HasPrefix(argument, "-l"):
			if seen[argument] {
				continue
			}
			seen[argument] = true
		case !strings.HasPrefix(argument, "-Wl,"):
			argument = strings.Replace(argument, "/build/mlx/current/mlx/", "/build/tools/mlx-metal/mlx/", 1)
		}
		out = append(out, argument)
	}
	if !links {
		out = append(out, "-isystem", filepath.Join(t.root, "native/darwin/apple"),
			"-isystem", filepath.Join(t.root, "cmd/internal/darwincheck/include"))
	}
	return out
}
