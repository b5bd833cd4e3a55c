package layout

import "fulmen/daemon/api"

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
		{"MacOS/fulmen", "org.fulmen.cli", "fulmen"},
		{"MacOS/fulmend", api.DaemonLabel, "fulmend"},
		{"", api.BundleID, api.BundleExecutable},
	}
}
