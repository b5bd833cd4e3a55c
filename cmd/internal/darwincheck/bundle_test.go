package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/app/mac/goflags"
	"fulmen/cmd/internal/bundle/bundletest"
	"fulmen/cmd/internal/bundle/inspect"
	"fulmen/cmd/internal/bundle/layout"
	"fulmen/cmd/internal/bundle/machofile"
	"fulmen/daemon/api"
)

// checkBundle puts the app together from the programs that were linked here and
// MLX's own libraries for macOS, signs it ad hoc, and looks at it. Two files are
// stand-ins: the app's own program, which needs Apple's headers for Objective-C,
// and MLX's compiled kernels, 200 MB that nothing here reads.
func checkBundle(t *testing.T, chain *Toolchain) {
	is := is.New(t)
	folder := t.TempDir()
	for _, p := range programs() {
		is.NoErr(layout.Copy(chain.built(p.Name), filepath.Join(folder, p.Name), 0o755))
	}
	is.NoErr(chain.standIn(filepath.Join(folder, api.BundleExecutable)))
	for _, name := range layout.MLX() {
		to := filepath.Join(folder, name)
		if name == layout.Kernels {
			is.NoErr(os.WriteFile(to, []byte("a stand-in\n"), 0o644))
			continue
		}
		is.NoErr(layout.Copy(filepath.Join(chain.root, "build/tools/mlx-metal/mlx/lib", name), to, 0o644))
	}
	// What Apple's linker and zig's have signed holds in our eyes, so that these can be trusted with what we sign.
	for name, identifier := range map[string]string{"libmlx.dylib": "libmlx.dylib", "libjaccl.dylib": "libjaccl.dylib", "fulmend": "a.out"} {
		content, err := os.ReadFile(filepath.Join(folder, name))
		is.NoErr(err)
		file, err := machofile.Parse(content)
		is.NoErr(err)
		signature, err := file.Signature()
		is.NoErr(err)
		is.Equal(signature.Identifier, identifier)
		is.True(signature.AdHoc)
	}
	bundle := filepath.Join(folder, api.BundleName)
	is.NoErr(layout.Assemble(bundle, layout.Parts(layout.Sources{Repository: chain.root, Programs: folder, MLX: folder, Licences: []byte("a stand-in\n")})))
	is.NoErr(bundletest.Sign(bundle))
	for _, fault := range inspect.Faults(bundle) {
		t.Error(fault)
	}
}

// standIn links a program for macOS that does nothing, and says that Go built it
// as the app is built.
func (t *Toolchain) standIn(out string) error {
	source := out + ".c"
	var info strings.Builder
	for _, b := range bundletest.BuildInfo(goflags.Flag()) {
		fmt.Fprintf(&info, "%d,", b)
	}
	text := `__attribute__((section("__DATA,__go_buildinfo"), used, aligned(16))) static unsigned char info[] = {` + info.String() + "};\nint main(void) { return 0; }\n"
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		return err
	}
	cache := filepath.Join(t.root, "build/cache/zig")
	zig := &Toolchain{root: t.root, env: []string{"ZIG_GLOBAL_CACHE_DIR=" + cache, "ZIG_LOCAL_CACHE_DIR=" + cache}}
	_, err := zig.command(filepath.Join(t.root, "build/tools/zig/ziglang/zig"), "cc", "-nostdlib", "-lSystem", "-target", "aarch64-macos."+minimumSystem, "-o", out, source)
	return err
}
