// Package fulmen holds what all programs of the product share: its version,
// which stands in the bundle's Info.plist and nowhere else.
package fulmen

import (
	_ "embed"
	"strings"
)

//go:embed Info.plist
var infoPlist string

// Version is the version of Fulmen, such as 0.1.0, from the key
// CFBundleShortVersionString of Info.plist. Programs of one build agree on it;
// what they speak to each other has numbers of its own.
func Version() string {
	_, rest, _ := strings.Cut(infoPlist, "<key>CFBundleShortVersionString</key>")
	_, rest, _ = strings.Cut(rest, "<string>")
	version, _, _ := strings.Cut(rest, "</string>")
	return version
}
