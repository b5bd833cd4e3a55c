package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"fulmen/cmd/internal/bundle/inspect"
	"fulmen/cmd/internal/bundle/layout"
	"fulmen/cmd/internal/bundle/steps"
	"fulmen/daemon/api"
)

// image makes the disk image.
func (m *maker) image() error {
	if err := m.ready(steps.GoalImage); err != nil {
		return err
	}
	folder := steps.ImageFolder(m.paths)
	err := m.files("lay out the disk image in "+folder, func() error {
		if err := m.fresh(folder); err != nil {
			return err
		}
		if err := os.Symlink("/Applications", filepath.Join(folder, "Applications")); err != nil {
			return err
		}
		return copyTree(m.paths.Bundle(), filepath.Join(folder, api.BundleName))
	})
	if err != nil {
		return err
	}
	return m.all(steps.DiskImage(m.paths, m.identity()))
}

// pack makes the package.
func (m *maker) pack() error {
	if err := m.ready(steps.GoalPackage); err != nil {
		return err
	}
	root := steps.PackageRoot(m.paths)
	if err := m.files("lay out what the package installs in "+root, func() error { return m.lay(root) }); err != nil {
		return err
	}
	return m.all(steps.Package(m.paths, m.machine.Getenv(steps.InstallerIdentity)))
}

// lay puts into a folder what the package puts on a Mac: the app, and beside it
// the daemon's job with the program's whole path.
func (m *maker) lay(root string) error {
	if err := m.fresh(root); err != nil {
		return err
	}
	app, jobs := filepath.Join(root, "Applications"), filepath.Join(root, "Library/LaunchDaemons")
	for _, folder := range []string{app, jobs} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
	}
	if err := copyTree(m.paths.Bundle(), filepath.Join(app, api.BundleName)); err != nil {
		return err
	}
	installed := filepath.Join("/Applications", api.BundleName)
	job := filepath.Join(jobs, filepath.Base(layout.LaunchdJob))
	err := m.job(filepath.Join(m.paths.Bundle(), "Contents", layout.LaunchdJob), job, func(j layout.Job) layout.Job { return j.Standalone(installed) })
	if err != nil {
		return err
	}
	text, err := os.ReadFile(job)
	if err != nil {
		return err
	}
	if faults := inspect.Job(text, "Program", filepath.Join(installed, "Contents/MacOS/fulmend")); len(faults) > 0 {
		return fmt.Errorf("the daemon's job for the package: %s", strings.Join(faults, "; "))
	}
	components, err := steps.Components()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(m.paths.Work(), "components.plist"), components, 0o644); err != nil {
		return err
	}
	distribution, err := os.ReadFile(filepath.Join(m.paths.Root, "assets/pkg/distribution.xml"))
	if err != nil {
		return err
	}
	filled := strings.ReplaceAll(string(distribution), "VERSION", m.paths.Version)
	return os.WriteFile(filepath.Join(m.paths.Work(), "distribution.xml"), []byte(filled), 0o644)
}

// fresh makes a folder anew, and the folder of what is published.
func (m *maker) fresh(folder string) error {
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := os.MkdirAll(m.paths.Release(), 0o755); err != nil {
		return err
	}
	return os.MkdirAll(folder, 0o755)
}

// copyTree copies a bundle, which has plain files and folders only. A signature
// lies in the files themselves, so nothing beside content and mode matters.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, name), 0o755)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return layout.Copy(path, filepath.Join(to, name), info.Mode().Perm())
	})
}
