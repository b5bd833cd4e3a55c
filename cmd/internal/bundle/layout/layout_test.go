package layout_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/cmd/internal/bundle/bundletest"
	"fulmen/cmd/internal/bundle/layout"
	"fulmen/cmd/internal/bundle/machofile"
	"fulmen/daemon/api"
	"fulmen/native/plist"
)

const repository = "../../../.."

func TestAssemble(t *testing.T) {
	is := is.New(t)
	bundle := bundletest.Bundle(t, repository, nil)
	var names []string
	is.NoErr(fs.WalkDir(os.DirFS(bundle), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	}))
	is.Equal(strings.Join(names, "\n"), strings.TrimSpace(`
Contents/Info.plist
Contents/Library/LaunchDaemons/org.fulmen.daemon.plist
Contents/MacOS/fulmen
Contents/MacOS/fulmen-app
Contents/MacOS/fulmen-rank
Contents/MacOS/fulmen-shim
Contents/MacOS/fulmend
Contents/PkgInfo
Contents/Resources/Fulmen.icns
Contents/Resources/Licences.txt
Contents/Resources/mlx/libjaccl.dylib
Contents/Resources/mlx/libmlx.dylib
Contents/Resources/mlx/mlx.metallib
Contents/_CodeSignature/CodeResources
`))
	content, err := os.ReadFile(filepath.Join(bundle, "Contents/MacOS/fulmen-rank"))
	is.NoErr(err)
	worker, err := machofile.Parse(content)
	is.NoErr(err)
	is.Equal(worker.RunPaths, []string{"@executable_path/../Resources/mlx"}) // and not where it was built
}

// A bundle that cannot be made whole leaves the one that was there.
func TestAssembleAllOrNothing(t *testing.T) {
	is := is.New(t)
	bundle := bundletest.Bundle(t, repository, nil)
	err := layout.Assemble(bundle, layout.Parts(layout.Sources{Repository: repository, Programs: t.TempDir(), MLX: t.TempDir()}))
	is.True(strings.Contains(err.Error(), "MacOS/fulmen-app"))
	_, err = os.Stat(filepath.Join(bundle, "Contents/MacOS/fulmend"))
	is.NoErr(err)
	_, err = os.Stat(bundle + ".new")
	is.True(os.IsNotExist(err))
}

func TestJob(t *testing.T) {
	is := is.New(t)
	text, err := os.ReadFile(filepath.Join(repository, "assets/launchd", filepath.Base(layout.LaunchdJob)))
	is.NoErr(err)
	job, err := layout.ReadJob(text)
	is.NoErr(err)
	bound := job.Constrained("ABCDE12345").Standalone("/Applications/Fulmen.app")
	is.Equal(bound["SpawnConstraint"], map[string]any{"team-identifier": "ABCDE12345", "signing-identifier": api.DaemonLabel})
	is.Equal(bound["Program"], "/Applications/Fulmen.app/Contents/MacOS/fulmend")
	is.Equal(bound["BundleProgram"], nil)
	is.Equal(job["SpawnConstraint"], nil) // the first is as it was
	written, err := bound.Text()
	is.NoErr(err)
	again, err := layout.ReadJob(written)
	is.NoErr(err)
	is.Equal(again, bound)
	_, err = layout.ReadJob([]byte("<plist><dict/></plist>"))
	is.True(err != nil)
}

// Whatever is a program or a library is signed, the bundle last; the daemon as
// what its job's launch constraint asks for.
func TestSignatures(t *testing.T) {
	is := is.New(t)
	seen := map[string]bool{}
	identifiers := map[string]bool{}
	for n, file := range layout.Signatures() {
		is.Equal(file.Path == "", n == len(layout.Signatures())-1)
		is.True(!identifiers[file.Identifier])
		identifiers[file.Identifier] = true
		seen[filepath.Base(file.Path)] = true
	}
	for _, name := range append(layout.Programs()[1:], "libmlx.dylib", "libjaccl.dylib") {
		is.True(seen[name])
	}
}

// Entitlements are few, and none that lets foreign libraries into what is root.
func TestEntitlements(t *testing.T) {
	is := is.New(t)
	files, err := filepath.Glob(filepath.Join(repository, "assets/entitlements/*.plist"))
	is.NoErr(err)
	is.Equal(len(files), len(layout.Programs()))
	for _, name := range layout.Programs() {
		text, err := os.ReadFile(filepath.Join(repository, "assets/entitlements", name+".plist"))
		is.NoErr(err)
		v, err := plist.Parse(text)
		is.NoErr(err)
		is.Equal(v, map[string]any{}) // whoever adds one adds it here, and its reason there
		is.True(strings.Contains(string(text), "<!--\nThe "))
	}
}
