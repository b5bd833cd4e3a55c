package darwincheck

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// TestCFiles compiles every C file that a Mac would, against our declarations.
func TestCFiles(t *testing.T) {
	is := is.New(t)
	chain := toolchain(t)
	files, err := chain.CFiles()
	is.NoErr(err)
	here, err := filepath.Glob(filepath.Join(repository, "native/darwin/*.c"))
	is.NoErr(err)
	for _, file := range here {
		file, err := filepath.Abs(file)
		is.NoErr(err)
		if _, ok := files[file]; !ok {
			t.Errorf("%s is not in the build for macOS, so nobody compiles it", file)
		}
	}
	if err := chain.compileAll(files); err != nil {
		t.Error(err)
	}
}

// TestWrongCIsFound tries the compiler on mistakes.
func TestWrongCIsFound(t *testing.T) {
	chain := toolchain(t)
	for _, test := range []struct{ name, text, want string }{
		{"all is well", "#include <mach/mach_time.h>\nunsigned long long now(void);\nunsigned long long now(void) { return mach_continuous_time(); }\n", ""},
		{"a function of the system with an argument too many", "#include <mach/mach_time.h>\nunsigned long long now(void);\nunsigned long long now(void) { return mach_continuous_time(1); }\n", "too many arguments to function call"},
		{"a framework's function with an argument too few", "#include <CoreFoundation/CoreFoundation.h>\nvoid end(void);\nvoid end(void) { CFRelease(); }\n", "too few arguments to function call"},
		{"a function that nobody declared", "#include <CoreFoundation/CoreFoundation.h>\nvoid end(void);\nvoid end(void) { CFReleaze(0); }\n", "undeclared function 'CFReleaze'"},
		{"an unused argument", "int same(int a, int b);\nint same(int a, int b) { return a; }\n", "unused parameter 'b'"},
		{"another header of the system", "#include <linux/types.h>\n", "'linux/types.h' file not found"},
	} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			file := filepath.Join(t.TempDir(), "try.c")
			is.NoErr(os.WriteFile(file, []byte(test.text), 0o644))
			err := chain.compileAll(map[string][]string{file: nil})
			if test.want == "" {
				is.NoErr(err)
				return
			}
			is.True(err != nil)
			is.True(strings.Contains(err.Error(), test.want))
		})
	}
}
