package legal

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const installed = "node_modules/"

// Page lists the packages that the dashboard's page may have parts of: those of
// its lock file that are not for its development alone. They lie unpacked in the
// same folder.
func Page(folder string) ([]Component, error) {
	text, err := os.ReadFile(filepath.Join(folder, "package-lock.json"))
	if err != nil {
		return nil, err
	}
	var lock struct {
		Packages map[string]struct {
			Version                    string
			Dev, Optional, DevOptional bool
		}
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		return nil, fmt.Errorf("package-lock.json: %w", err)
	}
	var all []Component
	for _, path := range slices.Sorted(maps.Keys(lock.Packages)) {
		p := lock.Packages[path]
		at := strings.LastIndex(path, installed)
		if at < 0 || p.Dev || p.Optional || p.DevOptional {
			continue
		}
		name := path[at+len(installed):]
		c := Component{Name: name, Version: p.Version, URL: "pkg:npm/" + strings.Replace(name, "@", "%40", 1) + "@" + p.Version}
		if err := c.page(filepath.Join(folder, path)); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// page takes the licence of an unpacked package: its files, or the word of its
// package.json where it brings none.
func (c *Component) page(folder string) error {
	text, err := os.ReadFile(filepath.Join(folder, "package.json"))
	if err != nil {
		return err
	}
	var own struct{ License, Author any }
	if err := json.Unmarshal(text, &own); err != nil {
		return fmt.Errorf("%s: package.json: %w", c.Name, err)
	}
	unread := c.read(folder)
	word, _ := own.License.(string)
	if len(c.Texts) > 0 || !slices.ContainsFunc(marks, func(m mark) bool { return m.licence == word && word != "" }) {
		return unread
	}
	c.Licence = word
	c.Texts = []string{fmt.Sprintf("Under the licence %s by its package.json, author %v; the package does not include its text.", word, own.Author)}
	return nil
}
