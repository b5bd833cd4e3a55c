// Package icons has the pictures of the menu bar and of the app. They are made
// from shapes by cmd/internal/icons, as SVG for people who draw and as PNG for
// screens; the menu bar's are black on nothing, so that macOS can turn them
// white, and differ in shape, not by colour. They are made again by
//
//	go run ./cmd/internal/icons assets/icons
//
// and not by go generate: what a picture's file holds depends on the version of
// Go, what it shows does not.
package icons

import "embed"

//go:embed *.png
var files embed.FS

// Menu is the picture of a state of the menu bar's item (normal, working,
// warning, off) as a PNG of 44 pixels; nil where there is none.
func Menu(state string) []byte {
	picture, err := files.ReadFile("menu-" + state + ".png")
	if err != nil {
		return nil
	}
	return picture
}
