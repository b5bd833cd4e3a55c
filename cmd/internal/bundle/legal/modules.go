package legal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// licenceFile matches the names of files with a licence or a notice.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([.-].*)?$`)

// Modules lists what of others is in the programs for macOS: the modules and Go
// itself. Nothing is compiled. A module whose licence is not found or not known
// is an error, and so is shipped by nobody.
func Modules(root string, packages ...string) ([]Component, error) {
	cmd := exec.Command("go", append([]string{"list", "-deps", "-json=Module"}, packages...)...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOOS=darwin", "GOARCH=arm64", "CGO_ENABLED=1", "CC=true", "CXX=true")
	var failed bytes.Buffer
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, strings.TrimSpace(failed.String()))
	}
	type module struct {
		Path, Version, Dir string
		Main               bool
	}
	found := map[string]module{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct{ Module *module }
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("read what go list wrote: %w", err)
		}
		if p.Module != nil && !p.Module.Main {
			found[p.Module.Path] = *p.Module
		}
	}
	all, err := goItself(root)
	if err != nil {
		return nil, err
	}
	for _, m := range found {
		c := Component{Name: m.Path, Version: strings.TrimPrefix(m.Version, "v"), URL: "pkg:golang/" + m.Path + "@" + m.Version}
		if err := c.read(m.Dir); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b Component) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// sameLicence is a module of the Go project.
const sameLicence = "golang.org/x/sys"

// goItself is the standard library, which is a part of every program.
func goItself(root string) ([]Component, error) {
	cmd := exec.Command("go", "env", "GOROOT", "GOVERSION")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	place, version, ok := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if !ok {
		return nil, fmt.Errorf("go env said %q", out)
	}
	version, _, _ = strings.Cut(strings.TrimPrefix(version, "go"), " ")
	c := Component{Name: "std", Version: version, URL: "pkg:golang/std@" + version}
	if _, err := os.Stat(filepath.Join(place, "LICENSE")); errors.Is(err, fs.ErrNotExist) {
		// A Go that came as a wheel is without. The project's other modules are under
		// the same one, word for word.
		cmd := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", sameLicence)
		cmd.Dir = root
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("go list -m %s: %w", sameLicence, err)
		}
		place = strings.TrimSpace(string(out))
	}
	if err := c.read(place); err != nil {
		return nil, err
	}
	return []Component{c}, nil
}

// read takes the licence files of a folder.
func (c *Component) read(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.IsDir() || !licenceFile.MatchString(entry.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			return err
		}
		c.add(string(text))
	}
	if c.Licence == "" {
		return fmt.Errorf("%s %s: none of its %d licence files is known, and nothing is shipped without a licence; add its words in cmd/internal/bundle/legal", c.Name, c.Version, len(c.Texts))
	}
	return nil
}

// add takes the text of a licence file. Of several licences all are named.
func (c *Component) add(text string) {
	c.Texts = append(c.Texts, strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")))
	switch licence := Recognise(text); {
	case licence == "" || strings.Contains(c.Licence, licence):
	case c.Licence == "":
		c.Licence = licence
	default:
		c.Licence += " AND " + licence
	}
}

// MLX is MLX for macOS as the pinned wheel has it. Unpacked is the folder that
// the wheel was unpacked into, pins the list with its version and hash.
func MLX(unpacked, pins string) (Component, error) {
	text, err := os.ReadFile(pins)
	if err != nil {
		return Component{}, err
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) != 6 || f[0] != "mlx" || f[1] != "macos-arm64" {
			continue
		}
		c := Component{Name: f[2], Version: f[3], URL: "pkg:pypi/" + f[2] + "@" + f[3], SHA256: f[5]}
		folder := filepath.Join(unpacked, strings.ReplaceAll(f[2], "-", "_")+"-"+f[3]+".dist-info", "licenses")
		if err := c.read(folder); err != nil {
			return Component{}, err
		}
		return c, nil
	}
	return Component{}, errors.Join(fmt.Errorf("%s names no MLX for macOS", pins), os.ErrNotExist)
}
