package browser

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html/template"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// Open has the desktop open an address of http or https. The caller runs done once
// the browser has it, or no longer needs it: on Linux a file is there until then.
func Open(ctx context.Context, address string) (done func(), err error) {
	if !strings.HasPrefix(address, "http://") && !strings.HasPrefix(address, "https://") {
		return nil, fmt.Errorf("%s is not an address that a browser opens", address)
	}
	if runtime.GOOS == "darwin" {
		return func() {}, run(ctx, appleScript(address), "/usr/bin/osascript", "-")
	}
	page, err := write(address)
	if err != nil {
		return nil, err
	}
	if err := run(ctx, "", "xdg-open", page.path); err != nil {
		page.remove()
		return nil, err
	}
	return page.remove, nil
}

// appleScript opens an address in the default browser. The program reads it from
// its standard input, and the address reaches the browser as an Apple event.
func appleScript(address string) string {
	return `open location "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(address) + `"` + "\n"
}

func run(ctx context.Context, input, program string, args ...string) error {
	c := exec.CommandContext(ctx, program, args...)
	c.Stdin = strings.NewReader(input)
	if err := c.Run(); err != nil {
		return fmt.Errorf("the browser cannot be opened: %s: %w", program, err)
	}
	return nil
}

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
