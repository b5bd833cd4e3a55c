package mac

import (
	"path/filepath"
	"strings"

	"fulmen/daemon/api"
)

// applications is the folder from which macOS runs what an app brings along.
const applications = "/Applications"

// bundle is where the app lies.
type bundle struct {
	// Path is the .app folder; empty where the program is in none.
	Path string
}

// bundleOf is the bundle that a program lies in.
func bundleOf(executable string) bundle {
	contents := filepath.Dir(filepath.Dir(executable))
	app := filepath.Dir(contents)
	if filepath.Base(filepath.Dir(executable)) != "MacOS" || filepath.Base(contents) != "Contents" || filepath.Ext(app) != ".app" {
		return bundle{}
	}
	return bundle{app}
}

// isInstalled reports whether it lies where it may stay. An app that was opened
// where it was downloaded runs from a folder that macOS makes up each time.
func (b bundle) isInstalled() bool { return strings.HasPrefix(b.Path, applications+"/") }

// installed is where it belongs.
func (b bundle) installed() bundle { return bundle{filepath.Join(applications, api.BundleName)} }

// tool is the command line tool that it brings along.
func (b bundle) tool() string { return filepath.Join(b.Path, "Contents", "MacOS", "fulmen") }
