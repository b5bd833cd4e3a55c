package bundletest

import (
	"os"
	"path/filepath"
	"testing"

	"fulmen/app/mac/goflags"
	"fulmen/cmd/internal/bundle/layout"
)

// system is what every program loads.
const system = "/usr/lib/libSystem.B.dylib"

// Files are the small programs and libraries of a bundle, by their names: what
// they load is what real ones do. The worker still looks into the folder that it
// was built in, as it does before the app is put together.
func Files() map[string]Image {
	return map[string]Image{
		"fulmen-app":  {Libraries: []string{system}, Text: "app", GoFlag: goflags.Flag()},
		"fulmend":     {Libraries: []string{system, "/System/Library/Frameworks/IOKit.framework/Versions/A/IOKit"}, Text: "daemon"},
		"fulmen":      {Libraries: []string{system}, Text: "command line"},
		"fulmen-shim": {Libraries: []string{system}, Text: "shim"},
		"fulmen-rank": {
			Libraries: []string{system, "@rpath/libmlx.dylib"}, RunPaths: []string{"/src/build/mlx/lib", "@executable_path/../Resources/mlx"}, Text: "worker",
		},
		"libmlx.dylib": {
			Name: "@rpath/libmlx.dylib", Libraries: []string{"@rpath/libjaccl.dylib", system}, Weak: []string{"/usr/lib/libobjc.A.dylib"}, Text: "mlx",
		},
		"libjaccl.dylib": {Name: "@rpath/libjaccl.dylib", Libraries: []string{system}, Text: "jaccl"},
	}
}

// Bundle puts a bundle together from small files, signed ad hoc, in a temporary
// folder; change changes the files before. Repository is the way from the test
// to the root of the repository.
func Bundle(t *testing.T, repository string, change func(files map[string]Image)) string {
	t.Helper()
	folder := t.TempDir()
	files := Files()
	if change != nil {
		change(files)
	}
	for name, image := range files {
		if err := os.WriteFile(filepath.Join(folder, name), image.Bytes(), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, layout.Kernels), []byte("kernels"), 0o644); err != nil {
		t.Fatal(err)
	}
	bundle := filepath.Join(folder, "Fulmen.app")
	err := layout.Assemble(bundle, layout.Parts(layout.Sources{Repository: repository, Programs: folder, MLX: folder, Licences: []byte("licences\n")}))
	if err == nil {
		err = Sign(bundle)
	}
	if err != nil {
		t.Fatal(err)
	}
	return bundle
}
