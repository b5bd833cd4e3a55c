// Package dashboard holds the dashboard as it is served: what `make build` makes
// of this folder's sources, embedded. In a build without Node it holds nothing,
// and the daemon shows a plain page in its place.
package dashboard

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var built embed.FS

// Files are index.html, the folder assets, and beside each file that shrinks the
// same under gzip with .gz behind its name; nil where none was built in.
func Files() fs.FS {
	files, err := fs.Sub(built, "dist")
	if err != nil {
		return nil
	}
	if _, err := fs.Stat(files, "index.html"); err != nil {
		return nil
	}
	return files
}
