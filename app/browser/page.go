package browser

import (
	"bytes"
	"errors"
	"html/template"
	"os"
)

// page is a file that takes the browser on to an address: the browser is given the
// file's path, which is no secret, and the file can be read by its account alone.
type page struct{ path string }

// content leaves the file out of the browser's history.
var content = template.Must(template.New("").Parse(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<title>Fulmen</title>
<p><a href="{{.}}">Open the dashboard</a></p>
<script>location.replace({{.}})</script>
</html>
`))

// write makes a page in the home folder, under a name without a leading dot:
// browsers from a snap see neither /tmp, $XDG_RUNTIME_DIR nor hidden files, and
// those from Flatpak are handed the file, from wherever it is.
func write(address string) (page, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return page{}, err
	}
	var text bytes.Buffer
	if err := content.Execute(&text, address); err != nil {
		return page{}, err
	}
	file, err := os.CreateTemp(home, "fulmen-dashboard-*.html") // of mode 0600
	if err != nil {
		return page{}, err
	}
	p := page{path: file.Name()}
	_, err = file.Write(text.Bytes())
	if err := errors.Join(err, file.Close()); err != nil {
		p.remove()
		return page{}, err
	}
	return p, nil
}

func (p page) remove() { _ = os.Remove(p.path) } // somebody may have done it already
