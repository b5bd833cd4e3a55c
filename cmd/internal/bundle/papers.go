package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"

	"fulmen/cmd/internal/bundle/legal"
	"fulmen/daemon/api"
)

// papers writes the list of materials, the cask and, last, the checksums.
func (m *maker) papers() error {
	return m.files("list materials and checksums, and write the cask, in "+m.paths.Release(), func() error {
		if err := os.MkdirAll(m.paths.Release(), 0o755); err != nil {
			return err
		}
		image, err := sum(m.paths.DiskImage())
		if err != nil {
			return fmt.Errorf("%w: make dmg first", err)
		}
		parts, err := m.components()
		if err != nil {
			return err
		}
		materials, err := legal.Materials(legal.Product{Version: m.paths.Version, Namespace: "urn:fulmen:" + m.paths.Version + ":" + image, Made: m.now}, parts)
		if err != nil {
			return err
		}
		if err := os.WriteFile(m.paths.Materials(), materials, 0o644); err != nil {
			return err
		}
		if m.repository == "" {
			m.report("no cask is made: name the repository whose releases it points to with -repository OWNER/NAME")
			return m.sums()
		}
		recipe, err := m.cask(image)
		if err != nil {
			return err
		}
		if err := os.WriteFile(m.paths.Cask(), recipe, 0o644); err != nil {
			return err
		}
		return m.sums()
	})
}

var repositoryName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+$`)

// cask is the recipe for Homebrew. Its name for macOS 26 is Tahoe.
func (m *maker) cask(imageSHA256 string) ([]byte, error) {
	if !repositoryName.MatchString(m.repository) {
		return nil, fmt.Errorf("%q is not the owner/name of a repository: name the one whose releases the cask points to with -repository", m.repository)
	}
	text, err := os.ReadFile(filepath.Join(m.paths.Root, "assets/homebrew/fulmen.rb.tmpl"))
	if err != nil {
		return nil, err
	}
	t, err := template.New("cask").Option("missingkey=error").Parse(string(text))
	if err != nil {
		return nil, err
	}
	names := map[string]string{"26.0": "tahoe"}
	if names[api.MinMacOS] == "" {
		return nil, fmt.Errorf("the name of macOS %s is not known; add it in cmd/internal/bundle/papers.go", api.MinMacOS)
	}
	var b bytes.Buffer
	err = t.Execute(&b, map[string]string{
		"Version": m.paths.Version, "SHA256": imageSHA256, "Repository": m.repository, "MacOS": names[api.MinMacOS], "BundleID": api.BundleID,
		"Label": api.DaemonLabel, "Logs": api.MacLogFolder, "Crashes": filepath.Join(filepath.Dir(api.MacLogFolder), "fulmend.err"), "State": api.MacStateFolder, "Runtime": api.RuntimeFolder, "Socket": api.LaunchdSocket,
	})
	return b.Bytes(), err
}

// sums writes the checksums of what is published, as sha256sum and shasum read them.
func (m *maker) sums() error {
	var b strings.Builder
	for _, path := range []string{m.paths.DiskImage(), m.paths.Package(), m.paths.Materials(), m.paths.Cask()} {
		hash, err := sum(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s  %s\n", hash, filepath.Base(path))
	}
	return os.WriteFile(m.paths.Sums(), []byte(b.String()), 0o644)
}

// sum is the SHA-256 of a file.
func sum(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", hash.Sum(nil)), nil
}
