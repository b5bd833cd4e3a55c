// Package assets holds what programs carry inside them: the dashboard as it is
// served, the pictures of the menu bar and of the app, and what launchd and systemd
// start the daemon with.
//
// The dashboard is what `make build` makes of its sources; in a build without
// Node there is none, and the daemon shows a plain page in its place.
//
// The pictures are made from shapes by cmd/internal/icons, as SVG for people who
// draw and as PNG for screens; the menu bar's are black on nothing, so that macOS
// can turn them white, and differ in shape, not by colour. They are made again by
//
//	go run ./cmd/internal/icons assets/icons
//
// and not by go generate: what a picture's file holds depends on the version of
// Go, what it shows does not.
package assets

import (
	"embed"
	"io/fs"
)

//go:embed all:dashboard/dist
var dashboard embed.FS

//go:embed icons/*.png
var icons embed.FS

//go:embed launchd/*.plist systemd
var services embed.FS

// Dashboard are index.html, the folder assets, and beside each file that shrinks
// the same under gzip with .gz behind its name; nil where none was built in.
func Dashboard() fs.FS {
	files, err := fs.Sub(dashboard, "dashboard/dist")
	if err != nil {
		return nil
	}
	if _, err := fs.Stat(files, "index.html"); err != nil {
		return nil
	}
	return files
}

// MenuIcon is the picture of a state of the menu bar's item (normal, working,
// warning, off) as a PNG of 44 pixels; nil where there is none.
func MenuIcon(state string) []byte {
	picture, err := icons.ReadFile("icons/menu-" + state + ".png")
	if err != nil {
		return nil
	}
	return picture
}

// Service is a file with which launchd or systemd start the daemon, such as
// systemd/fulmend.service.
func Service(name string) ([]byte, error) { return services.ReadFile(name) }
