package steps

import "path/filepath"

// Paths are the places of what is made, all below the folder build.
type Paths struct {
	// Root is the root of the repository.
	Root string
	// Version is the product's.
	Version string
}

// Programs is the folder of the programs for the app.
func (p Paths) Programs() string { return filepath.Join(p.Root, "build/app/programs") }

// Bundle is the app.
func (p Paths) Bundle() string { return filepath.Join(p.Root, "build/app/Fulmen.app") }

// Work is a folder for what is needed in between.
func (p Paths) Work() string { return filepath.Join(p.Root, "build/app/work") }

// Release is the folder of what is published.
func (p Paths) Release() string { return filepath.Join(p.Root, "build/release") }

// DiskImage is the app as people download it.
func (p Paths) DiskImage() string { return p.release("Fulmen-" + p.Version + ".dmg") }

// Package is the installer for Macs without a screen.
func (p Paths) Package() string { return p.release("Fulmen-" + p.Version + ".pkg") }

// Cask is the recipe for Homebrew.
func (p Paths) Cask() string { return p.release("fulmen.rb") }

// Materials is the list of what the app is made of, as SPDX.
func (p Paths) Materials() string { return p.release("Fulmen-" + p.Version + ".spdx.json") }

// Sums is the list of checksums.
func (p Paths) Sums() string { return p.release("SHA256SUMS") }

func (p Paths) release(name string) string { return filepath.Join(p.Release(), name) }

// Entitlements is the file of entitlements of a program.
func (p Paths) Entitlements(program string) string {
	return filepath.Join(p.Root, "assets/entitlements", program+".plist")
}
