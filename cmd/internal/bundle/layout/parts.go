package layout

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"fulmen/cmd/internal/bundle/machofile"
	"fulmen/daemon/api"
)

// Programs are the programs in Contents/MacOS, the one that is started by a
// double click first.
func Programs() []string {
	return []string{api.BundleExecutable, "fulmend", "fulmen", "fulmen-shim", "fulmen-rank"}
}

// RunPath is where a program looks for libraries on a Mac, beside the build tree;
// empty: nowhere. The Makefile says it there: Go takes no @ in a #cgo line.
func RunPath(program string) string {
	if program == "fulmen-rank" {
		return "@executable_path/../Resources/" + api.MLXFolder
	}
	return ""
}

// Linking gives the flags for Go's linker by which a program is linked on a Mac. Go's
// own linker alone would say that the program is for macOS 12.
func Linking(program string) string {
	if path := RunPath(program); path != "" {
		return `-linkmode=external -extldflags "-Wl,-rpath,` + path + `"`
	}
	return "-linkmode=external"
}

// MLX are the files of MLX in the bundle. The kernels lie beside the library,
// which looks for them there first.
func MLX() []string { return []string{"libjaccl.dylib", "libmlx.dylib", Kernels} }

// Kernels is the file of MLX's compiled GPU kernels, which is data.
const Kernels = "mlx.metallib"

// LaunchdJob is the path of the daemon's job, below Contents.
const LaunchdJob = "Library/LaunchDaemons/" + api.DaemonLabel + ".plist"

// Icon is the name of the icon's file, without its ending, as in CFBundleIconFile.
const Icon = "Fulmen"

// Licences is the file with the licences of all that is shipped, below Contents.
const Licences = "Resources/Licences.txt"

// Sources are the places that the parts come from.
type Sources struct {
	// Repository is the root of this repository.
	Repository string
	// Programs is the folder of the programs.
	Programs string
	// MLX is the folder of MLX's libraries for macOS.
	MLX string
	// Licences is the text of all licences.
	Licences []byte
}

// Part is one file of the bundle.
type Part struct {
	// Path is where it lies below Contents.
	Path string
	// Mode is its permissions.
	Mode os.FileMode
	// From is the file that it is a copy of; empty where Content gives it.
	From string
	// Content makes it; nil where it is a copy.
	Content func() ([]byte, error)
}

// Parts are all files of the bundle before it is signed.
func Parts(s Sources) []Part {
	parts := []Part{
		{Path: "Info.plist", From: filepath.Join(s.Repository, "Info.plist")},
		{Path: "PkgInfo", Content: text("APPL????")},
		{Path: LaunchdJob, From: filepath.Join(s.Repository, "assets/launchd", filepath.Base(LaunchdJob))},
		{Path: "Resources/" + Icon + ".icns", Content: func() ([]byte, error) {
			return MakeIcon(func(side int) ([]byte, error) {
				return os.ReadFile(filepath.Join(s.Repository, "assets/icons", fmt.Sprintf("app-%d.png", side)))
			})
		}},
		{Path: Licences, Content: text(string(s.Licences))},
	}
	for _, name := range Programs() {
		parts = append(parts, Part{Path: "MacOS/" + name, Mode: 0o755, Content: func() ([]byte, error) {
			return portable(filepath.Join(s.Programs, name))
		}})
	}
	for _, name := range MLX() {
		parts = append(parts, Part{Path: "Resources/" + api.MLXFolder + "/" + name, From: filepath.Join(s.MLX, name)})
	}
	for n := range parts {
		if parts[n].Mode == 0 {
			parts[n].Mode = 0o644
		}
	}
	return parts
}

func text(s string) func() ([]byte, error) {
	return func() ([]byte, error) { return []byte(s), nil }
}

// portable is a program without run paths into the folder that it was built in:
// on another Mac somebody else could own that folder, and put a library there.
func portable(path string) ([]byte, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	file, err := machofile.Parse(content)
	if err == nil {
		_, err = file.KeepRunPaths(func(path string) bool { return strings.HasPrefix(path, "@") })
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return file.Bytes(), nil
}

// Signed is a file of the bundle that is signed by itself.
type Signed struct {
	// Path is where it lies below Contents; empty for the bundle as a whole.
	Path string
	// Identifier is its signing identifier, which never changes between releases:
	// the launch constraint, consent to privacy and the keychain go by it.
	Identifier string
	// Entitlements is the name of the file in assets/entitlements, without its
	// ending; empty for libraries, which have none.
	Entitlements string
}

// Signatures are what is signed, in the order of signing: what is inside comes
// before what is around it. The program of the app is signed with the bundle.
func Signatures() []Signed {
	mlx := "Resources/" + api.MLXFolder + "/"
	return []Signed{
		{mlx + "libjaccl.dylib", "org.fulmen.mlx.libjaccl", ""},
		{mlx + "libmlx.dylib", "org.fulmen.mlx.libmlx", ""},
		{"MacOS/fulmen-rank", "org.fulmen.rank", "fulmen-rank"},
		{"MacOS/fulmen-shim", "org.fulmen.shim", "fulmen-shim"},
		{"MacOS/fulmen", "org.fulmen.cli", "fulmen"},
		{"MacOS/fulmend", api.DaemonLabel, "fulmend"},
		{"", api.BundleID, api.BundleExecutable},
	}
}
