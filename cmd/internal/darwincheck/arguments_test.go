package main

import (
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestArguments(t *testing.T) {
	const sdk = "/r/build/darwin/sdk"
	const own = "-isystem /r/native/darwin/apple -isystem /r/cmd/internal/darwincheck/include"
	const linked = " -nostdlib -lSystem -L" + sdk + "/lib -F" + sdk + "/Frameworks"
	for _, test := range []struct{ name, language, asked, want string }{
		{"C is compiled against our own declarations", "cc", "-arch arm64 -I . -O2 -c a.c",
			"cc -target aarch64-macos.26.0 -I . -O2 -c a.c " + own},
		{"C++ is compiled as C++, with MLX for macOS", "c++", "-c -isystem /r/mlxbridge/shim/../../build/mlx/current/mlx/include a.cpp",
			"c++ -target aarch64-macos.26.0 -c -isystem /r/mlxbridge/shim/../../build/tools/mlx-metal/mlx/include a.cpp " + own},
		{"what is asked of the compiler itself", "cc", "-### -x c -",
			"cc -target aarch64-macos.26.0 -### -x c - " + own},
		{"a program is linked with each library once", "cc", "-o a go.o -framework IOKit -lresolv -framework IOKit -framework Security -lresolv",
			"cc -target aarch64-macos.26.0 -o a go.o -framework IOKit -lresolv -framework Security" + linked},
		{"a program of C++ is linked with Apple's libc++", "c++", "-o a go.o -L/r/build/mlx/current/mlx/lib -lmlx",
			"cc -target aarch64-macos.26.0 -o a go.o -L/r/build/tools/mlx-metal/mlx/lib -lmlx" + linked + " " + sdk + "/lib/libc++.tbd"},
		{"run paths stay as they are", "cc", "-o a -Wl,-rpath,/r/build/mlx/current/mlx/lib -Wl,-rpath,@executable_path/lib",
			"cc -target aarch64-macos.26.0 -o a -Wl,-rpath,/r/build/mlx/current/mlx/lib -Wl,-rpath,@executable_path/lib" + linked},
		{"one too many is refused", "cc", "-o a -Wl,-rpath,/r/lib -Wl,-rpath,@executable_path/lib -Wl,-rpath,/r/lib", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			got, err := tree{"/r"}.arguments(test.language, strings.Fields(test.asked))
			is.Equal(err != nil, test.want == "")
			is.Equal(strings.Join(got, " "), test.want)
		})
	}
}
